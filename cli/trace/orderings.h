/* What is known of each access of a run beside what it was: what happened before it whatever the schedule is, and which
 * locks its thread held. For predict.h. */
#ifndef PCT_CLI_ORDERINGS_H
#define PCT_CLI_ORDERINGS_H

#include "iroots.h"
#include "trace_read.h"

/* A lock that a thread holds. */
struct pct_section {
    uint64_t lock; /* an object, as accesses have it */
    uint32_t id;   /* another one for each time that it is taken */
    uint32_t by;   /* the access that took it */
    bool shared;   /* for reading */
};

enum { PCT_SECTIONS_MOST = 6 };

/* The locks that a thread holds at some time: those that it took last. */
struct pct_lockset {
    uint32_t count;
    struct pct_section section[PCT_SECTIONS_MOST];
};

struct pct_orderings {
    uint32_t threads;
    uint32_t *clock;   /* of each access: the number of the clock that its thread had; */
    uint32_t *lockset; /* and of its lockset */
    uint32_t *clocks; /* clock n has `threads` entries from n * threads on: how many steps of each thread come before */
    uint32_t clock_count, clock_room;
    struct pct_lockset *locksets;
    uint32_t lockset_count, lockset_room;
};

/* Returns 0 or -ENOMEM. */
int pct_orderings_read(struct pct_orderings *orderings, const struct pct_trace *trace,
                       const struct pct_access *accesses, size_t count);
void pct_orderings_free(struct pct_orderings *orderings);

/* Whether the access that was its thread's step `number` happens before one with this clock, whatever the schedule is.
 */
bool pct_orderings_before(const struct pct_orderings *orderings, uint32_t thread, uint32_t number, uint32_t clock);

/* Whether two threads cannot hold these at the same time. */
bool pct_locksets_exclude(const struct pct_lockset *a, const struct pct_lockset *b);

/* Whether this record says that its call did not get what it asked for. */
bool pct_orderings_failed(uint64_t record);

#endif
