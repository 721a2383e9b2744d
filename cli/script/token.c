/* The run of a script as a token: see script.h. Its list has what the run did otherwise than the strategy `schedule`
 * does by itself: the threads that the script chose. */
#include "script.h"
#include <cli/base/cli.h>
#include <cli/trace/switches.h>
#include <strategies/strategies.h>
#include <stdlib.h>
#include <string.h>

/* The index of the record behind which the switch is; UINT64_MAX: there is none. */
static uint64_t record_before(const struct pct_trace *trace, uint64_t step)
{
    while (step && PCT_RECORD_OP(trace->records[step - 1]) == PCT_OP_OUTSIDE)
        step--;
    return step - 1;
}

static int by_step(const void *a, const void *b)
{
    const struct pct_switch *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (int)x->wake - (int)y->wake;
}

/* Wakes of the trace, and the script's switches. False: there is no memory, or they are not all known. */
static bool list_switches(struct pct_switches *list, struct pct_script_channel *channel, const struct pct_trace *trace)
{
    struct pct_switches all;
    uint32_t *number = pct_switches_number(trace);
    const struct pct_script_switch *chosen = pct_script_switches(channel);
    list->count = 0;
    list->item = calloc(trace->count + channel->switches + 1, sizeof *list->item);
    bool fine = number && list->item && channel->switches <= PCT_SCRIPT_SWITCHES && !trace->first &&
                !pct_switches_from_trace(&all, trace);
    for (size_t i = 0; fine && i < all.count; i++)
        if (all.item[i].wake)
            list->item[list->count++] = all.item[i];
    for (uint32_t i = 0; fine && i < channel->switches; i++) {
        bool last = i + 1 == channel->switches || chosen[i + 1].step != chosen[i].step;
        uint64_t at = chosen[i].step <= trace->count ? record_before(trace, chosen[i].step) : UINT64_MAX;
        if (!last || at == UINT64_MAX)
            continue;
        uint64_t before = chosen[i].step - 1;
        bool back = before != at && !chosen[i].awaited && PCT_RECORD_THREAD(trace->records[before]) != chosen[i].thread;
        if (back) {
            list->item[list->count++] = pct_switches_back(trace, number, before, chosen[i].thread);
            continue;
        }
        list->item[list->count++] = (struct pct_switch){ .thread = PCT_RECORD_THREAD(trace->records[at]),
                                                         .made = number[at],
                                                         .value = chosen[i].thread,
                                                         .awaits = chosen[i].awaited,
                                                         .step = at };
    }
    if (fine) {
        qsort(list->item, list->count, sizeof *list->item, by_step);
        pct_switches_free(&all);
    }
    free(number);
    return fine;
}

static bool format(struct pct_config *config, const struct pct_switches *switches, char *token, size_t size)
{
    char *list = pct_switches_format(switches, NULL);
    bool fits = pct_switches_configure(config, list);
    if (fits)
        pct_config_format_token(token, size, config, &pct_strategy_schedule);
    free(list);
    return fits;
}

bool pct_script_token(struct pct_script_channel *channel, const struct pct_trace *trace, char *token, size_t size)
{
    char error[256];
    struct pct_config config = { 0 };
    struct pct_switches switches;
    if (pct_config_parse_token(&config, trace->header.token, pct_cli_find_strategy, error, sizeof error))
        return false;
    bool fine = list_switches(&switches, channel, trace) && format(&config, &switches, token, size);
    pct_switches_free(&switches);
    return fine;
}
