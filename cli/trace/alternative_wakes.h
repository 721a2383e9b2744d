/* The wakes of a run that could have been others: signals of condition variables for which several threads waited.
 * Called for the orderings of a run (orders.h). */
#ifndef PCT_CLI_ALTERNATIVE_WAKES_H
#define PCT_CLI_ALTERNATIVE_WAKES_H

#include "trace_read.h"
#include <stddef.h>

struct pct_wake {
    uint64_t step;  /* the index of the signal's record in the trace */
    uint32_t woken; /* the thread that it woke */
};

struct pct_alternative_wakes {
    struct pct_wake *item; /* in the order of the trace */
    size_t count;
};

/* Wakes of which the trace does not say for sure whom they woke, because a wait had run out of time about then, are
 * left out; so are those of futexes, of which it does not say how many they woke. Returns 0, or -ENOMEM. */
int pct_alternative_wakes_from_trace(struct pct_alternative_wakes *wakes, const struct pct_trace *trace);
void pct_alternative_wakes_free(struct pct_alternative_wakes *wakes);

/* Whom the signal with this record woke, PCT_NO_THREAD: it had no choice. */
uint32_t pct_alternative_wakes_find(const struct pct_alternative_wakes *wakes, uint64_t step);

#endif
