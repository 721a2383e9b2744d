/* The CPUs that threads run on: affinity.c. */
#ifndef PCT_PRELOAD_AFFINITY_H
#define PCT_PRELOAD_AFFINITY_H

#include <preload/core/shim.h>

void pct_thread_pin(void);
void pct_affinity_start(const char *cpu) PCT_STARTS;
void pct_affinity_pin(void);
/* A fork server waits on the CPU that PCT_CPU names, or where the command wants it (cli/process/cpu_sharing.c): a run
 * that begins there need not move when it is pinned. The run is free to go until then, as one that was started by exec.
 */
void pct_affinity_wait_there(void);
void pct_affinity_go_free(void);
void pct_affinity_unpin(int32_t tid); /* a thread of ours, not of the target; 0: the caller */
void pct_affinity_inherit(struct pct_shim_thread *thread, const pthread_attr_t *attr);

#endif
