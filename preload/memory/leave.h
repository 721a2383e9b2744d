/* Where a thread that spins gives up the baton, if its code tells of memory accesses (pct-cc). The watchdog finds the
 * spin wherever it is, at a moment of real time; but whether an access comes before the others' or behind is for the
 * schedule to say. A spin goes round for ever in the same accesses, so how often it has done so does not matter, and
 * the baton goes at that of them whose place in the code is the first. */
#ifndef PCT_PRELOAD_LEAVE_H
#define PCT_PRELOAD_LEAVE_H

#include <preload/core/shim.h>

/* The thread, which has the baton and was interrupted in its own code, spins: it is to give up the baton at an access.
 * went_on: the CPU time in ns since it was interrupted last. silent: here it was waited for in vain before. Called in
 * the handler of the watchdog's signal. False: its code tells of none, as far as can be seen, so it loses the baton
 * where it is. */
bool pct_leave_at_access(struct pct_shim_thread *self, uint64_t went_on, bool silent);

/* How often this was said of the thread in this step, if that is often, and it has told of no access since; or 0. By
 * the watchdog. */
uint32_t pct_leave_ignored(const struct pct_shim_thread *thread);

/* The thread, of which this was said, is about to access memory from pc: it may give up the baton, and then returns
 * when it has it again. */
void pct_leave_pass(struct pct_shim_thread *self, uintptr_t pc);

#endif
