/* The numbers that a run got from pct_choose(): see choices.h. */
#include "choices.h"
#include <pct/strategy.h>
#include <stdlib.h>

/* The first choice from this record on, of this thread or (PCT_MAX_THREADS) of any; the count of records: none. */
static uint64_t next_choice(const struct pct_trace *trace, uint64_t at, uint32_t thread)
{
    for (; at < trace->count; at++) {
        uint64_t record = trace->records[at];
        if (PCT_RECORD_OP(record) == PCT_OP_CHOICE &&
            (thread == PCT_MAX_THREADS || PCT_RECORD_THREAD(record) == thread))
            break;
    }
    return at;
}

bool pct_choices_made(const struct pct_trace *trace)
{
    return next_choice(trace, 0, PCT_MAX_THREADS) < trace->count;
}

bool pct_choices_include(const struct pct_trace *trace, const struct pct_trace *other)
{
    uint64_t *at = calloc(PCT_MAX_THREADS + 1, sizeof *at); /* where each thread's next one is looked for */
    bool same = at;
    for (uint64_t i = 0; same && (i = next_choice(other, i, PCT_MAX_THREADS)) < other->count; i++) {
        uint32_t thread = PCT_RECORD_THREAD(other->records[i]);
        uint64_t found = next_choice(trace, at[thread], thread);
        same = found < trace->count && PCT_RECORD_ARG(trace->records[found]) == PCT_RECORD_ARG(other->records[i]);
        at[thread] = found + 1;
    }
    free(at);
    return same;
}
