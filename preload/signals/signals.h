/* Signals: what the files of the shim that deal with them share.
 *
 * Handlers run on the turn of their thread. Every handler that the target sets is ours in the kernel (handler.c), which
 * decides by where the thread stands:
 *
 *     it holds the baton, in the target's own code   the handler runs right there, and the baton stays: the thread may
 *                                                    stand inside a lock of libc's that the scheduler does not know
 *     it stands inside a wrapper                     put off until the wrapper waits or returns
 *     it is parked, or in the scheduler              put off; its wait is interrupted, the handler runs on its turn
 *     it waits outside, without the baton            it comes back for the baton, runs the handler, goes on waiting
 *
 * To put off is to block the signal in this thread and to send it on to the thread itself: so the kernel keeps it, with
 * all that belongs to it, and builds the frame on the right stack and with the right mask when it is let in again.
 * Faults are handled where they happen. The signal mask is the kernel's own: nothing is kept beside it.
 *
 *     disposition.c   sigaction and its relatives
 *     handler.c       signals that arrive
 *     signal_send.c   threads that send signals to each other
 *     sigwait.c       threads that wait for signals; masks
 *     context.c       masks of contexts, while pct makes SIGTRAP
 *     trap.c          SIGTRAP, where pct makes it */
#ifndef PCT_PRELOAD_SIGNALS_H
#define PCT_PRELOAD_SIGNALS_H

#include <preload/core/host_mask.h>
#include <preload/core/host_threads.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <signal.h>
#include <ucontext.h>

enum { PCT_SIGNALS = 64, PCT_SIGNAL_QUEUED = 32, PCT_SIGSET_SIZE = 8 }; /* those from 32 on queue up */

/* All but SIGSETXID (33), by which libc's setuid() and the like make all threads follow, and the watchdog asks: one
 * that blocks it while it waits for one of libc's locks would never end their wait. */
#define PCT_SIGNAL_SETXID (UINT64_C(1) << 32)
#define PCT_SIGNALS_ALL (~PCT_SIGNAL_SETXID)
/* Those that libc keeps for itself, and lets no program block: SIGCANCEL, SIGSETXID. */
#define PCT_SIGNALS_OF_LIBC (UINT64_C(1) << 31 | PCT_SIGNAL_SETXID)

/* A set of signals as the kernel has it: bit n-1 for signal n. */
static inline uint64_t pct_signal_bit(int signal)
{
    return signal > 0 && signal <= PCT_SIGNALS ? UINT64_C(1) << (signal - 1) : 0;
}

static inline uint64_t pct_signal_bits(const sigset_t *set)
{
    return *(const uint64_t *)set;
}

/* rt_sigprocmask; returns the mask before. */
static inline uint64_t pct_signal_mask(int how, uint64_t set)
{
    uint64_t before = 0;
    if (PCT_UNLIKELY(pct_host_contexts))
        return pct_host_mask(how, set);
    PCT_SYS4(SYS_rt_sigprocmask, how, &set, &before, PCT_SIGSET_SIZE);
    return before;
}

void pct_signal_start(void) PCT_STARTS;
/* Whether a child process lives that could send a signal that the target handles. */
bool pct_signal_may_come(void);
/* The thread is about to finish: handle what has come, and let nothing in any more. */
uint64_t pct_signal_retire(struct pct_shim_thread *self);

/* Back to the mask before; a signal that was put off and is blocked by it is now one that is pending. */
void pct_signal_restore(struct pct_shim_thread *self, uint64_t mask);

/* For a wait under another mask, and behind it; *outer: what it was before, for the end. What the mask lets in is
 * handled before this returns: whether there was something. As in the kernel, the handler that ends the wait returns to
 * the mask before it: what that blocks stays pending, for the next wait. */
bool pct_signal_mask_begin(struct pct_shim_thread *self, uint64_t mask, struct pct_masked *outer);
void pct_signal_mask_end(struct pct_shim_thread *self, const struct pct_masked *outer);

/* The signals that a crash sends. */
bool pct_signal_is_crash(int signal);

/* disposition.c: what the target set for this signal. */
struct pct_action {
    void (*handler)(int, siginfo_t *, void *); /* or SIG_DFL, SIG_IGN */
    int flags;
    bool masks_trap; /* SIGTRAP is in its mask, but not in the kernel's: trap.h */
};
struct pct_action pct_action_of(int signal);
/* trap.c: from now on the kernel must not ignore SIGTRAP, nor block it in handlers, nor leave the stack for its own, in
 * which a thread may stay for long. */
void pct_action_trap(void);
/* SA_RESETHAND: back to the default. */
void pct_action_reset(int signal);
/* Whether the target has a handler for it; whether it has set any action. */
bool pct_action_handles(int signal);
bool pct_action_any(void);

/* handler.c: whether this thread was interrupted inside a wrapper, or in something that one calls. One that was left by
 * a jump or an exception leaves its mark; but then the stack has shrunk beyond it. */
bool pct_signal_in_wrapper(const struct pct_shim_thread *self, const ucontext_t *context);
/* That, or elsewhere in libpct.so. */
bool pct_signal_in_shim(const struct pct_shim_thread *self, const ucontext_t *context);
/* Whether the caller, a handler, is on the thread's alternate stack. */
bool pct_signal_on_alternate_stack(void);

/* No thread of this process has sent it. */
bool pct_signal_is_foreign(const siginfo_t *info);
/* Whether the thread runs a handler; perhaps, when it has jumped out of one. */
bool pct_signal_is_handling(const struct pct_shim_thread *self);
/* The kernel's handler of all signals that the target handles, and of crashes that it does not. */
void pct_signal_arrive(int signal, siginfo_t *info, void *context);
void pct_signal_crashed(int signal, siginfo_t *info, void *context);
/* In a handler: let the interrupted thread go on instruction by instruction, each with a SIGTRAP behind it, and
 * without; *blocked: SIGTRAP's bit, if the thread had it blocked, and back. False: the kernel would kill for the trap.
 */
enum { PCT_TRAP_FLAG = 0x100 }; /* of the processor's flags */
/* Whether this code, two bytes, is a system call; and whether a trap behind the next instruction, which it is, comes to
 * this thread and is let in: not if that is a system call that changes who handles it, or makes a process. */
bool pct_signal_is_call(const unsigned char *code);
bool pct_signal_may_trap(const unsigned char *code, const ucontext_t *context);
bool pct_signal_trap(ucontext_t *context, uint64_t *blocked);
void pct_signal_trap_end(ucontext_t *context, uint64_t blocked);
bool pct_signal_is_trapping(const ucontext_t *context);
/* At the end of a call that is no scheduling point, and has blocked all signals: those that came before it did, and
 * were put off, come now. self: the caller's, or NULL. */
void pct_signal_let_in(struct pct_shim_thread *self);
/* Let signals in while this call lasts: they are handled on the calling thread's turn. */
void pct_signal_open(struct pct_shim_thread *self);
void pct_signal_close(struct pct_shim_thread *self);

/* signal_send.c: a signal that other threads have sent to one that was parked. */
struct pct_sent {
    struct pct_sent *next;
    siginfo_t info;
    bool any; /* it is one for the process */
};
/* Give the kernel a signal for this thread of ours, or (NULL) for the process. Where the user may not have more of them
 * pending (another process may have them all), it comes without what it tells, as after kill(): the kernel would refuse
 * it. 0 or -errno. Any thread. */
long pct_signal_queue(const struct pct_shim_thread *thread, const siginfo_t *info);
/* The oldest, taken out of the queue. False: there is none. */
bool pct_sent_take(struct pct_shim_thread *self, struct pct_sent *sent);
/* One for the process that the thread blocks by now: as in the kernel, another may have it. With the baton. False: it
 * is none. */
bool pct_sent_passes(const struct pct_shim_thread *self, const struct pct_sent *sent);
/* Send a signal of this process's own to one thread, or (thread NULL) to any that lets it in. With the baton. False:
 * not done, it is for the kernel to do. */
bool pct_signal_direct(struct pct_shim_thread *thread, const siginfo_t *info);
bool pct_signal_direct_any(struct pct_shim_thread *self, const siginfo_t *info);
/* A signal may be pending now that somebody waits for. */
void pct_signal_sent(void);
/* The kernel has been given this signal for a thread, or (NULL) for the process. With the baton. A thread that waits
 * for it outside, or waits there for others and handles it, is back when this returns: otherwise the machine would
 * decide when it is. */
void pct_signal_given(const struct pct_shim_thread *thread, int signal);
/* Wait until the parked threads have met what the kernel has given them. With the baton. */
void pct_signal_settle(void);
/* Whether this thread waits for signals outside, in the kernel, without the baton. By itself, or with the baton. */
bool pct_signal_waits_outside(const struct pct_thread *thread);
/* Pending for this thread, or for the process. */
uint64_t pct_signal_pending(const struct pct_shim_thread *thread);
/* That are read from this signalfd. */
uint64_t pct_signal_of_fd(int fd);
/* That this thread blocks, as the target sees it. */
uint64_t pct_signal_blocked(const struct pct_shim_thread *thread);

#endif
