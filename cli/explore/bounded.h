/* Exploration of schedules with few preemptions: iterative context bounding (Musuvathi, Qadeer: Iterative Context
 * Bounding, PLDI 2007) with a cache of happens-before. First all schedules without a preemption, then those with one,
 * ...; a beginning of a schedule that leads to the same state as another one, with no fewer preemptions and the same
 * thread running, is not continued. That is exact; sleep sets or wakeup trees under a bound are not, because the
 * schedule that they keep of a class may be one with more preemptions. Knows nothing of processes; the part of search.h
 * that makes bounded searches. Memory from malloc; one thread. */
#ifndef PCT_CLI_BOUNDED_H
#define PCT_CLI_BOUNDED_H

#include "rank.h"
#include "search.h"

struct pct_bounded;

/* bound: at most this many preemptions, 0 to PCT_BOUND_MAX. by_rank: not by preemptions, but by RankChecker's tuples
 * (rank.h): the same set, in another order. NULL: no memory. */
struct pct_bounded *pct_bounded_new(unsigned bound, bool by_rank);
void pct_bounded_free(struct pct_bounded *b);

/* What the next run is to begin with, valid until pct_bounded_take(). False: there is none. *below: all schedules with
 * fewer preemptions than this have been made. */
bool pct_bounded_next(struct pct_bounded *b, const uint32_t **plan, uint32_t *count, unsigned *below);

/* What another run is going to begin with: pct_search_ahead(). Valid until pct_bounded_take(). */
bool pct_bounded_ahead(struct pct_bounded *b, const uint32_t **plan, uint32_t *count);

/* The run that was asked for; the execution stays the caller's. Returns 1: its class is new; 0: it is not; -ENOMEM; or
 * -EINVAL: the run did not begin as it was to, so that nothing more can be said. */
int pct_bounded_take(struct pct_bounded *b, struct pct_execution *execution, uint64_t *class_);

/* The tuple of the run that was taken last. */
struct pct_tuple pct_bounded_tuple(const struct pct_bounded *b);

/* Beginnings that are still to be continued. */
uint64_t pct_bounded_open(const struct pct_bounded *b);

/* How often one more round of a loop that has any number of them was not tried; *loop: where in the code
 * (pct_event.place). */
uint64_t pct_bounded_untried(const struct pct_bounded *bounded, uint32_t *loop);

#endif
