/* The neighbours of a schedule: the same strategy, seed and parameters, but with the random points at which it does
 * something (change points, delays, preemptions) some steps earlier or later. For `pct check`: after a change of the
 * program, a bug that is still there may have moved by as much. strategies/change_points.h has the parameters that name
 * them. Of a list of switches (strategies/schedule.c) the switches move, by operations of their thread. */
#ifndef PCT_CLI_NEIGHBOURS_H
#define PCT_CLI_NEIGHBOURS_H

#include <cli/base/cli.h>
#include <cli/trace/trace_read.h>

enum { PCT_NEAR_DEFAULT = 2, PCT_NEAR_MAX = 1000 };

/* Where the strategy has no such points, but draws all its decisions: make this configuration of a run's that of the
 * list of the switches which the run has made, by its trace, so that these can be moved. False: it stays as it is, as
 * there are such points, the list is too long for a token, or something is out of memory. */
bool pct_neighbours_take_switches(struct pct_config *config, const struct pct_strategy **strategy,
                                  const struct pct_trace *trace);

/* How many schedules there are up to `near` steps away, with the schedule itself: 1 if the strategy has no such points.
 * With points p > 1, all of them are moved together and each by itself: 1 + 2 * near * (p + 1). */
uint64_t pct_neighbours_count(const struct pct_config *config, const struct pct_strategy *strategy, uint64_t near);

/* Make config the neighbour of this number: 0 is the schedule itself; nearer ones come first. what gets its
 * description, such as "all change points 2 steps later". */
void pct_neighbours_get(struct pct_config *config, const struct pct_strategy *strategy, uint64_t number, char *what,
                        size_t size);

#endif
