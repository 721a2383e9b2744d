/* Watchpoints: every access to a variable that the user has named (--watch) is a scheduling point, in a program that
 * was neither compiled for it nor patched. The processor stops a thread right after the access, before its next
 * instruction; the kernel makes a SIGTRAP of that (perf_event_open(2), `sigtrap`), and its handler is where others may
 * go first (sched/post_access.c).
 *
 * x86 has four watchpoints of up to eight aligned bytes, and does not say whether an access has read or written: one
 * after which the variable has another value is taken for a write, all others for reads. The variables are ranges of a
 * scope (scope.h). (signals/trap.h: what the target sees of the signal.) */
#ifndef PCT_PRELOAD_WATCH_H
#define PCT_PRELOAD_WATCH_H

#include <preload/core/shim.h>
#include <signal.h>
#include <ucontext.h>

/* With the baton, before a thread is made and after pct_scope_look(): watch what has not been watched yet. Ends the
 * process if the kernel does not allow it. */
void pct_watch_look(void);

/* In a handler of SIGTRAP: true if it was a watchpoint's, and nothing is left to do. */
bool pct_watch_trapped(int signal, const siginfo_t *info, ucontext_t *context);

/* In a child: forget all. */
void pct_watch_forget(void);

#endif
