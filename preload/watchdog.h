/* What watchdog.c and preempt.c share. */
#ifndef PCT_PRELOAD_WATCHDOG_H
#define PCT_PRELOAD_WATCHDOG_H

#include "shim.h"

/* preempt.c: signals to threads that run. Called by the watchdog, which sends one at a time. */
bool pct_preempt_start(void);
/* Find out where libpct.so and libc are, if that is not known: a part of the above that may be done earlier. */
bool pct_preempt_locate(void);
/* Whether pc lies in libpct.so itself. */
bool pct_preempt_is_ours(uintptr_t pc);
/* Look at what this thread, the holder of the baton, does; if it spins, or `long_run` and it is not inside libc, it loses
 * the baton. Returns at once. */
void pct_preempt_ask(const struct pct_shim_thread *thread, bool long_run);
/* Whether the last question was answered by: it computes. */
bool pct_preempt_computes(void);
/* Stop this thread for good, with its registers in `regs`. Waits for that, but not for ever. */
void pct_preempt_stop(const struct pct_shim_thread *thread);

/* Note in the trace's header that the holder of the baton was stuck here. call: the system call it slept in, -1: it ran. */
void pct_watchdog_note(enum pct_uncontrolled kind, const struct pct_shim_thread *thread, int call, uintptr_t pc);

#endif
