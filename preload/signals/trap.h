/* SIGTRAP, where the processor or the kernel makes it for pct: of watchpoints (memory/watch.h) and of patched code that
 * no jump fits into (patch/patch.h). The kernel kills for it if it is ignored, and kills, or keeps it back, if it is
 * blocked. So while it may come, it is neither in the kernel, and the target sees what it has set. */
#ifndef PCT_PRELOAD_TRAP_H
#define PCT_PRELOAD_TRAP_H

#include <preload/core/shim.h>
#include <signal.h>
#include <ucontext.h>

enum pct_trap_cause { PCT_TRAP_WATCH = 1, PCT_TRAP_CODE = 2 };

/* What it may come of: the sum of those. */
extern unsigned pct_traps;

/* With the baton: from now on it may come of this. In a child, end it: no more. */
void pct_trap_start(enum pct_trap_cause cause);
void pct_trap_end(enum pct_trap_cause cause);

/* The calling thread is new, and has its signal mask; with the baton. */
void pct_trap_begin(struct pct_shim_thread *self);

/* The target wants to change this thread's mask so: what the kernel is to be asked. without: room for it. */
const sigset_t *pct_trap_mask(struct pct_shim_thread *self, int how, const sigset_t *set, sigset_t *without);

/* Behind a system call rt_sigprocmask of the target's own, which has been done: likewise. */
void pct_trap_settle(struct pct_shim_thread *self, int how, const uint64_t *set, uint64_t *old);

/* Before a handler of the target's, and behind it: the mask that it finds in its context, and may change, is what the
 * target believes; the kernel goes back to it without SIGTRAP. True: the kernel has it blocked, and shall. */
bool pct_trap_show(const struct pct_shim_thread *self, ucontext_t *context);
void pct_trap_hide(struct pct_shim_thread *self, ucontext_t *context);

/* In a handler of SIGTRAP: true if somebody has sent it to a thread that believes to have it blocked. From here on the
 * kernel blocks it, too, and it is pending. */
bool pct_trap_sent(int signal, const siginfo_t *info, ucontext_t *context);

/* A mask without it, if it may come. */
uint64_t pct_trap_without(uint64_t mask);

#endif
