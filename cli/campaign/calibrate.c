/* Before the first run of a campaign: see calibrate.h. */
#include "calibrate.h"
#include "outcome.h"
#include "batch.h"
#include "guarantee_report.h"
#include <cli/base/cli.h>
#include <cli/trace/early_timeouts.h>
#include "event_counts.h"
#include "objects.h"
#include "sampling.h"
#include "state.h"
#include <string.h>

enum { MOST_CUT = 2 /* runs; then it ends */ };

/* Seconds that a run may take here, whatever --timeout allows it, and at least where it takes far longer than the
 * others. */
#define MOST_SECONDS 5.0
#define LEAST_SECONDS 3.0

struct calibration {
    struct pct_campaign *c;
    struct pct_oracle *oracle;
    struct pct_learned learned;
    size_t reference; /* which run the reference is from; at least PCT_CALIBRATION_RUNS: none yet */
    uint64_t hash;    /* of the first */
    uint64_t plain;   /* the most plain accesses to memory among the points of a run, if they are too many */
    unsigned cut;     /* runs that took far longer */
    uint64_t longest; /* the steps that a run would have taken if all its waits had ended early */
    bool orders, repeats, differs;
};

/* A run that was killed for its time. Returns whether that says nothing: the campaign's runs have more. */
static bool is_cut(struct calibration *k, const struct pct_process *process)
{
    if (!process->timed_out || !process->cut)
        return false;
    k->cut++;
    pct_cli_say("a run by which k is measured took more than %g s, %s, and was cut: k is that of its steps so far; "
                "it is no failure (--timeout is for the campaign's own runs)",
                process->allowed,
                k->c->launch.limit.longest > 0 ? "far longer than the others" : "as no other has ended");
    return true;
}

/* A run here has failed: it is to become a finding. */
static void keep_failing(struct calibration *k, const struct pct_process *process, const struct pct_result *result)
{
    static char failing[PCT_CALIBRATION_RUNS][PCT_TOKEN_MAX];
    struct pct_campaign *c = k->c;
    c->failing = failing;
    if (c->failing_count == PCT_CALIBRATION_RUNS)
        return;
    memcpy(failing[c->failing_count++], process->token, PCT_TOKEN_MAX);
    if (c->failing_count == 1)
        pct_cli_say("a run by which k is measured has failed (%s): %s", pct_ending_name(result->ending),
                    process->token);
}

static int look(void *data, size_t index, struct pct_process *process, struct pct_result *result)
{
    struct calibration *k = data;
    const struct pct_trace_header *header = &result->trace.header;
    bool cut = is_cut(k, process);
    if (pct_result_lacks_space(result)) {
        pct_cli_say("there is no space for traces: make room, and begin again");
        return PCT_EXIT_INTERNAL;
    }
    if (pct_result_is_internal(result))
        return pct_outcome_explain(&k->c->launch, process, result);
    if (k->repeats) {
        k->differs = header->hash != k->hash;
        return 0;
    }
    if (result->unrecorded) /* it ended before its first step, which says nothing of k */
        return k->cut == MOST_CUT ? PCT_RUNS_ENOUGH : 0;
    if (k->orders) /* only what is ordered is wanted; k is measured when that is skipped */
        return pct_ordered_add(&k->c->ordered, &result->trace) ? pct_cli_no_memory("") : 0;
    uint64_t points = pct_trace_points(&result->trace), counted = points;
    pct_learned_add(&k->learned, points, pct_campaign_threads(result));
    if (pct_objects_add(&k->c->objects, &result->trace))
        pct_cli_say("out of memory: the uses of objects are not counted");
    /* A wait that ends early is a step more; which do depends on coins. */
    if (k->c->config.slack)
        points += header->deadlines - pct_early_timeouts_count(&result->trace);
    k->longest = points > k->longest ? points : k->longest;
    uint64_t plain = k->c->may_sample ? pct_sampling_count(&result->trace) : 0;
    k->plain = plain > k->plain ? plain : k->plain;
    if (k->c->confidence > 0)
        pct_guarantee_report_see(k->c, &result->trace, counted, pct_campaign_threads(result), false);
    if (!index) {
        k->hash = header->hash;
        if (!strchr(k->c->config.strategy, '/'))
            pct_event_counts_counts(&k->c->config, k->c->strategy, &result->trace);
    }
    /* As of the campaign's own runs. */
    int asked = cut ? 0 : pct_oracle_run(k->oracle, &k->c->launch, process, result);
    if (asked)
        return asked;
    bool failed = pct_result_fails(result, k->c->ok);
    if (failed && !cut)
        keep_failing(k, process, result);
    if (k->cut == MOST_CUT)
        return PCT_RUNS_ENOUGH;
    if (!k->oracle->same || failed || index >= k->reference)
        return 0;
    k->reference = index;
    pct_oracle_close(k->oracle);
    if (!pct_oracle_take_reference(k->oracle, process))
        return 0;
    return pct_cli_no_memory("");
}

static void make_token(const struct pct_campaign *c, uint64_t index, char *token)
{
    struct pct_config config = c->config;
    config.has_hash = false;
    config.run.seed += index;
    if (c->depth >= 0)
        config.run.param[c->depth] = 1;
    config.slack = pct_config_draw_slack(&config, c->strategy);
    const struct pct_strategy *strategy = c->strategy;
    pct_objects_settle(NULL, &config, &strategy);
    pct_config_format_token(token, PCT_TOKEN_MAX, &config, strategy);
}

/* Runs with this many plain accesses want a sample: from the first run on, so that it does not matter which runs were
 * made before. Returns whether they have got one; then k is that of runs which have. */
static bool take_sample(struct pct_campaign *c, uint64_t plain)
{
    unsigned percent = pct_sampling_percent(plain);
    if (!c->may_sample || !percent)
        return false;
    c->config.sample = (uint8_t)percent;
    c->may_sample = false;
    pct_cli_say("%llu of the points of a run are plain accesses to memory: each run of the campaign has those of %u %% "
                "of the places in the "
                "code, drawn from its seed (--memory-sample=off takes all; --focus says which)",
                (unsigned long long)plain, percent);
    return true;
}

static void set_k(struct pct_campaign *c, const struct pct_learned *learned, uint64_t longest)
{
    const struct pct_param *param = &c->strategy->params[c->k];
    uint64_t k = learned->most + (learned->most - learned->least), least = param->min;
    if (c->depth >= 0 && c->config.run.param[c->depth] > least)
        least = c->config.run.param[c->depth];
    k = k < longest ? longest : k;
    c->config.run.param[c->k] = k < least ? least : k > param->max ? param->max : k;
    c->learns = false;
    c->calibrated = true;
}

/* The runs of these tokens. */
static int run_all(struct calibration *k, unsigned jobs, char (*tokens)[PCT_TOKEN_MAX], size_t count)
{
    struct pct_launch *launch = &k->c->launch;
    const struct pct_time_limit limit = launch->limit; /* of the campaign's runs */
    launch->limit.cuts = true;
    launch->limit.least = LEAST_SECONDS;
    launch->limit.most = MOST_SECONDS;
    launch->limit.again = false; /* they are no failures */
    int failed = pct_batch_run(launch, jobs, tokens, count, look, k);
    double longest = launch->limit.longest;
    launch->limit = limit;
    launch->limit.longest = longest;
    return failed;
}

int pct_calibrate(struct pct_campaign *c, struct pct_oracle *oracle, bool *differs)
{
    static char tokens[PCT_CALIBRATION_RUNS][PCT_TOKEN_MAX];
    struct calibration k = { .c = c, .oracle = oracle, .reference = PCT_CALIBRATION_RUNS };
    bool orders = c->config.memory_points == PCT_POINTS_LEARNED && !c->config.ordered;
    for (size_t i = 0; i < PCT_CALIBRATION_RUNS && orders; i++)
        make_token(c, i, tokens[i]);
    k.orders = orders;
    int failed = orders ? run_all(&k, c->jobs, tokens, PCT_CALIBRATION_RUNS) : 0;
    if (failed)
        return failed;
    if (orders)
        c->config.ordered = pct_ordered_save(&c->ordered);
    size_t count = c->learns || oracle->same ? PCT_CALIBRATION_RUNS : 1;
    do {
        k = (struct calibration){ .c = c, .oracle = oracle, .reference = PCT_CALIBRATION_RUNS };
        pct_objects_free(&c->objects);
        for (size_t i = 0; i < count; i++)
            make_token(c, i, tokens[i]);
        c->failing_count = 0;
        failed = run_all(&k, c->jobs, tokens, count);
    } while (!failed && take_sample(c, k.plain));
    k.repeats = true;
    if (!failed && !k.cut)
        failed = run_all(&k, 1, tokens, 1);
    if (failed)
        return failed;
    if (oracle->same && !oracle->has_reference)
        return pct_cli_usage(
            "--expect-same: none of the first %d runs ended without a failure, so there is no output to "
            "compare with; --expect names a file that has it",
            PCT_CALIBRATION_RUNS);
    *differs = k.differs;
    if (k.hash && !k.cut) {
        memcpy(c->origin.token, tokens[0], sizeof tokens[0]);
        c->origin.hash = k.hash;
    }
    if (c->learns && k.learned.most)
        set_k(c, &k.learned, k.longest);
    return 0;
}

int pct_calibrate_again(struct pct_campaign *c)
{
    struct calibration k = { .c = c, .repeats = true, .hash = c->origin.hash };
    int failed = run_all(&k, 1, &c->origin.token, 1);
    if (failed || !k.differs)
        return failed;
    c->differs = true;
    pct_cli_say("the first run, repeated, took other steps than when this campaign began: a library, a file or the "
                "environment has changed since; --fresh begins anew");
    return 0;
}
