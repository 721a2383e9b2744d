/* Taking the baton from a thread that runs: preempt.c. */
#ifndef PCT_PRELOAD_PREEMPT_H
#define PCT_PRELOAD_PREEMPT_H

#include <preload/core/shim.h>
#include "rounds.h"

/* What samples of a thread that runs have shown: preempt.c. */
enum { PCT_SPIN_STATES = 48, PCT_SPIN_PLACES = 16 };
struct pct_evidence {
    struct pct_samples {
        const struct pct_shim_thread *thread;
        uint64_t step;
        unsigned count, states, met_again, pauses;
        bool still;          /* the last sample was like the one before */
        bool several;        /* states at one place */
        bool returned;       /* to a state met before */
        uint64_t left;       /* its CPU time at the end of the last look, in ns */
        uint64_t rip, state; /* of the last sample */
        struct {
            uint64_t rip, state;
        } seen[PCT_SPIN_STATES];
    } samples;
    struct pct_rounds rounds;
    struct pct_rounds way; /* out of libc, or out of our own code */
    /* Where spins were found before: there, one sample more is proof enough. A server that waits for its helpers in a
     * loop does so for each request. */
    uint64_t known[PCT_SPIN_PLACES];
    /* Where they told of no access for long: they are not given that time again. */
    uint64_t silent[PCT_SPIN_PLACES];
    const struct pct_shim_thread *asked; /* last */
    uint64_t used;                       /* by that one, without a step: ns of CPU time */
    unsigned known_count, silent_count;
};

/* preempt.c: set up the handler of the signal to threads that run. By the thread with the baton, once there is a second
 * one; alone: before, when libc has no handler of its own yet. False: it has none to build on; then no thread that runs
 * is ever asked. */
bool pct_preempt_listen(bool alone);
/* Begin to send it. Called by the watchdog, which sends one at a time and owns this memory. False: it cannot be told
 * whose code a thread is in. */
bool pct_preempt_start(struct pct_evidence *memory);
/* Find out where libpct.so and libc are, if that is not known: a part of the above that may be done earlier. With the
 * baton. */
bool pct_preempt_locate(void);
/* Whether pc lies in libpct.so itself; in libc; in either of them, or in what code by pct-cc calls. */
bool pct_preempt_is_ours(uintptr_t pc);
bool pct_preempt_is_libcs(uintptr_t pc);
bool pct_preempt_is_inside(uintptr_t pc);
/* Look at what this thread, the holder of the baton, does, which has used so much CPU time without a step. If it spins,
 * or this is long, or a timer's signal was to come by now, and it is not inside libc, it loses the baton. Returns at
 * once. */
void pct_preempt_ask(const struct pct_shim_thread *thread, uint64_t used);
/* The same of the calling thread, in a handler that interrupted it here. */
void pct_preempt_sample(struct pct_shim_thread *self, void *context, uint64_t used);
/* The same behind a filter of system calls, which leaves no other question than whether a timer's signal was to come.
 */
void pct_preempt_sample_confined(struct pct_shim_thread *self, const void *context, uint64_t used);
/* The caller has given up the baton, and is about to wait in a call of the target's: when this returns, no question is
 * on its way to it. That would end many a call with EINTR, though no handler of the target's has run. */
void pct_preempt_settle(const struct pct_shim_thread *self);
/* The caller's thread is to be asked the same as soon as the handler that it is in has returned. */
void pct_preempt_ask_here(const struct pct_shim_thread *self, bool long_run);
/* How long at least this thread is to be left alone before it is asked again, in ns of its CPU time. */
uint64_t pct_preempt_pause(const struct pct_shim_thread *thread);
/* Whether the last question was answered by: it computes. */
bool pct_preempt_computes(void);
/* Stop this thread for good, with its registers in `regs`. Waits for that as long as it runs, or waits for a CPU.
 * tasks: a descriptor of /proc/self/task. */
void pct_preempt_stop(const struct pct_shim_thread *thread, int tasks);

/* The holder of the baton spins, and is about to access memory from pc: it loses the baton, unless nothing could come
 * of that, and returns when it has it again. */
void pct_preempt_take(struct pct_shim_thread *self, uintptr_t pc);

#endif
