/* Early time-outs: see early_timeouts.h. */
#include "early_timeouts.h"
#include <cli/base/cli.h>
#include "schedule.h"

enum { SHOWN = 4 };

uint64_t pct_early_timeouts_count(const struct pct_trace *trace)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < trace->count; i++)
        count += PCT_RECORD_OP(trace->records[i]) == PCT_OP_DEADLINE;
    return count;
}

/* The thread's next record, or, if it came to nothing more, the one before; `at` if there is neither. */
static uint64_t neighbour(const struct pct_trace *trace, uint64_t at)
{
    uint32_t thread = PCT_RECORD_THREAD(trace->records[at]);
    for (uint64_t i = at + 1; i < trace->count; i++)
        if (PCT_RECORD_THREAD(trace->records[i]) == thread)
            return i;
    for (uint64_t i = at; i-- > 0;)
        if (PCT_RECORD_THREAD(trace->records[i]) == thread)
            return i;
    return at;
}

/* The wait that this record ended, in words. Returns buffer. */
static const char *name_wait(char *buffer, size_t size, const struct pct_trace *trace, uint64_t at)
{
    uint64_t i = neighbour(trace, at);
    if (i == at) {
        snprintf(buffer, size, "wait");
        return buffer;
    }
    unsigned op = PCT_RECORD_OP(trace->records[i]);
    op = op == PCT_OP_AWAKE         ? PCT_OP_SLEEP
         : op == PCT_OP_COND_WAKE   ? PCT_OP_COND_WAIT
         : op == PCT_OP_FUTEX_WOKEN ? PCT_OP_FUTEX_WAIT
                                    : op;
    return pct_schedule_format(buffer, size, op, 0, PCT_RECORD_OBJECT(trace->records[i]));
}

void pct_early_timeouts_print(FILE *out, const struct pct_trace *trace)
{
    char wait[96];
    uint64_t count = pct_early_timeouts_count(trace), shown = 0;
    if (!count)
        return;
    fputs(PCT_EARLY_TIMEOUTS_BEGINS " (--slack=0 does without):\n", out);
    for (uint64_t i = 0; i < trace->count && shown < SHOWN; i++) {
        uint64_t record = trace->records[i];
        if (PCT_RECORD_OP(record) != PCT_OP_DEADLINE)
            continue;
        shown++;
        fprintf(out, "    step %llu: thread %u's %s, %.3f ms early\n", (unsigned long long)(trace->first + i + 1),
                PCT_RECORD_THREAD(record), name_wait(wait, sizeof wait, trace, i),
                (double)PCT_RECORD_TIME(record) / 1000);
    }
    if (count > shown)
        fprintf(out, "    and %llu more\n", (unsigned long long)(count - shown));
}
