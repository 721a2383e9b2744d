/* Processes and threads that the program makes by clone itself: clone.c. */
#ifndef PCT_PRELOAD_CLONE_H
#define PCT_PRELOAD_CLONE_H

#include <stdint.h>

/* Before syscall() of SYS_clone, SYS_clone3 or SYS_fork: the child's slot in the family (family.h), 0: none. Any
 * thread.
 */
uint32_t pct_clone_expect(long number, const long arguments[6]);

#endif
