/* All schedules of a program with few preemptions, in the order of their number: those without one, then those with
 * one, ... A schedule is a list for the strategy `schedule`. What can be done differently is read from the traces of
 * the runs: from the schedule without switches come those with one switch more, and so on.
 *
 * A preemption is a switch away from a thread that could go on, before an operation on something that another thread
 * uses in the same run, unless both only read it; or on anything, where a thread was stopped before its end, so that it
 * is not known what it would have used. Where a thread cannot go on, and for the waiter that a signal wakes,
 * every choice is made, and counts as none. A crash is made once, whatever others have done before that has nothing to
 * do with it. No two lists are the same schedule, but where a thread that is switched to
 * turns out not to be able to run, which a trace does not always say; such a run counts in `repeated`.
 *
 * Lists may be asked for ahead of the results; which come in which order does not depend on how far. Knows nothing of
 * processes. Memory from malloc; one thread. */
#ifndef PCT_CLI_PREEMPTIONS_H
#define PCT_CLI_PREEMPTIONS_H

#include <cli/trace/trace_read.h>

enum { PCT_PREEMPTIONS_MOST = 2 };

struct pct_preemptions;

/* Those with at most `bound` preemptions, 0 to PCT_PREEMPTIONS_MOST. NULL: no memory. */
struct pct_preemptions *pct_preemptions_new(unsigned bound);
void pct_preemptions_free(struct pct_preemptions *p);

/* The list of the next schedule, "" for the first; it lives as long as p. NULL: there is none, or none before another
 * result was taken. */
const char *pct_preemptions_next(struct pct_preemptions *p);

/* What the earliest schedule that was asked for, and not taken yet, has become. trace: NULL: the run says nothing, and
 * leads to no others. Returns 0 or -ENOMEM. */
int pct_preemptions_take(struct pct_preemptions *p, const struct pct_trace *trace);

struct pct_preemptions_state {
    uint64_t asked;    /* lists that were handed out; */
    uint64_t taken;    /* and of these, results that were taken; */
    uint64_t repeated; /* and of these, runs that had been made before */
    uint64_t orders;   /* schedules without a preemption, by what the first one shows; 0: it was not taken */
    uint64_t begun;  /* of those with as few preemptions as any that is still to be taken, this many were handed out; */
    uint64_t likely; /* before the first of them: this many there are likely to be, by what their parents show */
    unsigned below;  /* all schedules with fewer preemptions have been taken */
    bool loops;      /* a thread spun or yielded while several others could run: not all orders of these were made */
};
struct pct_preemptions_state pct_preemptions_look(const struct pct_preemptions *p);

#endif
