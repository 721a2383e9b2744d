/* See event_counts.h. */
#include "event_counts.h"
#include <string.h>

/* The number in a name such as n12; -1 for another name. */
static int thread_of(const char *name)
{
    int thread = 0;
    if (name[0] != 'n' || !name[1] || strlen(name) > 6 || strspn(name + 1, "0123456789") != strlen(name + 1))
        return -1;
    for (name++; *name; name++)
        thread = thread * 10 + *name - '0';
    return thread;
}

static uint64_t count_steps(const struct pct_trace *trace, int thread)
{
    uint64_t steps = 0;
    for (uint64_t i = 0; i < trace->count; i++)
        steps += PCT_RECORD_THREAD(trace->records[i]) == (uint32_t)thread;
    return steps;
}

void pct_event_counts_counts(struct pct_config *config, const struct pct_strategy *strategy,
                             const struct pct_trace *trace)
{
    int others = -1;
    uint64_t rest = trace->count, threads = trace->header.threads;
    for (int i = 0; strategy->params && i < PCT_MAX_PARAMS && strategy->params[i].name; i++) {
        const struct pct_param *param = &strategy->params[i];
        int thread = thread_of(param->name);
        bool given = config->given >> i & 1;
        if (!strcmp(param->name, "n") && !given)
            others = i;
        if (thread < 0)
            continue;
        uint64_t steps = count_steps(trace, thread);
        if (!given)
            config->run.param[i] = steps > param->max ? param->max : steps;
        rest -= steps;
        threads -= threads && steps;
    }
    /* Those beyond the named ones, on average. */
    if (others >= 0 && threads && rest / threads >= strategy->params[others].min)
        config->run.param[others] = rest / threads;
}
