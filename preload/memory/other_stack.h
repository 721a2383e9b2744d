/* In explored runs of patched code: accesses to what only their thread's own code would name by rsp or a frame pointer.
 */
#ifndef PCT_PRELOAD_MEMORY_OTHER_STACK_H
#define PCT_PRELOAD_MEMORY_OTHER_STACK_H

#include <preload/core/shim.h>

enum { PCT_MAIN_STACK = 8 << 20 }; /* what the first thread's may grow to, mostly */

/* This thread, in patched code, is about to do this at this address, which is not on its own stack. If it is on another
 * thread's, the verdict knows: what that one does with it there is no scheduling point. That it waits (in a join) helps
 * nothing: what stands between its last operation and that wait, behind pthread_create() for example, runs beside the
 * write, too, and is one step with the operation before it, so no schedule shows that. */
void pct_other_stack(const struct pct_shim_thread *self, uintptr_t address, unsigned what);

#endif
