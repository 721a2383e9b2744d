/* Beginnings of schedules that are still to be continued, the first to be tried on top. Memory from malloc. */
#ifndef PCT_CLI_WAITING_H
#define PCT_CLI_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pct_beginning {
    uint32_t *plan; /* PCT_PLAN(), with room for one more; from malloc */
    uint32_t count;
    uint32_t tier; /* a lower one comes first; within one, the lower place */
    int64_t place;
    uint32_t order; /* of priorities, behind the plan */
    uint32_t lowest;
    unsigned preemptions;
    bool ahead; /* pct_bounded_ahead() has named it */
};

/* A heap. Begin with zeroes. */
struct pct_waiting {
    struct pct_beginning *at;
    size_t count, room;
};

/* Takes the plan over, unless there is no memory: then it is freed. Returns 0 or -ENOMEM. */
int pct_waiting_push(struct pct_waiting *waiting, const struct pct_beginning *beginning);

/* The first; there is one. Its plan is the caller's. */
struct pct_beginning pct_waiting_pop(struct pct_waiting *waiting);

void pct_waiting_free(struct pct_waiting *waiting);

#endif
