/* What the schedules of a campaign have covered: pairs of neighbouring operations of two threads on the same object, in
 * their order. A pair that no run has made yet is a new interleaving of at least those two operations. */
#ifndef PCT_CLI_COVERAGE_H
#define PCT_CLI_COVERAGE_H

#include <cli/trace/trace_read.h>

struct pct_coverage; /* the pairs that are known */

/* NULL when memory is short. */
struct pct_coverage *pct_coverage_new(void);
void pct_coverage_free(struct pct_coverage *coverage);

/* True if this pair was not known. When there are very many (2^20), no more are taken in. */
bool pct_coverage_add(struct pct_coverage *coverage, uint64_t pair);

/* Call each() for the pairs of this trace that were not known, until it returns something else than 0, which is then
 * returned. Of a very long trace only the first 2^20 steps are looked at. */
int pct_coverage_scan(struct pct_coverage *coverage, const struct pct_trace *trace,
                      int (*each)(void *data, uint64_t pair), void *data);

#endif
