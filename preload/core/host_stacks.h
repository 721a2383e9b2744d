/* Thread stacks that a host keeps mapped: see host_stacks.c. */
#ifndef PCT_PRELOAD_HOST_STACKS_H
#define PCT_PRELOAD_HOST_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pct_gap;

/* Look where libc maps memory, by the only thread, before the memory is kept. */
void pct_host_stacks_prepare(void);

/* From now on they are kept, with the filter in force. False: it cannot be. */
bool pct_host_stacks_begin(void);

/* Whether they may be: then the target's mmap(), munmap(), mprotect(), madvise(), mremap() and mincore() come here,
 * from system calls in here, or by the trap. */
bool pct_host_stacks_on(void);
void pct_host_stacks_code(uintptr_t *from, uintptr_t *to);

/* Make this system call, with these six arguments, as if no stack were kept. In any process. */
long pct_host_stacks_call(int call, const long *arguments);

/* Whether something in there is kept, mapped for the run or not. */
bool pct_host_stacks_meet(uintptr_t from, size_t size);

/* For a point in the middle of a run (host.h): libc's calls so far. From here on there is nothing but what the run has
 * mapped. False: one is mapped for it. And all is unmapped that was not there at a point with these calls: none is
 * kept. */
bool pct_host_stacks_save(uint64_t *calls);
void pct_host_stacks_load(uint64_t calls);

/* The run is over: unmap all in this gap but what is kept. */
void pct_host_stacks_empty(const struct pct_gap *gap);

/* Have the next ones kept that the run has made; uffd watches what is written. False: what the run has mapped is not
 * known. */
bool pct_host_stacks_settle(int uffd);

/* Pages that are kept, and of these those that can be written. */
void pct_host_stacks_pages(uint64_t *size, uint64_t *data);

/* Whether this place is in one that the run could write. Another one is zero since a run could, and without access. */
bool pct_host_stacks_had(uintptr_t place);

/* What was written is zero again: take them away from the next run. False: it cannot be. */
bool pct_host_stacks_hide(void);

#endif
