/* What the events of a program use behind their operation, until the next scheduling point, in all its runs. Which of
 * two threads came first may decide that: one that gets a lock goes on to something else than one that does not. A
 * search takes an event to be the same wherever it could come, so where this differs, the event is to count as using
 * all of it, from the beginning of a search on. Memory from malloc. */
#ifndef PCT_CLI_FOOTPRINTS_H
#define PCT_CLI_FOOTPRINTS_H

#include "execution.h"
#include <cli/base/table.h>

struct pct_footprint;

enum { PCT_FOOTPRINT_KINDS = 9 }; /* of what threads use between scheduling points: the keys from PCT_KEY_HIDDEN on */

/* Begin with zeroes. */
struct pct_footprints {
    /* Events are known by a hash of their thread's past and of themselves, but for what came of them. */
    struct pct_table used; /* of each that has used something, in some run: struct pct_footprint * */
    uint32_t *seen;        /* all events, as half of the hash: they are many, and a pct_table of them has twice to four
                              times the size. Open addressing. One that is taken for another one is only thought to
                              differ from run to run */
    size_t seen_count, seen_room;
    uint64_t users[PCT_FOOTPRINT_KINDS], writers[PCT_FOOTPRINT_KINDS]; /* bit i: thread i, modulo 64 */
};

/* Note what the events of this run use, and let them use all that was known when pct_footprints_begin() was called
 * last. Returns 0 or -ENOMEM. */
int pct_footprints_take(struct pct_footprints *footprints, struct pct_execution *execution);

/* A search is over. Returns whether it is to begin again: events have used, in some runs, what they have not in others,
 * which was not known when it began, and other threads use that as well. */
bool pct_footprints_begin(struct pct_footprints *footprints);

void pct_footprints_free(struct pct_footprints *footprints);

#endif
