/* Delta debugging: the fewest of some parts with which a test still holds. */
#ifndef PCT_CLI_DELTA_DEBUGGING_H
#define PCT_CLI_DELTA_DEBUGGING_H

#include <stdbool.h>
#include <stddef.h>

/* Where a search stands. A copy of it can go on ahead, as if no test held, and says what would be tried then. */
struct pct_reduction {
    bool *keep; /* [count]: with these parts the test holds */
    size_t count;
    size_t at, chunk; /* the next chunk begins here, and has this many parts of those that are kept */
    bool begun;       /* the empty set was tried */
    bool smaller;     /* something could go in this pass over all parts */
};

/* What is to be tried next. Returns false if there is nothing; otherwise out[count] has the parts to test with. */
bool pct_reduction_next(struct pct_reduction *reduction, bool *out);

/* At most this many more are to be tried, as long as no test holds; with every one that does, it becomes fewer. */
size_t pct_reduction_left(const struct pct_reduction *reduction);

/* Of what is to be tried from here on, the first with which the test holds. Returns 1 and in *which its number, from 0;
 * 0: none of them; negative: give up. */
typedef int pct_delta_debug_first(void *context, struct pct_reduction ahead, size_t *which);

/* Take away from keep[count], with which the test holds, until no single part can go (Zeller and Hildebrandt,
 * "Simplifying and isolating failure-inducing input", 2002: the complements of ever smaller chunks; the empty set
 * first, because many failures need nothing). Returns 0, or what first() returned when it gave up; keep then holds all
 * the same. */
int pct_delta_debug(bool *keep, size_t count, pct_delta_debug_first *first, void *context);

#endif
