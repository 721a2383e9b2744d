/* The schedule of an explored run as a token: see explorer.h. */
#include "explorer.h"
#include <cli/base/list.h>
#include <cli/trace/switches.h>
#include <pct/operations.h>
#include <strategies/strategies.h>
#include <stdlib.h>
#include <string.h>

/* Who could go on, while the log is read; of the first PCT_EXECUTION_SETS threads. */
struct standing {
    uint64_t enabled, early, ends;
    uint64_t memory;  /* about to access memory: only pct explore lets such a thread wait */
    uint32_t running; /* plus 1 */
};

static void follow(struct standing *s, const struct pct_log_entry *entry)
{
    uint64_t bit = entry->thread < PCT_EXECUTION_SETS ? UINT64_C(1) << entry->thread : 0;
    switch ((enum pct_log_kind)entry->kind) {
    case PCT_LOG_ENABLE:
        s->enabled |= bit;
        break;
    case PCT_LOG_DISABLE:
        s->enabled &= ~bit | s->memory;
        break;
    case PCT_LOG_ANNOUNCE:
        s->early = entry->op == PCT_OP_DEADLINE ? s->early | bit : s->early & ~bit;
        s->memory = pct_operation_accesses(entry->op) ? s->memory | bit : s->memory & ~bit;
        s->ends = entry->op == PCT_OP_EXIT_NOW ? s->ends | bit : s->ends & ~bit;
        break;
    default:
        break;
    }
}

/* Whom the strategy `schedule` lets go on where its list says nothing, unless the running thread spins. */
static uint32_t by_default(const struct standing *s)
{
    uint64_t ready = s->enabled & ~s->early & ~s->ends;
    if (s->running && s->running <= PCT_EXECUTION_SETS && ready >> (s->running - 1) & 1)
        return s->running - 1;
    return ready ? (uint32_t)__builtin_ctzll(ready) : PCT_EXECUTION_SETS;
}

/* By record: whether its thread would have gone on there anyway. NULL: no memory. */
static bool *find_usual(const struct pct_explored *run)
{
    struct standing s = { 0 };
    uint32_t last = UINT32_MAX;
    bool *usual = calloc((size_t)run->record_count + 1, sizeof *usual);
    for (uint32_t i = 0; usual && i < run->log_count; i++) {
        const struct pct_log_entry *entry = &run->log[i];
        follow(&s, entry);
        if (entry->kind != PCT_LOG_PICK || entry->value > run->record_count)
            continue;
        /* Of several choices with no step in between, nothing is said. */
        usual[entry->value] = entry->value != last && by_default(&s) == entry->thread;
        last = entry->value;
        s.running = entry->thread + 1u;
    }
    return usual;
}

/* All switches, or those that are not usual. To be freed; NULL: no memory. */
static char *list_switches(const struct pct_switches *switches, const struct pct_explored *run)
{
    bool *usual = find_usual(run), *keep = calloc(switches->count + 1, sizeof *keep);
    char *list = NULL;
    for (size_t i = 0; usual && keep && i < switches->count; i++) {
        const struct pct_switch *item = &switches->item[i];
        uint64_t next = item->step + 1;
        keep[i] = item->wake || next >= run->record_count || !usual[next] ||
                  PCT_RECORD_OP(run->records[next]) == PCT_OP_DEADLINE;
    }
    if (usual && keep)
        list = pct_switches_format(switches, keep);
    free(usual);
    free(keep);
    return list;
}

static bool make_token(struct pct_config *schedule, const char *list, char *token, size_t size)
{
    bool fits = pct_switches_configure(schedule, list);
    if (fits)
        pct_config_format_token(token, size, schedule, &pct_strategy_schedule);
    return fits;
}

/* Nobody reads that. */
static bool pack_token(struct pct_config *schedule, const char *list, char *token, size_t size)
{
    return list && pct_switches_configure(schedule, "") && pct_list_take(schedule, &pct_strategy_schedule, list) &&
           pct_config_format_token(token, size, schedule, &pct_strategy_schedule) < size;
}

bool pct_explorer_token(const struct pct_trace *trace, const struct pct_explored *run, char *token, size_t size)
{
    char error[256];
    struct pct_config config = { 0 };
    struct pct_switches switches;
    if (pct_config_parse_token(&config, trace->header.token, pct_cli_find_strategy, error, sizeof error) ||
        pct_switches_from_trace(&switches, trace))
        return false;
    char *list = pct_switches_format(&switches, NULL);
    bool fits = make_token(&config, list, token, size);
    if (!fits) {
        char *fewer = list_switches(&switches, run);
        fits = make_token(&config, fewer, token, size) || pack_token(&config, list, token, size);
        free(fewer);
    }
    free(list);
    pct_switches_free(&switches);
    return fits;
}
