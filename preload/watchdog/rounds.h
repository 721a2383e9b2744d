/* Going on instruction by instruction: through a loop, a few rounds of which tell at once what many samples would; and
 * out of libc and our own code, to where the program called it. */
#ifndef PCT_PRELOAD_ROUNDS_H
#define PCT_PRELOAD_ROUNDS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

struct pct_shim_thread;

/* Of one thread, from one place on. */
struct pct_rounds {
    const struct pct_shim_thread *thread;
    uint64_t step; /* that it is in */
    enum pct_rounds_found {
        PCT_ROUNDS_UNTRIED,
        PCT_ROUNDS_GOES,  /* it is under way */
        PCT_ROUNDS_SPINS, /* each brought it back to the state in which it was; or had a PAUSE instruction */
        PCT_ROUNDS_OUT,   /* it is back in the program's code */
        PCT_ROUNDS_OPEN   /* none of these is so, or known */
    } found;
    uint64_t rip, state; /* at the start of each */
    uint64_t last;       /* where it was before this instruction */
    uint64_t from, to;   /* the first and the last place that it came by in the program's code */
    unsigned asked;      /* whether it goes on, so often */
    unsigned instructions, inner, same, changes, pauses;
    bool pause;           /* in this round so far */
    bool writes;          /* memory was written that is no part of a state */
    bool long_run;        /* what it is to be asked at the end */
    unsigned most;        /* instructions at most, if it is on its way out; 0: in a loop */
    uint64_t began, rest; /* then, in ns of the thread's CPU time: begun at; not to be tried again before */
};

/* With the baton, in a signal handler that has interrupted this thread in code of the target's: let it go on from there
 * instruction by instruction. state: as pct_rounds_state() says. Does nothing where a trap would reach somebody else: a
 * debugger. */
void pct_rounds_begin(struct pct_rounds *rounds, struct pct_shim_thread *self, ucontext_t *context, uint64_t state);

/* The same of a thread that was interrupted inside libc or our code (pct_preempt_is_inside()), in no wrapper: let it go
 * on to the first instruction outside, and ask it there again (pct_preempt_ask_here()): libc may have a lock where it
 * is, or count. False: it does not; or the last time it did not come so far in this step, and next time it may take
 * longer. */
bool pct_rounds_leave(struct pct_rounds *rounds, struct pct_shim_thread *self, ucontext_t *context, bool long_run);

/* In a handler: whether it is still under way in this thread. If the frame that it was in has been left, or that takes
 * too long, it is given up. */
bool pct_rounds_go(struct pct_rounds *rounds, const struct pct_shim_thread *self, const ucontext_t *context);

/* A signal has come that the target may handle, which may jump out of there, or spin itself: what was under way there
 * ends, and may begin anew. self: the thread, or NULL. */
void pct_rounds_end(struct pct_shim_thread *self, ucontext_t *context);

/* Whether a loop that these rounds have shown to spin may tell of an access: all that tells is called, or jumped to.
 * One that only pauses may be part of a longer one that does. */
bool pct_rounds_tell(const struct pct_rounds *rounds);

/* Whether what these rounds have shown is certain: without libc, they brought the thread back to the same state, and it
 * wrote nowhere. So it goes round until somebody else writes. */
bool pct_rounds_need_others(const struct pct_rounds *rounds);

/* A signal has come. True: it was the trap behind one of these instructions, and all is done. */
bool pct_rounds_trapped(int signal, const siginfo_t *info, ucontext_t *context);

/* All that decides what the thread does next, but for memory that is not on the top of its stack: a hash. */
uint64_t pct_rounds_state(const ucontext_t *context);

/* Copy what is there of our own memory; zeros, if nothing is. */
void pct_rounds_peek(void *to, uintptr_t from, size_t size);

#endif
