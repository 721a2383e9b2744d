/* Threads that compute and read clocks: to find out how fast they are (gpg-agent, timeit), or until a time has passed.
 * Virtual time does not go on while a thread computes, so they would do so ever longer. */
#ifndef PCT_PRELOAD_COMPUTED_H
#define PCT_PRELOAD_COMPUTED_H

#include <preload/core/shim.h>

/* The thread is about to read a clock. How much CPU time has passed for it that virtual time is to go on by, in ns; 0
 * for nearly all reads: what is soon over, or not done again and again, shall not make the run depend on the machine.
 * spins: it has done nothing else for many reads. With the baton. */
uint64_t pct_computed(struct pct_shim_thread *self, bool spins);

#endif
