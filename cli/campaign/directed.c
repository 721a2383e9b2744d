/* Profile runs and directed runs: see directed.h. */
#include "directed.h"
#include "campaign.h"
#include "code_files.h"
#include "directed_state.h"
#include "store.h"
#include <cli/base/cli.h>
#include <cli/binary/elf_facts.h>
#include <cli/trace/predict.h>
#include <errno.h>
#include <stdlib.h>
#include <strategies/strategies.h>
#include <string.h>

bool pct_directed_may(const struct pct_campaign *c)
{
    return c->strategy == &pct_strategy_maple && !c->config.list[0];
}

int pct_directed_begin(struct pct_campaign *c)
{
    const bool part = pct_directed_may_be_part(c), directs = part || pct_directed_may(c);
    if (part ? false : directs ? c->runs == 1 && !c->kept : !c->kept || !c->launch.sites)
        return 0;
    c->directed = calloc(1, sizeof *c->directed);
    if (!c->directed)
        return pct_cli_no_memory("");
    c->directed->directs = directs;
    c->directed->part = part;
    c->directed->sets.places.by_instruction = true;
    pct_further_begin(c->directed);
    c->launch.sites = part || c->launch.sites ? c->launch.sites : "calls";
    return 0;
}

int pct_directed_next(struct pct_campaign *c, uint64_t index, struct pct_run_spec *spec)
{
    struct pct_directed *d = c->directed;
    if (!d || !d->directs)
        return PCT_RUNS_ON;
    if (d->part)
        return pct_directed_part_next(c, index, spec);
    if (d->taken < pct_directed_known_by(d, index))
        return PCT_RUNS_WAIT;
    return pct_directed_choose(d, index, false, &spec->config) ? PCT_RUNS_ON : pct_cli_no_memory("");
}

/* --- What came of it ---------------------------------------------------------------------------------------------- */

/* Places that are not known cannot be waited for: code of a file that is not mapped any more, or of none. What is made
 * there may come in between others all the same, and take their locks. */
static void forget_unknown(const struct pct_directed *d, struct pct_access *accesses, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!d->sets.places.item[accesses[i].place - 1]->code)
            accesses[i].place = 0;
}

static bool has_outside(const struct pct_trace *trace)
{
    uint64_t i = 0;
    while (i < trace->count && PCT_RECORD_OP(trace->records[i]) != PCT_OP_OUTSIDE)
        i++;
    return i < trace->count;
}

static int look_at(struct pct_directed *d, const struct pct_trace *trace, uint64_t run)
{
    struct pct_access *accesses;
    struct pct_orderings orderings = { .threads = 0 };
    size_t count;
    int failed = pct_accesses_read(&d->sets.places, trace, &accesses, &count);
    if (!failed)
        forget_unknown(d, accesses, count);
    d->shared += count;
    if (!d->outside && has_outside(trace))
        d->outside = run;
    if (!failed)
        failed = pct_iroots_add(&d->sets.exposed, d->directs ? &d->sets.combined : NULL, accesses, count,
                                PCT_DIRECTED_WINDOW, run);
    if (!failed)
        failed = pct_orderings_read(&orderings, trace, accesses, count);
    if (!failed)
        failed = pct_predict_ordered(&d->sets.predicted, &orderings, trace, accesses, count, PCT_DIRECTED_WINDOW, run);
    if (!failed && d->directs && pct_directed_is_profiled(d, run - 1))
        failed = pct_further_guess(d, &orderings, accesses, count, run, !pct_directed_is_profiled(d, run - 2));
    pct_orderings_free(&orderings);
    free(accesses);
    return failed == -ENODATA ? 0 : failed; /* a run that was killed tells nothing of its places */
}

void pct_directed_count_try(struct pct_directed *d, uint64_t index)
{
    const struct pct_directed_run *run = &d->run[index];
    if (pct_directed_is_profile_run(d, index))
        return;
    if (run->further)
        d->further[run->forces].tried++;
    else
        d->candidate[run->forces].tried++;
}

int pct_directed_take(struct pct_campaign *c, const struct pct_result *result)
{
    struct pct_directed *d = c->directed;
    if (!d)
        return 0;
    const uint64_t run = ++d->taken;
    bool looks = !result->unrecorded && (!d->directs || d->run[run - 1].looked);
    if (d->part && looks)
        looks = pct_directed_part_looks(d, run, pct_trace_steps(&result->trace));
    d->sets.predicted.unfollowed = d->part && pct_directed_is_profile_run(d, run - 1);
    if (!pct_directed_make_room(d, run) || (looks && look_at(d, &result->trace, run)))
        return pct_cli_no_memory("");
    d->upto[run] = d->sets.predicted.count;
    if (d->directs)
        pct_directed_count_try(d, run - 1);
    return pct_directed_make_room(d, run) ? 0 : pct_cli_no_memory("");
}

/* This many runs were made, and what they have predicted is in the set: by how many of them each was. */
static bool count_predicted(struct pct_directed *d, uint64_t runs)
{
    if (!pct_directed_make_room(d, runs))
        return false;
    for (uint64_t run = 1, i = 0; run <= runs; run++) {
        while (i < d->sets.predicted.count && d->sets.predicted.item[i]->first <= run)
            i++;
        d->upto[run] = i;
    }
    d->taken = runs;
    return true;
}

/* The run of this number was what it is decided to be once more. */
static int replay_run(struct pct_directed *d, uint64_t index, struct pct_config *config)
{
    if (!pct_directed_choose(d, index, false, config))
        return -ENOMEM;
    pct_directed_count_try(d, index);
    return 0;
}

static int replay(struct pct_directed *d, const struct pct_campaign *c)
{
    int failed = count_predicted(d, c->resumed) ? 0 : -ENOMEM;
    for (uint64_t index = 0; d->directs && !d->part && index < c->resumed && !failed; index++) {
        struct pct_config config = c->config;
        config.run.seed = pct_campaign_seed(c, index);
        failed = replay_run(d, index, &config);
    }
    return failed;
}

struct replay {
    struct pct_directed *d;
    uint64_t index;
    struct pct_config config;
};

/* What is drawn, such as which iRoot is forced once more, is by the seed: also of a campaign that does not go on. */
static int replay_stored(void *data, const struct pct_store_run *run)
{
    struct replay *r = data;
    r->config.run = (struct pct_run){ .seed = run->seed };
    r->config.list[0] = 0;
    return replay_run(r->d, r->index++, &r->config);
}

static bool is_full(const struct pct_directed *d)
{
    return d->sets.exposed.full || d->sets.predicted.full;
}

bool pct_directed_is_saturated(const struct pct_campaign *c)
{
    struct pct_directed *d = c->directed;
    if (!c->until_saturated || is_full(d))
        return false;
    if (d->taken - pct_iroots_newest(&d->sets.exposed) < c->until_saturated)
        return false;
    bool left = false;
    for (size_t i = 0; i < d->sets.predicted.count && !left; i++)
        left = pct_directed_is_left(d, i);
    return !left;
}

/* --- In the campaign file ----------------------------------------------------------------------------------------- */

int pct_directed_save(struct pct_campaign *c, struct pct_store *store)
{
    struct pct_directed *d = c->directed;
    if (!d)
        return 0;
    if (!d->sets.files)
        d->sets.files = pct_code_files_new(c->launch.program);
    int failed = d->sets.files ? pct_iroot_sets_save(&d->sets, store) : -ENOMEM;
    if (failed || !d->outside || d->outside_saved)
        return failed;
    char run[24];
    snprintf(run, sizeof run, "%llu", (unsigned long long)d->outside);
    d->outside_saved = true;
    return pct_store_set_fact(store, "outside", run);
}

/* The file of this name may be of another version of pct, which has decided its runs otherwise. */
static void check_version(struct pct_campaign *c, struct pct_store *store, const char *path)
{
    const bool part = pct_directed_is_part(c);
    const uint64_t version = pct_store_number(store, part ? "directed" : "tries");
    if (!c->directed || !c->directed->directs || version == (part ? PCT_DIRECTED_PART : PCT_DIRECTED_WHOLE))
        return;
    if (part) {
        if (version && c->resumed)
            pct_cli_say("%s: another version of pct has begun it, so that no further run is directed; --fresh begins "
                        "anew",
                        path);
        pct_directed_free(c); /* or it was merged */
    } else if (c->resumed) {
        pct_cli_say("%s: another version of pct has begun it: what its runs have tried is known in part, so that some "
                    "iRoots are tried less than %d times; to begin anew with what it knows: --fresh --memo=FILE",
                    path, PCT_DIRECTED_TRIES);
    }
}

static int set_number(struct pct_store *store, const char *fact, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    return pct_store_set_fact(store, fact, text);
}

int pct_directed_load(struct pct_campaign *c, struct pct_store *store, const char *path)
{
    pct_directed_settle(c);
    check_version(c, store, path);
    int failed = c->directed ? pct_store_begin_iroots(store) : 0;
    if (failed || !c->directed)
        return failed;
    if (!c->resumed)
        failed = set_number(store, "idioms", PCT_IDIOMS);
    if (!failed && !c->resumed && c->directed->directs && !c->directed->part)
        failed = set_number(store, "tries", PCT_DIRECTED_WHOLE);
    if (failed)
        return failed;
    failed = pct_iroot_sets_load(&c->directed->sets, store, c->resumed);
    const uint64_t outside = failed ? 0 : pct_store_number(store, "outside");
    if (outside <= c->resumed)
        c->directed->outside = outside;
    c->directed->outside_saved = c->directed->outside;
    if (!failed)
        failed = pct_memo_save(&c->directed->memo, store);
    if (!failed)
        failed = pct_memo_load(&c->directed->memo, store);
    if (!failed)
        failed = replay(c->directed, c);
    if (!failed && c->directed->part)
        failed = pct_directed_part_replay(c->directed, store);
    if (failed == -EINVAL)
        return pct_cli_usage("%s: the file is damaged (its iRoots contradict each other); it was left as it is; begin "
                             "anew with another --db, or move it away",
                             path);
    return failed;
}

int pct_directed_read(struct pct_directed *d, struct pct_store *store, uint64_t runs)
{
    static struct replay r; /* large */
    int failed = pct_iroot_sets_load(&d->sets, store, runs);
    if (!failed)
        failed = pct_memo_load(&d->memo, store);
    d->part = pct_store_number(store, "directed") == PCT_DIRECTED_PART;
    /* With an iRoot of its own, none was tried; nor is it known what another version has. */
    const bool whole = pct_store_number(store, "tries") == PCT_DIRECTED_WHOLE;
    d->directs = d->part || (whole && pct_store_is_directed(store) && pct_store_number(store, "shard"));
    if (!failed && d->directs)
        failed = count_predicted(d, runs) ? 0 : -ENOMEM;
    if (failed || !d->directs)
        return failed;
    if (d->part)
        return pct_directed_part_replay(d, store);
    r = (struct replay){ .d = d };
    return pct_store_each_run(store, replay_stored, &r);
}

/* Of a campaign that is directed in part: at how many patterns, and what came of it. */
static void say_part(const struct pct_directed *d)
{
    size_t runs = 0, patterns = 0, exposed = 0;
    for (size_t i = 0; i < d->sets.predicted.count; i++) {
        runs += d->candidate[i].tried;
        patterns += d->candidate[i].tried > 0;
        exposed += d->candidate[i].tried && pct_iroots_find_either(&d->sets.exposed, d->sets.predicted.item[i]);
    }
    for (size_t i = 0; i < d->sets.guessed.count; i++) {
        runs += d->further[i].tried;
        patterns += d->further[i].tried > 0;
        exposed += d->further[i].tried && pct_further_is_exposed(d, i);
    }
    if (runs)
        pct_cli_say("%zu run%s directed at %zu pattern%s of accesses, of which %zu %s exposed", runs,
                    runs == 1 ? " was" : "s were", patterns, patterns == 1 ? "" : "s", exposed,
                    exposed == 1 ? "was" : "were");
}

void pct_directed_say_unshared(const struct pct_campaign *c)
{
    const bool tells = c->config.memory >= PCT_PATCH_ALL || pct_elf_tells(c->launch.program);
    const char *advice = c->max_threads < 2 ? "try a test that has several threads"
                         : tells            ? "try a test whose threads share some"
                         : c->config.memory == PCT_PATCH_GLOBALS
                             ? "build the program with pct-cc, or say --memory=all"
                             : "build the program with pct-cc, or say --memory=globals";
    pct_cli_say("no run used memory or locks that threads can share, as far as pct sees: %s", advice);
}

void pct_directed_say(const struct pct_campaign *c)
{
    const struct pct_directed *d = c->directed;
    size_t both = 0, failed = 0, directed = 0, known = 0;
    if (!d || !d->taken)
        return;
    if (d->part) {
        say_part(d);
        return;
    }
    for (size_t i = 0; i < d->sets.predicted.count; i++) {
        bool exposed = pct_iroots_find_either(&d->sets.exposed, d->sets.predicted.item[i]);
        both += exposed;
        failed += !exposed && d->candidate[i].tried >= PCT_DIRECTED_TRIES;
        directed += d->candidate[i].tried;
        known += !exposed && d->candidate[i].state == PCT_CANDIDATE_KNOWN;
    }
    for (size_t i = 0; i < d->sets.guessed.count; i++)
        directed += d->further[i].tried;
    if (d->directs)
        pct_cli_say(
            "%llu profile runs, %zu directed ones; of %zu iRoots that were predicted, %zu were exposed, %zu were "
            "not in %d tries each",
            (unsigned long long)d->taken - directed, directed, d->sets.predicted.count, both, failed,
            PCT_DIRECTED_TRIES);
    pct_further_say(d);
    if (known)
        pct_cli_say("%zu of these are known by --memo, and were not tried", known);
    if (c->until_saturated && is_full(d))
        pct_cli_say("there are more iRoots than are counted, so --until-saturated has not ended this campaign");
    else if (c->until_saturated && c->done == c->runs && !pct_directed_is_saturated(c))
        pct_cli_say("it is not saturated yet: the same command with a larger -n goes on");
    if (!d->shared && d->taken > c->resumed)
        pct_directed_say_unshared(c);
}

void pct_directed_close(struct pct_directed *d)
{
    pct_iroot_sets_free(&d->sets);
    pct_memo_free(&d->memo);
    free(d->candidate);
    free(d->further);
    free(d->upto);
    for (uint64_t i = 0; i < d->decided; i++)
        free(d->run[i].list);
    free(d->run);
}

void pct_directed_free(struct pct_campaign *c)
{
    struct pct_directed *d = c->directed;
    if (!d)
        return;
    pct_directed_close(d);
    free(d);
    c->directed = NULL;
}
