/* The mask of signals of the kernel thread that all contexts of a host share: see host_mask.c. */
#ifndef PCT_PRELOAD_HOST_MASK_H
#define PCT_PRELOAD_HOST_MASK_H

#include <stdbool.h>
#include <stdint.h>

/* Look where libc changes it, by the only thread, before the memory is kept. */
void pct_host_mask_prepare(void);

/* From now on it is noted when libc does. With the filter in force. False: it cannot be. */
bool pct_host_mask_begin(void);

/* Where a system call that changes it may stand that is noted. */
void pct_host_mask_code(uintptr_t *from, uintptr_t *to);

/* rt_sigprocmask(), without a system call where that would change nothing; returns the mask before. */
uint64_t pct_host_mask(int how, uint64_t set);

/* It may be another than was known, */
void pct_host_mask_changed(void);

/* or a handler of a signal runs, in which threads may change: for the rest of the run, each exchange asks the kernel.
 */
void pct_host_mask_uncertain(void);

/* This one may run. pct's own say so themselves. */
void pct_host_mask_handler(uint64_t handler);

/* The filter has not let this rt_sigprocmask() through: it is made, with its result in this context, a ucontext_t. In
 * the handler of the signal. */
void pct_host_mask_trapped(void *context);

#endif
