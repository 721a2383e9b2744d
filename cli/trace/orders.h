/* Ordering constraints of a run: which operations of different threads depend on each other, in which order the run
 * made them, and whether another run kept to that. The list of the strategy `order`. */
#ifndef PCT_CLI_ORDERS_H
#define PCT_CLI_ORDERS_H

#include "snapshot.h"

#define PCT_STEP_PENDING UINT64_MAX     /* it was about to be made in the end */
#define PCT_STEP_LATER (UINT64_MAX - 1) /* it would have come later: other runs make it */

/* An operation of a thread. */
struct pct_event {
    uint32_t thread, number; /* the thread's own operation, from 1 */
    uint32_t op, count;      /* the count-th of this kind */
    uint32_t end,
        end_count;   /* of one that acquires: the operation that releases it again, likewise; 0: none in this run */
    uint32_t object; /* its number in the trace that this comes from */
    uint64_t step;   /* index of its record there, or PCT_STEP_* */
};

/* `first` came before `then`: the whole critical section, if it is the beginning of one. Of a wake, `first` is the
 * signal, and `then` the end of the wait of the thread that it chose among those that waited. */
struct pct_order {
    struct pct_event first, then;
    bool wake;
};

struct pct_orders {
    struct pct_order *item;
    size_t count;
    size_t wakes;    /* this many wakes stand behind these */
    size_t left_out; /* earlier ones, of a long run */
};

/* The last this many orders of a run, and as many wakes, are looked at: strategies hold every thread against all of
 * them at every step. */
enum { PCT_ORDERS_MOST = 256 };

/* A recorded run. */
struct pct_run_view {
    const struct pct_trace *trace;
    const struct pct_snapshot *snapshot;
};

/* Between operations that depend on each other: those on one object of which not both only read it, or are of no effect
 * on one another; and the end of the process and the operations before and after it. What follows from the others, or
 * from the starts and ends of threads, is left out. In the order of the trace. A run that fails ends before all is
 * done: what its threads would have done then is taken from one that passes (both with sites; NULL: none), as far as it
 * goes the same way. Returns 0, or -ENOMEM. */
int pct_orders_from_trace(struct pct_orders *orders, const struct pct_run_view *failing,
                          const struct pct_run_view *passing);
void pct_orders_free(struct pct_orders *orders);

/* The operation of this number of a thread, as the run has it. False: there is none. */
bool pct_orders_event(struct pct_event *event, const struct pct_trace *trace, uint32_t thread, uint32_t number);

/* Whether an operation gives back what others wait for. */
bool pct_orders_releases(unsigned op);

/* Where this run makes the operation that is event->count-th of its kind: its number, object and step. False: nowhere.
 */
bool pct_orders_find(struct pct_event *event, const struct pct_trace *trace);

/* As the strategy reads it: those for which keep is true, the one at `negated` (SIZE_MAX: none) the other way round. To
 * be freed; NULL if there is no memory. */
char *pct_orders_format(const struct pct_orders *orders, const bool *keep, size_t negated);

/* Two orderings between the same threads, in the same direction, follow from one if the run kept to that as well: the
 * later of the first operations before the earlier of the others. False: it did not. trace: of the failing run. */
bool pct_orders_merge(struct pct_order *into, const struct pct_order *other, const struct pct_trace *trace);

/* Whether the run of this trace broke one of them: then it says nothing about schedules that keep to them. An operation
 * that never came breaks nothing, nor does a signal that had no choice. */
bool pct_orders_broken(const struct pct_orders *orders, const bool *keep, size_t negated,
                       const struct pct_trace *trace);

#endif
