/* Keeping a campaign: see recorder.h. */
#include "recorder.h"
#include "calibrate.h"
#include "batch.h"
#include "confirming.h"
#include "guarantee_report.h"
#include <cli/base/cli.h>
#include "outcome.h"
#include "progress.h"
#include "recorded_findings.h"
#include "signature.h"
#include <cli/process/supervise.h>
#include <cli/trace/report.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Seconds between two commits: what a kill can cost, in runs that must be done again. */
#define COMMIT_SECONDS 0.25

/* --- Failing ------------------------------------------------------------------------------------------------------ */

static int fail(struct pct_recorder *r, int error)
{
    r->broken = true;
    pct_status_line_clear(r->quiet);
    if (error == -ENOSPC)
        pct_cli_say("%s: there is no space left on the disk; what is in it stays; make room, and the same command "
                    "resumes the campaign",
                    r->path);
    else
        pct_cli_say("%s: %s", r->path, pct_store_error(r->store));
    return PCT_EXIT_INTERNAL;
}

static int commit(struct pct_recorder *r)
{
    double now = pct_cli_now();
    int failed = pct_store_commit(r->store, now - r->begun);
    r->committed = now;
    r->dirty = false;
    pct_supervised_progress();
    return failed ? fail(r, failed) : 0;
}

static int commit_now_and_then(struct pct_recorder *r)
{
    return r->dirty && pct_cli_now() - r->committed > COMMIT_SECONDS ? commit(r) : 0;
}

/* --- Confirming --------------------------------------------------------------------------------------------------- */

static int confirm(struct pct_recorder *r, struct pct_campaign *c, struct pct_recorder_finding *finding)
{
    struct pct_store_finding row;
    int failed = pct_confirming_run(r, c, finding, &row);
    char *uncontrolled = failed ? NULL : pct_recorded_findings_uncontrolled(finding->uncontrolled);
    if (!failed && !uncontrolled)
        failed = pct_cli_no_memory("");
    if (!failed) {
        row.uncontrolled = uncontrolled;
        int stored = pct_store_confirm(r->store, &row);
        finding->confirmed = true;
        failed = stored ? fail(r, stored) : commit(r);
    }
    free(uncontrolled);
    pct_confirming_close(&row);
    return failed;
}

/* All of which each replay ends by itself; if `late`, the others behind these. */
static int confirm_all(struct pct_recorder *r, struct pct_campaign *c, bool late)
{
    int failed = late ? confirm_all(r, c, false) : 0;
    for (size_t i = 0; !failed && i < r->count; i++)
        if (!r->findings[i].confirmed && (late || !r->findings[i].late))
            failed = confirm(r, c, &r->findings[i]);
    return failed;
}

/* --- The observer ------------------------------------------------------------------------------------------------- */

static struct pct_recorder *of(struct pct_campaign_observer *observer)
{
    return (struct pct_recorder *)observer;
}

static int classify(struct pct_campaign_observer *observer, struct pct_campaign *c, struct pct_process *process,
                    struct pct_result *result)
{
    struct pct_recorder *r = of(observer);
    if (!pct_result_lacks_space(result))
        return pct_oracle_run(r->oracle, &c->launch, process, result);
    /* What cannot be told of a run cannot be told later either: rather do it again. */
    pct_status_line_clear(r->quiet);
    pct_cli_say(
        "there is no space for traces; what is in %s stays; make room, and the same command resumes the campaign",
        r->path);
    return PCT_EXIT_INTERNAL;
}

struct scan {
    struct pct_recorder *r;
    uint64_t seed;
};

static int store_pair(void *data, uint64_t pair)
{
    struct scan *scan = data;
    return pct_store_add_pair(scan->r->store, pair, scan->seed);
}

static int store_uncontrolled(struct pct_recorder *r, const struct pct_trace_header *header)
{
    int failed = 0;
    for (unsigned i = 0; !failed && i < PCT_UNCONTROLLED_COUNT; i++)
        if (header->uncontrolled[i])
            failed = pct_store_add_uncontrolled(r->store, i, pct_name_uncontrolled(i), header->uncontrolled[i]);
    return failed;
}

/* The most of any run, of what the guarantee depends on. */
static int store_most(struct pct_recorder *r, const char *name, uint64_t *stored, uint64_t most)
{
    char text[32];
    if (most <= *stored)
        return 0;
    *stored = most;
    snprintf(text, sizeof text, "%llu", (unsigned long long)most);
    return pct_store_set_fact(r->store, name, text);
}

static int store_failure(struct pct_recorder *r, struct pct_campaign *c, struct pct_process *process,
                         const struct pct_result *result, uint64_t seed, int64_t *id, bool *new)
{
    struct pct_signature signature;
    if (pct_signature_make(&signature, process, result))
        return -ENOMEM;
    const struct pct_recorder_finding *known = pct_recorded_findings_find(r, signature.hash);
    int failed = 0;
    *new = !known;
    if (known)
        *id = known->id;
    else
        failed = pct_recorded_findings_add(r, c, process, result, &signature, seed, id);
    if (!failed && *new)
        pct_ahead_remove(&r->ahead, signature.hash);
    if (!failed && *new && !r->quiet) {
        pct_status_line_clear(r->quiet);
        pct_cli_say("finding %lld, seed %llu: %s", (long long)*id, (unsigned long long)seed, signature.title);
        pct_report_print_held(stderr, &result->trace.header);
    }
    pct_signature_free(&signature);
    return failed;
}

/* Of a campaign that ends here, by --until-saturated. */
static int store_saturated(struct pct_recorder *r, uint64_t runs)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)runs);
    r->dirty = true;
    return pct_store_set_fact(r->store, "saturated", text);
}

struct beside {
    struct pct_recorder *r;
    struct pct_campaign *c;
};

/* One of the runs that failed beside the campaign's own, again. */
static int look_at_failing(void *data, size_t index, struct pct_process *process, struct pct_result *result)
{
    const struct beside *b = data;
    int64_t id;
    bool new;
    (void)index;
    int failed = pct_oracle_run(b->r->oracle, &b->c->launch, process, result);
    if (failed || !pct_result_fails(result, b->c->ok))
        return failed;
    b->r->dirty = true;
    failed = store_failure(b->r, b->c, process, result, result->trace.header.seed, &id, &new);
    return failed == -ENOMEM ? pct_cli_no_memory("") : failed ? fail(b->r, failed) : 0;
}

/* Runs that have failed beside the campaign's own become findings. */
static int take_failing(struct pct_recorder *r, struct pct_campaign *c, char (*tokens)[PCT_TOKEN_MAX], size_t count)
{
    struct beside beside = { r, c };
    return count ? pct_batch_run(&c->launch, c->jobs, tokens, count, look_at_failing, &beside) : 0;
}

static bool has_run(const struct pct_recorder *r, const char *token)
{
    char run[PCT_TOKEN_MAX];
    pct_recorded_findings_strip(run, token);
    for (size_t i = 0; i < r->count; i++)
        if (!strcmp(r->findings[i].token, run))
            return true;
    return false;
}

/* What failed is a finding at once: the same one, whether the campaign goes on now or is interrupted here. */
static int explored(struct pct_campaign_observer *observer, struct pct_campaign *c)
{
    struct pct_recorder *r = of(observer);
    struct pct_exploring *y = &c->exploring;
    int status = take_failing(r, c, &y->token, *y->token && !has_run(r, y->token));
    if (status)
        return status;
    char most[24];
    snprintf(most, sizeof most, "%llu", (unsigned long long)y->most);
    int failed = pct_store_set_fact(r->store, "exploring", most);
    if (!failed && y->verdict)
        failed = pct_store_set_fact(r->store, "verdict", y->verdict);
    if (!failed)
        failed = pct_store_set_fact(r->store, "verdict_whole", y->whole ? "1" : "0");
    if (!failed)
        failed = pct_store_set_fact(r->store, "explored_token", y->token);
    if (!failed && y->unrepeated)
        failed = pct_store_set_fact(r->store, "explored_unrepeated", "1");
    r->dirty = true;
    return failed ? fail(r, failed) : commit(r);
}

static int early(struct pct_campaign_observer *observer, struct pct_campaign *c, const struct pct_process *process,
                 const struct pct_result *result)
{
    struct pct_recorder *r = of(observer);
    struct pct_signature signature;
    int failed = pct_signature_make(&signature, process, result) ? -ENOMEM : 0;
    if (!failed) {
        if (!pct_recorded_findings_find(r, signature.hash))
            failed = pct_ahead_add(&r->ahead, &c->launch, process, result, signature.hash, signature.title,
                                   pct_campaign_seed(c, process->index), r->quiet);
        pct_signature_free(&signature);
    }
    if (failed)
        return pct_cli_no_memory("");
    r->dirty = true; /* for reports, should this be the end */
    failed = store_most(r, "open", &r->stored.open, process->index + 1);
    return failed ? fail(r, failed) : 0;
}

static int looked(struct pct_campaign_observer *observer, struct pct_campaign *c, struct pct_process *process,
                  const struct pct_result *result, bool failed, bool *hold)
{
    struct pct_recorder *r = of(observer);
    const struct pct_trace_header *header = &result->trace.header;
    bool new = false;
    const bool other = pct_other_points_has(c, process->index);
    const uint64_t *param = other ? pct_other_points_config(c, process->index)->run.param : c->config.run.param;
    struct pct_store_run run = { .seed = pct_campaign_seed(c, process->index),
                                 .k = c->k < 0 ? 0 : param[c->k],
                                 .depth = c->depth < 0 ? 0 : param[c->depth],
                                 .code = result->code,
                                 .steps = pct_trace_steps(&result->trace),
                                 .spins = header->spins,
                                 .switches = header->switches,
                                 .preemptions = header->preemptions,
                                 .points = pct_trace_points(&result->trace),
                                 .threads = pct_campaign_threads(result),
                                 .complete = pct_result_is_whole(result),
                                 .other = other,
                                 .systematic = pct_systematic_has(c, process->index),
                                 .forced = pct_cycles_has(c, process->index),
                                 .directed = pct_directed_has(c, process->index),
                                 .hash = header->hash };
    struct scan scan = { .r = r, .seed = run.seed };
    int error = failed ? store_failure(r, c, process, result, run.seed, &run.finding, &new) : 0;
    if (!error)
        error = pct_store_add_run(r->store, &run);
    if (!error)
        error = pct_coverage_scan(r->coverage, &result->trace, store_pair, &scan);
    if (!error)
        error = pct_directed_save(c, r->store);
    if (!error && !other)
        error = store_uncontrolled(r, header);
#define STORE(name) error = error ? error : store_most(r, #name, &r->stored.name, c->name);
    PCT_RECORDER_MOST(STORE)
#undef STORE
    if (!error)
        error = store_most(r, "systematic_below", &r->stored.below, c->systematic.below);
    const bool saturated = !error && pct_directed_is_saturated(c);
    if (saturated)
        error = store_saturated(r, c->done);
    r->dirty = true;
    if (error)
        return error == -ENOMEM ? pct_cli_no_memory("") : fail(r, error);
    *hold |= new && !r->findings[r->count - 1].late;
    error = new || saturated || pct_supervised_is_alone(process->index) ? commit(r) : commit_now_and_then(r);
    return error ? error : saturated ? PCT_RUNS_ENOUGH : 0;
}

static int idle(struct pct_campaign_observer *observer, struct pct_campaign *c)
{
    return confirm_all(of(observer), c, false);
}

static int tick(struct pct_campaign_observer *observer, struct pct_campaign *c)
{
    struct pct_recorder *r = of(observer);
    if (!r->quiet)
        pct_progress_draw(c, r->begun, r->count, &r->drawn);
    return commit_now_and_then(r);
}

/* --- Beginning and end -------------------------------------------------------------------------------------------- */

static int restore_run(void *data, const struct pct_store_run *run)
{
    struct pct_campaign *c = data;
    c->done++;
    c->failures += run->finding != 0;
    c->other.runs += run->other;
    if (run->threads > c->max_threads)
        c->max_threads = run->threads;
    if (!run->other && run->steps > c->max_steps)
        c->max_steps = run->steps;
    if (run->other) {
        pct_guarantee_report_see_run(c, 0, run->threads, 0);
        return 0;
    }
    if (run->directed) {
        pct_guarantee_report_see_directed_run(c, run->points, run->threads, run->spins);
        return 0;
    }
    if (run->systematic || run->forced) {
        pct_guarantee_report_see_run(c, run->points, run->threads, run->spins);
        return 0;
    }
    const struct pct_guarantee_report_run counted = { .seed = run->seed,
                                                      .depth = run->depth,
                                                      .k = run->k,
                                                      .steps = run->points,
                                                      .spins = run->spins,
                                                      .threads = run->threads,
                                                      .complete = run->complete };
    pct_guarantee_report_add_run(c, &counted);
    return 0;
}

static int restore_uncontrolled(void *data, unsigned kind, const char *name, uint64_t count)
{
    (void)name;
    struct pct_campaign *c = data;
    if (kind < PCT_UNCONTROLLED_COUNT)
        c->uncontrolled[kind] += count;
    return 0;
}

bool pct_recorder_is_open(struct pct_store *store, uint64_t runs)
{
    return runs < pct_store_number(store, "open") || *pct_store_fact(store, "failing");
}

/* The tokens of runs that have measured k and failed: they become findings at the end, whoever comes to it. */
static void restore_failing(struct pct_campaign *c, const char *tokens)
{
    static char failing[PCT_CALIBRATION_RUNS][PCT_TOKEN_MAX];
    size_t count = 0;
    for (size_t length; *tokens && count < PCT_CALIBRATION_RUNS; tokens += length + (tokens[length] == '\n')) {
        length = strcspn(tokens, "\n");
        snprintf(failing[count++], sizeof *failing, "%.*s", (int)length, tokens);
    }
    if (!count)
        return;
    c->failing = failing;
    c->failing_count = count;
}

int pct_recorder_restore(struct pct_store *store, struct pct_campaign *c)
{
#define RESTORE(name) c->name = pct_store_number(store, #name); /* the runs below count by some of these */
    PCT_RECORDER_MOST(RESTORE)
#undef RESTORE
    int failed = pct_store_each_run(store, restore_run, c);
    if (!failed)
        failed = pct_store_each_uncontrolled(store, restore_uncontrolled, c);
    c->calibrated = pct_store_number(store, "learned");
    c->differs = pct_store_number(store, "differs");
    snprintf(c->origin.token, sizeof c->origin.token, "%s", pct_store_fact(store, "first_token"));
    c->origin.hash = pct_store_number(store, "first_hash");
    c->launch.random |= pct_store_number(store, "addresses_random") != 0; /* or this system's are, where it goes on */
    c->exploring.unrepeated = pct_store_number(store, "explored_unrepeated");
    c->found = pct_store_number(store, "explored_found");
    c->open = pct_recorder_is_open(store, c->done);
    restore_failing(c, pct_store_fact(store, "failing"));
    return failed ? failed
                  : pct_exploring_restore(c, pct_store_fact(store, "verdict"), pct_store_number(store, "verdict_whole"),
                                          pct_store_fact(store, "explored_token"));
}

static int restore_pair(void *data, uint64_t pair, uint64_t seed)
{
    (void)seed;
    pct_coverage_add(data, pair);
    return 0;
}

int pct_recorder_open(struct pct_recorder *r, struct pct_campaign *c)
{
    r->observer = (struct pct_campaign_observer){
        .classify = classify, .early = early, .looked = looked, .idle = idle, .tick = tick, .explored = explored
    };
    r->begun = r->committed = pct_cli_now();
    r->coverage = pct_coverage_new();
    if (!r->coverage)
        return pct_cli_no_memory("");
    int failed = pct_recorder_restore(r->store, c);
    r->stored.open = pct_store_number(r->store, "open");
    if (!failed && c->launch.random)
        failed = pct_store_set_fact(r->store, "addresses_random", "1");
    if (!failed)
        failed = pct_store_each_pair(r->store, restore_pair, r->coverage);
    if (!failed)
        failed = pct_store_each_finding(r->store, pct_recorded_findings_restore, r);
    if (!failed)
        failed = pct_store_begin_session(r->store, time(NULL), c->jobs);
    if (failed)
        return fail(r, failed);
    c->resumed = c->done;
    c->observer = &r->observer;
    failed = pct_directed_load(c, r->store, r->path);
    if (!failed && pct_directed_is_saturated(c))
        failed = store_saturated(r, c->done);
    return failed < 0 ? fail(r, failed) : failed;
}

int pct_recorder_attach(struct pct_recorder *r, const struct pct_campaign *c)
{
    r->begun = r->committed = pct_cli_now();
    int failed = pct_store_each_finding(r->store, pct_recorded_findings_restore, r);
    if (!failed)
        failed = pct_store_begin_session(r->store, time(NULL), c->jobs);
    return failed ? fail(r, failed) : 0;
}

int pct_recorder_add_failure(struct pct_recorder *r, struct pct_campaign *c, struct pct_process *process,
                             const struct pct_result *result, uint64_t number, int64_t *id)
{
    bool new;
    r->dirty = true;
    int failed = store_failure(r, c, process, result, number, id, &new);
    return failed == -ENOMEM ? pct_cli_no_memory("") : failed ? fail(r, failed) : 0;
}

int pct_recorder_confirm(struct pct_recorder *r, struct pct_campaign *c)
{
    return confirm_all(r, c, true);
}

int pct_recorder_commit(struct pct_recorder *r, bool now)
{
    return r->broken ? 0 : now && r->dirty ? commit(r) : commit_now_and_then(r);
}

int pct_recorder_fail(struct pct_recorder *r, int error)
{
    return fail(r, error);
}

/* They are findings now. */
static int forget_failing(struct pct_recorder *r)
{
    r->dirty = true;
    int failed = pct_store_set_fact(r->store, "failing", "");
    return failed ? fail(r, failed) : 0;
}

/* It was interrupted while runs that were cut waited to be made again: the next one is among them, or behind them. */
static int store_undecided(struct pct_recorder *r, const struct pct_campaign *c)
{
    r->dirty = true;
    int failed = store_most(r, "open", &r->stored.open, c->done + 1);
    return failed ? fail(r, failed) : 0;
}

int pct_recorder_finish(struct pct_recorder *r, struct pct_campaign *c, int status)
{
    if (!status)
        status = take_failing(r, c, c->failing, c->failing_count);
    if (!status && c->failing_count)
        status = forget_failing(r);
    if (!status)
        status = confirm_all(r, c, true);
    pct_status_line_clear(r->quiet);
    int failed = status > 128 && c->undecided && !r->broken ? store_undecided(r, c) : 0;
    if (!failed && r->dirty && !r->broken)
        failed = commit(r);
    return status ? status : failed;
}

void pct_recorder_close(struct pct_recorder *r)
{
    pct_ahead_free(&r->ahead);
    pct_coverage_free(r->coverage);
    free(r->findings);
}
