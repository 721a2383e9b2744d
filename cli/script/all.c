/* `pct script --all`: see all.h. ways.c says where the next run goes. Runs are looked at in the order in which they
 * were begun, and which is begun next hangs on those that were looked at alone: with as many at a time, the same runs
 * are made in the same order, however long each takes. */
#include "all.h"
#include "verdict.h"
#include "ways.h"
#include <cli/base/cli.h>
#include <cli/base/status_line.h>
#include <cli/campaign/outcome.h>
#include <cli/campaign/signature.h>
#include <pct/random.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A run from when its way is known until it was looked at. */
struct slot {
    struct pct_script_choice *plan; /* with room for all */
    uint32_t planned;
    struct pct_script_channel *channel; /* what its worker's had when the run ended */
};

/* A run that is to be reported, when no other is under way: it will be repeated. */
struct report {
    struct report *next;
    struct pct_ended_run run;
    struct pct_script_channel *channel;
    uint64_t number; /* of the run, from 1 */
    bool failed;
};

struct search {
    struct pct_run_source source; /* first */
    struct pct_script_runs *runs;
    unsigned jobs;
    struct pct_ways *ways;
    struct slot *slot;                  /* run i has slot[i % jobs] */
    uint64_t picked, begun, done;       /* runs: those whose way is known, and so on */
    uint64_t failed, unfit, assertions; /* of those done */
    uint64_t unsteady;                  /* the number of the first that made other choices than it was told; 0: none */
    bool enough;                        /* no more are wanted */
    double started, drawn;              /* seconds */
    uint64_t *finding;                  /* hashes of their signatures */
    size_t findings;
    struct report *reports;
};

/* --- The next run ------------------------------------------------------------------------------------------------- */

static void pick(struct search *s)
{
    const struct pct_script_runs *runs = s->runs;
    while (s->picked < s->done + s->jobs && (!runs->limit || s->picked < runs->limit)) {
        struct slot *slot = &s->slot[s->picked % s->jobs];
        if (!pct_ways_next(s->ways, slot->plan, &slot->planned))
            return;
        s->picked++;
    }
}

static int report(struct search *s);

static int next(struct pct_run_source *source, struct pct_run_spec *spec)
{
    struct search *s = (struct search *)source;
    struct pct_script_runs *runs = s->runs;
    int status = s->reports && s->begun == s->done ? report(s) : 0;
    if (status)
        return status;
    if (s->reports || s->begun == s->picked)
        return PCT_RUNS_WAIT;
    struct pct_script_file *file = &runs->file[spec->worker];
    struct pct_script_channel *c = file->channel;
    const struct slot *slot = &s->slot[s->begun % s->jobs];
    pct_script_channel_reset(c);
    c->planned = slot->planned;
    c->seed =
        runs->order == PCT_WAYS_RANDOM ? pct_random(runs->campaign->config.run.seed, PCT_STREAM_CHOOSE, s->begun) : 0;
    memcpy(pct_script_choices(c), slot->plan, slot->planned * sizeof *slot->plan);
    pct_campaign_make_spec(runs->campaign, 0, spec);
    spec->index = s->begun++;
    spec->channel = file->path;
    return PCT_RUNS_ON;
}

/* The worker's next run has the same channel. */
static void over(struct pct_run_source *source, const struct pct_process *process)
{
    struct search *s = (struct search *)source;
    struct pct_script_channel *from = s->runs->file[process->worker].channel;
    struct pct_script_channel *to = s->slot[process->index % s->jobs].channel;
    *to = *from;
    pct_script_settle(to);
    memcpy(pct_script_choices(to), pct_script_choices(from), from->choices * sizeof *pct_script_choices(to));
    memcpy(pct_script_notes(to), pct_script_notes(from), from->notes * sizeof *pct_script_notes(to));
    uint32_t switches = from->switches < PCT_SCRIPT_SWITCHES ? from->switches : PCT_SCRIPT_SWITCHES;
    memcpy(pct_script_switches(to), pct_script_switches(from), switches * sizeof *pct_script_switches(to));
}

/* --- What came of it ---------------------------------------------------------------------------------------------- */

/* Note the failure. *fresh: it is none that was found before. */
static int add_finding(struct search *s, const struct pct_ended_run *run, bool *fresh)
{
    struct pct_signature signature;
    if (pct_signature_make(&signature, &run->process, &run->result))
        return pct_cli_no_memory("");
    uint64_t hash = signature.hash;
    pct_signature_free(&signature);
    *fresh = true;
    for (size_t i = 0; i < s->findings && *fresh; i++)
        *fresh = s->finding[i] != hash;
    if (!*fresh)
        return 0;
    uint64_t *finding = realloc(s->finding, (s->findings + 1) * sizeof *finding);
    if (!finding)
        return pct_cli_no_memory("");
    s->finding = finding;
    finding[s->findings++] = hash;
    return 0;
}

/* Have the run reported; it takes the channel of its slot with it. */
static int put_report(struct search *s, struct slot *slot, struct pct_ended_run *run, bool failed)
{
    struct report **last = &s->reports, *one = malloc(sizeof *one);
    struct pct_script_channel *other = calloc(1, s->runs->file[0].size);
    if (!one || !other) {
        free(one);
        free(other);
        return pct_cli_no_memory("");
    }
    *one = (struct report){ .run = *run, .channel = slot->channel, .number = s->done, .failed = failed };
    slot->channel = other;
    run->taken = true;
    while (*last)
        last = &(*last)->next;
    *last = one;
    return 0;
}

static void free_report(struct report *one)
{
    pct_ended_run_close(&one->run);
    free(one->channel);
    free(one);
}

/* Which way each choice went: 2 of 3, ... */
static void say_choices(struct pct_script_channel *c)
{
    enum { MOST = 20 };
    char text[512] = "";
    const struct pct_script_choice *choice = pct_script_choices(c);
    for (uint32_t i = 0, at = 0; i < c->choices && i < MOST; i++)
        at += (uint32_t)snprintf(text + at, sizeof text - at, "%s%u of %u", i ? ", " : "", choice[i].chosen + 1,
                                 choice[i].of);
    if (c->choices)
        pct_cli_say("choices: %s%s", text, c->choices > MOST ? ", ..." : "");
}

static int report(struct search *s)
{
    struct pct_script_runs *runs = s->runs;
    int status = 0;
    for (struct report *one; (one = s->reports) && status <= 0;) {
        char ending[256];
        pct_outcome_format(ending, sizeof ending, &one->run.process, &one->run.result);
        pct_status_line_clear(runs->quiet);
        if (!runs->quiet || one->channel->said.outcome == PCT_SCRIPT_WRONG)
            pct_cli_say("run %llu:", (unsigned long long)one->number);
        if (!runs->quiet)
            say_choices(one->channel);
        pct_script_say(runs, one->channel, one->failed, ending);
        status = one->channel->said.outcome == PCT_SCRIPT_WRONG
                     ? PCT_EXIT_USAGE
                     : pct_script_repeat(runs, one->channel, &one->run.result, one->failed);
        s->reports = one->next;
        free_report(one);
    }
    return status > 0 ? status : 0;
}

static int look_at(struct search *s, struct slot *slot, struct pct_ended_run *run)
{
    struct pct_script_runs *runs = s->runs;
    const struct pct_script_channel *c = slot->channel;
    bool assertion = c->said.outcome == PCT_SCRIPT_ASSERTION, fresh = false;
    bool failed = pct_script_has_failed(runs, c, &run->result) && c->said.outcome != PCT_SCRIPT_DID_NOT_FIT;
    s->done++;
    s->unfit += pct_script_is_unfit(c, failed);
    s->assertions += assertion;
    s->failed += failed || assertion;
    if (s->failed == 1 && (failed || assertion))
        pct_script_keep_trace(runs, slot->channel, &run->result);
    int status = failed ? add_finding(s, run, &fresh) : 0;
    if (!status && (fresh || (assertion && s->assertions == 1) || c->said.outcome == PCT_SCRIPT_WRONG))
        status = put_report(s, slot, run, failed);
    s->enough = (runs->first && s->failed) || s->done == runs->limit || c->said.outcome == PCT_SCRIPT_WRONG;
    return status;
}

static int ended(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct search *s = (struct search *)source;
    struct slot *slot = &s->slot[run->process.index % s->jobs];
    if (pct_outcome_is_void(&run->result))
        return pct_outcome_explain(&s->runs->campaign->launch, &run->process, &run->result);
    /* Its choices: the report may take the channel away. */
    int added =
        pct_ways_add(s->ways, slot->plan, slot->planned, pct_script_choices(slot->channel), slot->channel->choices);
    if (added == -ENOMEM)
        return pct_cli_no_memory("");
    int status = look_at(s, slot, run);
    if (added && !s->unsteady)
        s->unsteady = s->done;
    if (status)
        return status;
    pick(s);
    return s->enough ? PCT_RUNS_ENOUGH : 0;
}

static int tick(struct pct_run_source *source)
{
    struct search *s = (struct search *)source;
    bool terminal = isatty(STDERR_FILENO);
    if (s->runs->quiet || !s->done || !pct_status_line_is_due(terminal, s->started, &s->drawn))
        return 0;
    char line[256], left[64];
    double seconds = pct_cli_now() - s->started, share = pct_ways_share(s->ways), rate = (double)s->done / seconds;
    double rest = share > 0 ? seconds * (1 - share) / share : 0;
    if (s->runs->limit && (double)(s->runs->limit - s->done) / rate < rest)
        rest = (double)(s->runs->limit - s->done) / rate;
    snprintf(line, sizeof line, "%llu runs, %.*f/s, %llu fail, about %.3g %% of the ways, %s left",
             (unsigned long long)s->done, rate < 10, rate, (unsigned long long)s->failed, 100 * share,
             pct_cli_format_duration(left, sizeof left, rest));
    pct_status_line_put(terminal, line);
    return 0;
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */

static int say_end(struct search *s)
{
    unsigned long long done = s->done, unfit = s->unfit, failed = s->failed;
    uint32_t count;
    bool open = s->unsteady || s->picked > s->done || pct_ways_next(s->ways, s->slot[0].plan, &count);
    char text[256], seed[64] = "";
    int status = failed ? 1 : s->unsteady || (unfit && unfit == done && !s->runs->ok_unfit) ? PCT_EXIT_DID_NOT_FIT : 0;
    if (s->runs->order == PCT_WAYS_RANDOM && open)
        snprintf(seed, sizeof seed, " (seed %llu)", (unsigned long long)s->runs->campaign->config.run.seed);
    snprintf(text, sizeof text, "%llu run%s, %s choices made%s; %llu fail%s, %llu did not fit", done,
             done == 1 ? "" : "s", open ? "not all" : "all", seed, failed, failed == 1 ? "s" : "", unfit);
    pct_status_line_clear(s->runs->quiet);
    pct_cli_say("%s: %s", s->runs->name, text);
    if (s->unsteady)
        pct_cli_say("run %llu was to begin with the choices of an earlier one, and made others: what the program does "
                    "depends on more than its schedule, so not all ways can be gone",
                    (unsigned long long)s->unsteady);
    if (s->runs->outcome)
        pct_cli_say("%s%s",
                    failed   ? PCT_SCRIPT_SAYS_FAILS
                    : status ? PCT_SCRIPT_SAYS_DID_NOT_FIT
                             : PCT_SCRIPT_SAYS_PASSES,
                    text);
    return status;
}

static bool open_search(struct search *s)
{
    struct pct_script_runs *runs = s->runs;
    s->ways = pct_ways_new(runs->order, runs->campaign->config.run.seed);
    s->slot = calloc(s->jobs, sizeof *s->slot);
    bool fine = s->ways && s->slot;
    for (unsigned i = 0; fine && i < s->jobs; i++) {
        s->slot[i].plan = calloc(PCT_SCRIPT_CHOICES, sizeof *s->slot[i].plan);
        s->slot[i].channel = calloc(1, runs->file[0].size);
        fine = s->slot[i].plan && s->slot[i].channel;
    }
    return fine;
}

static void close_search(struct search *s)
{
    for (unsigned i = 0; s->slot && i < s->jobs; i++) {
        free(s->slot[i].plan);
        free(s->slot[i].channel);
    }
    for (struct report *one; (one = s->reports);) {
        s->reports = one->next;
        free_report(one);
    }
    pct_ways_free(s->ways);
    free(s->slot);
    free(s->finding);
}

int pct_script_all(struct pct_script_runs *runs)
{
    struct search s = { .source = { .next = next, .over = over, .ended = ended, .tick = tick },
                        .runs = runs,
                        .jobs = runs->campaign->jobs,
                        .started = pct_cli_now() };
    struct pct_engine engine = {
        .launch = &runs->campaign->launch, .jobs = s.jobs, .room = s.jobs, .exec = true, .quiet = runs->quiet
    };
    int status = open_search(&s) ? 0 : pct_cli_no_memory("");
    if (!status) {
        pick(&s);
        status = pct_engine_run(&engine, &s.source);
        int reported = status && !engine.signal ? 0 : report(&s); /* also of what was found before we were stopped */
        status = status ? status : reported;
        if (!status || engine.signal) {
            int end = say_end(&s);
            status = status ? status : end;
        }
    }
    close_search(&s);
    return status;
}
