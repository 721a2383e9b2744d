/* A schedule as a list of switches: see switches.h. */
#include "switches.h"
#include <errno.h>
#include <pct/strategy.h>
#include <stdio.h>
#include <stdlib.h>
#include <strategies/number_list.h>
#include <strategies/strategies.h>
#include <string.h>

uint32_t *pct_switches_number(const struct pct_trace *trace)
{
    uint32_t *number = calloc(trace->count + 1, sizeof *number);
    uint32_t *made = calloc(PCT_MAX_THREADS + 1, sizeof *made);
    uint32_t running = 0;
    for (uint64_t i = 0; number && made && i < trace->count; i++) {
        uint32_t thread = PCT_RECORD_THREAD(trace->records[i]);
        /* Strategies count it as a step of the thread that ran last. */
        if (PCT_RECORD_OP(trace->records[i]) == PCT_OP_OUTSIDE) {
            made[running]++;
            continue;
        }
        running = thread;
        number[i] = ++made[thread];
    }
    if (!made) {
        free(number);
        number = NULL;
    }
    free(made);
    return number;
}

static bool is_wake(uint64_t record)
{
    unsigned op = PCT_RECORD_OP(record), argument = PCT_RECORD_ARG(record);
    return (op == PCT_OP_COND_SIGNAL || op == PCT_OP_FUTEX_WAKE || op == PCT_OP_CHOICE) && argument &&
           argument != PCT_ARG_NOBODY;
}

struct pct_switch pct_switches_back(const struct pct_trace *trace, const uint32_t *number, uint64_t at, uint32_t to)
{
    uint32_t thread = PCT_RECORD_THREAD(trace->records[at]);
    uint64_t i = at;
    while (i && (PCT_RECORD_OP(trace->records[i]) == PCT_OP_OUTSIDE || PCT_RECORD_THREAD(trace->records[i]) != thread))
        i--;
    struct pct_switch back = { .thread = thread, .made = number[i], .value = to, .back = true, .step = at };
    while (i < at && PCT_RECORD_OP(trace->records[++i]) == PCT_OP_OUTSIDE)
        back.made++; /* of the thread that ran last */
    return back;
}

/* Whom the process waited for behind this record, up to that one. */
static void add_awaited(struct pct_switches *switches, const struct pct_trace *trace, const uint32_t *number,
                        uint64_t last, uint64_t next)
{
    uint32_t came = PCT_RECORD_THREAD(trace->records[next - 1]), to = PCT_RECORD_THREAD(trace->records[next]);
    switches->item[switches->count++] = (struct pct_switch){ .thread = PCT_RECORD_THREAD(trace->records[last]),
                                                             .made = number[last],
                                                             .value = came,
                                                             .awaits = true,
                                                             .step = last };
    if (came != to)
        switches->item[switches->count++] = pct_switches_back(trace, number, next - 1, to);
}

/* Whether others go first by default between these two steps of a thread, which yields, goes to sleep or has asked in
 * vain: that it went on itself is a choice like a switch. */
static bool stays(uint64_t last, uint64_t next)
{
    return PCT_RECORD_OP(next) == PCT_OP_YIELD || PCT_RECORD_OP(next) == PCT_OP_SLEEP ||
           (PCT_RECORD_ARG(last) == PCT_ARG_BUSY && !is_wake(last)) ||
           (PCT_RECORD_ARG(last) == PCT_ARG_TIMEOUT && PCT_RECORD_OP(last) == PCT_OP_POLL);
}

static int from_trace(struct pct_switches *switches, const struct pct_trace *trace, bool outside)
{
    uint32_t *number = pct_switches_number(trace);
    switches->count = 0;
    switches->item = calloc(3 * trace->count + 1, sizeof *switches->item);
    uint64_t last = UINT64_MAX; /* the index of the record before, of those that count */
    for (uint64_t i = 0; number && switches->item && i < trace->count; i++) {
        uint64_t record = trace->records[i];
        uint32_t thread = PCT_RECORD_THREAD(record);
        if (PCT_RECORD_OP(record) == PCT_OP_OUTSIDE)
            continue;
        uint32_t before = last == UINT64_MAX ? 0 : PCT_RECORD_THREAD(trace->records[last]);
        bool waited = outside && last != UINT64_MAX && last + 1 < i;
        if (waited)
            add_awaited(switches, trace, number, last, i);
        /* That a thread waits on until its deadline, though others could run, is a choice like a switch. */
        if (!waited && last != UINT64_MAX &&
            (before != thread || PCT_RECORD_OP(record) == PCT_OP_DEADLINE ||
             (last + 1 == i && stays(trace->records[last], record))))
            switches->item[switches->count++] =
                (struct pct_switch){ .thread = before, .made = number[last], .value = thread, .step = last };
        if (is_wake(record))
            switches->item[switches->count++] = (struct pct_switch){
                .thread = thread, .made = number[i] - 1, .value = PCT_RECORD_ARG(record), .wake = true, .step = i
            };
        last = i;
    }
    bool failed = !number || !switches->item;
    free(number);
    if (failed)
        pct_switches_free(switches);
    return failed ? -ENOMEM : 0;
}

int pct_switches_from_trace(struct pct_switches *switches, const struct pct_trace *trace)
{
    return from_trace(switches, trace, false);
}

int pct_switches_from_outside(struct pct_switches *switches, const struct pct_trace *trace)
{
    return from_trace(switches, trace, true);
}

const char *pct_switch_letter(const struct pct_switch *item)
{
    return item->wake ? "w" : item->awaits ? "a" : item->back ? "b" : "";
}

char *pct_switches_format(const struct pct_switches *switches, const bool *keep)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    const char *between = "";
    for (size_t i = 0; i < switches->count; i++) {
        const struct pct_switch *item = &switches->item[i];
        if (keep && !keep[i])
            continue;
        fprintf(out, "%s%u.%u.%s%u", between, item->thread, item->made, pct_switch_letter(item), item->value);
        between = "-";
    }
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

int pct_switches_parse(struct pct_switches *switches, const char *text)
{
    switches->count = 0;
    switches->item = calloc(pct_list_count(text) + 1, sizeof *switches->item);
    if (!switches->item)
        return -ENOMEM;
    while (*text) {
        struct pct_switch *item = &switches->item[switches->count++];
        bool fine = pct_list_number(&text, &item->thread) && pct_list_skip(&text, '.') &&
                    pct_list_number(&text, &item->made) && pct_list_skip(&text, '.');
        item->wake = fine && pct_list_skip(&text, 'w');
        item->awaits = fine && !item->wake && pct_list_skip(&text, 'a');
        item->back = fine && !item->wake && !item->awaits && pct_list_skip(&text, 'b');
        if (!fine || !pct_list_number(&text, &item->value) || item->thread >= PCT_MAX_THREADS ||
            (*text && (!pct_list_skip(&text, '-') || !*text))) {
            pct_switches_free(switches);
            return -EINVAL;
        }
    }
    return 0;
}

void pct_switches_free(struct pct_switches *switches)
{
    free(switches->item);
    *switches = (struct pct_switches){ 0 };
}

void pct_switches_prepare(struct pct_config *config)
{
    config->given = 0;
    config->has_hash = false;
    config->list[0] = '\0';
    snprintf(config->strategy, sizeof config->strategy, "%s", pct_strategy_schedule.name);
}

bool pct_switches_configure(struct pct_config *config, const char *list)
{
    if (!list || strlen(list) >= sizeof config->list)
        return false;
    pct_switches_prepare(config);
    strcpy(config->list, list);
    return pct_config_fits(config, &pct_strategy_schedule);
}
