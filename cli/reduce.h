/* Delta debugging: the fewest of some parts with which a test still holds. */
#ifndef PCT_CLI_REDUCE_H
#define PCT_CLI_REDUCE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the test still holds with these parts: 1 or 0; negative: give up. */
typedef int pct_reduce_test(void *context, const bool *keep, size_t count);

/* Take away from keep[count], with which the test holds, until no single part can go (Zeller and Hildebrandt, "Simplifying and
 * isolating failure-inducing input", 2002: the complements of ever smaller chunks; the empty set first, because many failures
 * need nothing). Returns 0, or what the test returned when it gave up; keep then holds all the same. */
int pct_reduce(bool *keep, size_t count, pct_reduce_test *test, void *context);

#endif
