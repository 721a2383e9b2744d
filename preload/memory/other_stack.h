/* In explored runs: accesses to another thread's stack. */
#ifndef PCT_PRELOAD_MEMORY_OTHER_STACK_H
#define PCT_PRELOAD_MEMORY_OTHER_STACK_H

#include <preload/core/shim.h>

enum { PCT_MAIN_STACK = 8 << 20 }; /* what the first thread's may grow to, mostly */

/* This thread is about to do this at this address, which is not on its own stack. If it is on another thread's, the
 * verdict knows. Where that one's code does not tell of what it does with its stack (--memory below stacks, or what
 * could not be patched), it is no scheduling point. That the owner waits (in a join) helps nothing: what stands between
 * its last operation and that wait, behind pthread_create() for example, runs beside the write, too, and is one step
 * with the operation before it, so no schedule shows that. What nobody tells of is that a function returns, and what
 * calls then put there. */
void pct_other_stack(const struct pct_shim_thread *self, uintptr_t address, unsigned what, uintptr_t pc);

#endif
