/* The thread that looks whether the run goes on: watchdog.c. */
#ifndef PCT_PRELOAD_WATCHDOG_H
#define PCT_PRELOAD_WATCHDOG_H

#include <preload/core/shim.h>

/* A second thread is about to exist, and exists: whether a watchdog is needed turns out as the run goes on.
 * With the baton. */
void pct_watchdog_plan(void);
void pct_watchdog_listen(void);
/* In a fork child: that of the parent is not here. */
void pct_watchdog_forget(void);
/* Whether there is one, or will be in a moment. */
bool pct_watchdog_is_made(void);
/* The kernel's id of the watchdog's own thread; 0: there is none. */
int32_t pct_watchdog_tid(void);
/* Make the watchdog, if there is none yet and there may be one. Any thread, also in a signal handler. */
void pct_watchdog_start(void);
/* Likewise, also for a process with a single thread: the host's tend (struct pct_host). */
void pct_watchdog_tend(void);
/* Likewise, before the process forbids itself system calls: wait until it has made all those of its start. */
void pct_watchdog_have(void);
/* The caller has closed a descriptor. A watchdog that is being made has a copy of it for a moment, which would keep a
 * pipe open, or a lock of a file: return when it has none. Any thread. */
void pct_watchdog_settle(void);
/* The run has ended (pct_shim.ended), and the process goes on: return when the watchdog is gone. Linux takes the exit
 * status of the thread that ends last for the process's. */
void pct_watchdog_await_end(void);
/* As pct_futex_wait(word, 0), for a thread that waits for the baton; it may return for no reason. */
void pct_watchdog_wait(const uint32_t *word);
/* Whether the watchdog took the baton from this thread: it has to come back. */
bool pct_watchdog_took(struct pct_shim_thread *self);

/* Note in the trace's header that the holder of the baton was stuck here. call: the system call it slept in, -1: it
 * ran. */
void pct_watchdog_note(enum pct_uncontrolled kind, const struct pct_shim_thread *thread, int call, uintptr_t pc);

#endif
