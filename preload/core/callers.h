/* From where a function was called, by the unwind tables that compilers put beside the code (.eh_frame): most code of
 * today has no frame pointers. On the turn of the thread that holds the baton, of its own stack. */
#ifndef PCT_PRELOAD_CALLERS_H
#define PCT_PRELOAD_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

/* Where a thread stands in a function: what has to be known to find its caller. */
struct pct_caller {
    uint64_t pc; /* behind the call that it has made there, or one byte into the instruction that it is at */
    uint64_t sp, bp;
};

/* Go on to where this function was called. Only what is in the stack's page, or can be read without harm, is read.
 * False: that is not known, and nothing is changed. */
bool pct_caller_next(struct pct_caller *at);

/* Copies memory that may not be there. Returns how many bytes. */
uint64_t pct_caller_copy(void *out, uint64_t from, uint64_t size);

#endif
