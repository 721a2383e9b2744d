/* False accusations: how often the rules of diagnosis that need one trace alone (cli/diagnose/) speak of a run that
 * passes. Of a correct program, never.
 *
 *     build/bench/accusations [-n RUNS] [-s SEED] [-j JOBS] [OPTION...] -- COMMAND [ARGUMENT...]
 *
 * Runs of random walks and PCT by turns. Prints how many passed, and of how many something was said; each thing that is
 * said, once. The exit status is 1 if anything was. Called by tests/programs/accusations. */
#include <argp.h>
#include <cli/base/cli.h>
#include <cli/campaign/engine.h>
#include <cli/diagnose/evidence.h>
#include <cli/diagnose/print.h>
#include <cli/process/options.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 16, STEPS = 64 /* PCT's k where nothing is known */ };

struct look {
    struct pct_run_source source; /* the first member */
    struct pct_launch launch;
    struct pct_evidence evidence;
    uint64_t runs, seed, next, passed, failed, untold, accused;
    unsigned jobs;
    uint64_t shown[SHOWN]; /* keys */
    size_t shown_count;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct look *l = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &l->launch;
        return 0;
    case 'n':
        l->runs = pct_options_number(state, "-n", argument, 1, UINT32_MAX);
        return 0;
    case 's':
        l->seed = pct_options_number(state, "-s", argument, 0, UINT32_MAX);
        return 0;
    case 'j':
        l->jobs = (unsigned)pct_options_number(state, "-j", argument, 1, 64);
        return 0;
    }
    return pct_options_parse_command(key, state, &l->launch, state->name);
}

static const struct argp_option options[] = {
    { "runs", 'n', "N", 0, "this many runs (default: 100)", 1 },
    { "seed", 's', "N", 0, "the first one's seed (default: 1)", 1 },
    { "jobs", 'j', "N", 0, "this many at a time (default: 1)", 1 },
    { 0 },
};

static int next(struct pct_run_source *source, struct pct_run_spec *spec)
{
    struct look *l = (struct look *)source;
    char spec_text[64], error[256];
    if (l->next == l->runs)
        return PCT_RUNS_WAIT;
    spec->index = l->next++;
    spec->sites = "on";
    snprintf(spec_text, sizeof spec_text, spec->index % 2 ? "pct,depth=3,k=%d" : "random-walk", STEPS);
    if (pct_config_parse_spec(&spec->config, spec_text, pct_cli_find_strategy, error, sizeof error))
        return pct_cli_usage("%s", error);
    spec->config.run.seed = l->seed + spec->index;
    return PCT_RUNS_ON;
}

static void show(struct look *l, const struct pct_history *history, const struct pct_diagnosis *d, uint64_t seed)
{
    for (size_t i = 0; i < l->shown_count; i++)
        if (l->shown[i] == d->key)
            return;
    if (l->shown_count == SHOWN)
        return;
    l->shown[l->shown_count++] = d->key;
    printf("seed %llu: ", (unsigned long long)seed);
    pct_diagnosis_print(stdout, "", history, d);
}

static int ended(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct look *l = (struct look *)source;
    static const bool zero[256] = { true };
    struct pct_history history;
    struct pct_diagnoses diagnoses;
    bool accused = false;
    if (pct_result_fails(&run->result, zero)) {
        l->failed++;
        return PCT_RUNS_ON;
    }
    l->passed++;
    if (pct_history_open(&history, &run->result.trace)) {
        l->untold++;
        return PCT_RUNS_ON;
    }
    pct_evidence_add(&l->evidence, &history, false);
    pct_diagnoses_find(&diagnoses, &history, &l->evidence);
    for (size_t i = 0; i < diagnoses.count; i++)
        if (pct_rule_decides(diagnoses.item[i].rule)) {
            accused = true;
            show(l, &history, &diagnoses.item[i], run->process.index + l->seed);
        }
    l->accused += accused;
    pct_diagnoses_free(&diagnoses);
    pct_history_close(&history);
    return PCT_RUNS_ON;
}

int main(int argc, char **argv)
{
    static struct look l = { .source = { .next = next, .ended = ended }, .runs = 100, .seed = 1, .jobs = 1 };
    static const struct argp argp = { options, parse, NULL, NULL, pct_options_launch, NULL, NULL };
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &l);
    int status = pct_launch_prepare(&l.launch);
    if (status)
        return status;
    struct pct_engine engine = { .launch = &l.launch, .jobs = l.jobs, .width = l.jobs, .sure = true, .quiet = true };
    status = pct_engine_run(&engine, &l.source);
    pct_launch_finish(&l.launch);
    pct_evidence_free(&l.evidence);
    printf("%llu passed, %llu accused; %llu failed, %llu not looked at\n", (unsigned long long)l.passed,
           (unsigned long long)l.accused, (unsigned long long)l.failed, (unsigned long long)l.untold);
    return status ? status : l.accused > 0;
}
