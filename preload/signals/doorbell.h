/* A signal of the shim's own, which ends a wait in the kernel: the keeper's poll() (io.c), because a thread without the
 * baton, or a handler, has something to tell; and the wait of a thread that is outside, because virtual time has come
 * to its deadline (pct_thread.recallable). The latter waits by libc's functions, or the program's call of futex, with a
 * deadline that never comes; the handler lets the kernel say that it came. */
#ifndef PCT_PRELOAD_DOORBELL_H
#define PCT_PRELOAD_DOORBELL_H

#include <preload/core/pass.h>
#include <stdint.h>

/* Reserved: the last real-time signal. */
enum { PCT_DOORBELL = 64 };
#define PCT_DOORBELL_BIT (UINT64_C(1) << (PCT_DOORBELL - 1))

/* Before the first wait that it may end. */
void pct_doorbell_install(void);
/* To this thread of the process. Any thread, also in a signal handler. */
void pct_doorbell_ring(int tid);

/* What stands between these two sends a signal of the shim's to another thread, this one or the watchdog's question,
 * and finds out before whether that thread may have one. */
void pct_bell_begin(void);
void pct_bell_end(void);
/* The calling thread may have none from now on (it sleeps in no wait of the above, and `execs` is set): when this
 * returns, none is on its way to it. What is pending outlives exec, but not its handler: the new program died of it. */
void pct_bell_settle(void);

/* Host: end the wait of a thread that is outside and recallable. False: it was not in it (yet); call again later. With
 * the baton. */
bool pct_recall(struct pct_thread *thread);

/* A call that pct_recall() may end. Whoever makes it is outside, and calls libc's function, or futex, with
 * pct_sched_outside_limit(), or pct_real_deadline(), as its limit: it ends with ETIMEDOUT. */
uint64_t pct_recall_open(struct pct_shim_thread *self);
void pct_recall_close(struct pct_shim_thread *self, uint64_t mask);
/* While it is back from there for a handler, or for good by a cancellation: whether it was in such a call; and there
 * again. */
bool pct_recall_pause(struct pct_shim_thread *self);
void pct_recall_go_on(struct pct_shim_thread *self, bool open);
#define RECALLABLE(self, call)                                                                                         \
    ({                                                                                                                 \
        uint64_t pct_mask_ = pct_recall_open(self);                                                                    \
        __typeof__(call) pct_call_ = (call);                                                                           \
        pct_recall_close(self, pct_mask_);                                                                             \
        pct_call_;                                                                                                     \
    })

/* CALL_EXTERNAL() for a wait for other processes until a virtual deadline, PCT_NEVER. kin: they are the family alone.
 */
#define CALL_SHARED(self, op, deadline, kin, call)                                                                     \
    ({                                                                                                                 \
        pct_probe_stack();                                                                                             \
        pct_sched_leave(&pct_S, &(self)->core, op, NULL, deadline, kin);                                               \
        pct_signal_away(self);                                                                                         \
        CALL_CANCELLABLE(self, RECALLABLE(self, call));                                                                \
    })

#endif
