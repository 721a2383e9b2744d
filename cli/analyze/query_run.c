/* Runs of queries: see query_run.h. */
#include "query_run.h"
#include <string.h>

bool pct_failure_read(struct pct_failure *failure, const struct pct_result *result)
{
    *failure = (struct pct_failure){ .ending = result->ending, .code = result->code };
    const struct pct_trace_header *header = result->children ? &result->child.header : &result->trace.header;
    if (result->ending == PCT_ENDING_ASSERTION)
        snprintf(failure->message, sizeof failure->message, "%s", header->message);
    return result->ending != PCT_ENDING_EXIT || result->code;
}

bool pct_failure_same(const struct pct_failure *a, const struct pct_failure *b)
{
    return a->ending == b->ending && a->code == b->code && !strcmp(a->message, b->message);
}

const char *pct_failure_format(char *buffer, size_t size, const struct pct_failure *failure)
{
    if (failure->ending == PCT_ENDING_EXIT)
        snprintf(buffer, size, "exit status %d", failure->code);
    else if (failure->ending == PCT_ENDING_CRASH || failure->ending == PCT_ENDING_KILLED)
        snprintf(buffer, size, "%s by signal %d (%s)", pct_ending_name(failure->ending), failure->code - 128,
                 sigdescr_np(failure->code - 128) ? sigdescr_np(failure->code - 128) : "unknown");
    else
        snprintf(buffer, size, "%s%s%s", pct_ending_name(failure->ending), failure->message[0] ? ": " : "",
                 failure->message);
    return buffer;
}

/* What all runs have in common, with a schedule of our own. */
static void make_config(const struct pct_query_runs *runs, struct pct_config *config, const char *strategy,
                        uint64_t seed)
{
    const struct pct_config *given = &runs->config;
    *config = *given;
    config->run = (struct pct_run){ .seed = seed };
    config->given = 0;
    config->list[0] = '\0';
    config->has_hash = false;
    /* Whatever the seed of this run decides: which accesses are points stays. */
    if (config->sample && !config->sample_fixed && seed != given->run.seed) {
        config->sample_fixed = true;
        config->sample_seed = given->run.seed;
    }
    config->end = (uint8_t)pct_end_of_run(given->end, given->run.seed);
    snprintf(config->strategy, sizeof config->strategy, "%s", strategy);
}

void pct_query_run_spec(const struct pct_query_runs *runs, const struct pct_try *what, uint64_t seed,
                        struct pct_run_spec *spec)
{
    if (what->strategy)
        make_config(runs, &spec->config, what->strategy, seed);
    else
        spec->config = runs->config;
    spec->list = what->strategy ? what->list : runs->list;
    spec->sites = what->sites;
}

void pct_query_run_close(struct pct_query_run *run)
{
    pct_result_close(&run->result);
    pct_process_close(&run->process);
}

void pct_query_runs_begin(struct pct_query_runs *runs)
{
    runs->launch.ends = runs->begun + runs->seconds + PCT_QUERY_RUNS_GRACE;
}

double pct_query_runs_left(const struct pct_query_runs *runs)
{
    double left = runs->seconds - runs->kept - (runs->begun ? pct_cli_now() - runs->begun : 0);
    return left > 0 ? left : 0;
}

void pct_query_runs_keep(struct pct_query_runs *runs, double seconds)
{
    static const double names = 0.05; /* of the time, to read the names of what is shown */
    /* The run that fails and the one that passes are made again with stacks. */
    runs->kept = 4 * seconds + names * runs->seconds;
    runs->kept = runs->kept < runs->seconds / 2 ? runs->kept : runs->seconds / 2;
}

void pct_query_runs_share(struct pct_query_runs *runs, double share)
{
    runs->until = share < 1 ? pct_cli_now() + share * pct_query_runs_left(runs) : 0;
}

bool pct_query_runs_over(struct pct_query_runs *runs)
{
    bool whole = runs->interrupted || pct_query_runs_left(runs) <= 0;
    bool step = runs->until && pct_cli_now() >= runs->until;
    runs->late = runs->late || whole;
    runs->cut = runs->cut || step;
    return whole || step;
}

const char *pct_query_runs_why(const struct pct_query_runs *runs)
{
    return runs->interrupted ? "interrupted" : "out of time";
}

int pct_query_runs_status(const struct pct_query_runs *runs)
{
    return runs->interrupted ? 128 + runs->interrupted : 0;
}

int pct_query_runs_verdict(const struct pct_query_runs *runs, unsigned failed, unsigned of)
{
    unsigned enough = (unsigned)(runs->rate * runs->repeat + 0.999);
    if (failed >= enough)
        return 1;
    return failed + runs->repeat - of < enough ? 0 : -1;
}
