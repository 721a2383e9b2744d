/* Of the events of a run, those that another one may depend on, the newest first, without a look at all the others: for
 * each bit of what events use (uses_of(), clocks.h), and for each thread, which events that is, as a set. Memory from
 * malloc. */
#ifndef PCT_CLI_USERS_H
#define PCT_CLI_USERS_H

#include "execution.h"

struct pct_users {
    uint32_t threads;
    size_t words;    /* of a set */
    uint64_t *set;   /* by bit, and then by thread */
    uint32_t *first; /* by thread, and one more: where its events begin in `event` */
    uint32_t *event; /* by thread and number: which that is */
};

/* Room for these events; none is in a set. Returns 0 or -ENOMEM. */
int pct_users_open(struct pct_users *users, const struct pct_execution *execution);
void pct_users_close(struct pct_users *users);

/* This event of that execution, of which these are the bits, is one of them from now on. */
void pct_users_add(struct pct_users *users, uint32_t index, uint16_t thread, uint64_t uses);

/* Events that are left to be looked at. */
struct pct_users_left {
    const struct pct_users *users;
    uint64_t uses, here; /* here: of those that it may depend on, what is left of this word */
    uint32_t thread;
    size_t word, last; /* words from this one down to that one are left */
};

/* Those before event number `end` that one of this thread with these bits may depend on, but not what has come before
 * it as far as this clock says. */
struct pct_users_left pct_users_before(const struct pct_users *users, uint32_t end, uint32_t thread, uint64_t uses,
                                       const uint32_t *clock);

/* The clock has gone on. */
void pct_users_pass(struct pct_users_left *left, const uint32_t *clock);

/* The next one, plus 1: still, some of these may be known to the clock. 0: no other is left. */
uint32_t pct_users_next(struct pct_users_left *left);

#endif
