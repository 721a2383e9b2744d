/* A run as exploration keeps it: what the search needs of it, and what the verdict does. The search is a function of
 * the runs that it was given, in their order, so an exploration that goes on gives it those of the file (keep.h) again,
 * without making them. Memory from malloc; may be called by anybody. */
#ifndef PCT_CLI_EXPLORED_H
#define PCT_CLI_EXPLORED_H

#include "execution.h"

enum pct_explored_flag {
    PCT_EXPLORED_ENDED = 1,      /* at exit, or in a deadlock */
    PCT_EXPLORED_CUT = 2,        /* a bound or a time limit has ended it */
    PCT_EXPLORED_FAILED = 4,     /* it failed */
    PCT_EXPLORED_CHILDREN = 8,   /* has started programs, or become another one */
    PCT_EXPLORED_DEADLINES = 16, /* had waits with a deadline */
    PCT_EXPLORED_TIMERS = 32,    /* that the outside may end, or timers */
    PCT_EXPLORED_HANDLERS = 64,  /* passed points over */
    PCT_EXPLORED_MEMORY = 128,   /* had accesses to memory as scheduling points */
    PCT_EXPLORED_LOST = 256,     /* its target exited unseen */
    PCT_EXPLORED_WALK = 2048,    /* drew its schedule: walks.h */
    PCT_EXPLORED_RANDOM = 1024,  /* got random numbers of the system's from the seed */
    PCT_EXPLORED_LEFT = 8192,    /* threads lived on when the process began to end, and what they print is judged */
    PCT_EXPLORED_FUTEXES = 4096, /* made futex calls; of runs that are taken, not of those in files */
    PCT_EXPLORED_BLOCKED = 512   /* a loop that waits has ended it: PCT_AWAITED_BLOCKED */
};

struct pct_explored {
    uint32_t flags; /* enum pct_explored_flag */
    uint32_t threads;
    uint32_t doubts;  /* bit i: enum pct_doubt i */
    uint32_t assumes; /* bit i: enum pct_assumption i */
    uint64_t failure; /* the hash of its signature, if it failed */
    struct pct_log_entry *log;
    uint64_t *records;
    uint32_t log_count, record_count;
};

void pct_explored_free(struct pct_explored *run);

/* The events of it. Returns as pct_execution_read(). */
int pct_explored_read(const struct pct_explored *run, struct pct_execution *execution);

/* Log and records as bytes, to be freed by the caller: what is as in the run before, whole: the first entries of both,
 * is not repeated. before: NULL for the first run. Returns 0 or -ENOMEM. */
int pct_explored_pack(const struct pct_explored *run, const struct pct_explored *before, uint8_t **bytes, size_t *size);

/* The other way. Returns 0, -ENOMEM, or -EINVAL: that is no such run. The run owns its memory in any case. */
int pct_explored_unpack(struct pct_explored *run, const struct pct_explored *before, const uint8_t *bytes, size_t size);

#endif
