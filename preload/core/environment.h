/* The environment of the program, which stands above the stack of its first thread: copies of that stack have it, too.
 */
#ifndef PCT_PRELOAD_ENVIRONMENT_H
#define PCT_PRELOAD_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

/* PCT_ENVIRONMENT=off: its values shall not be in the trace. environment: the program's, as the kernel has put it
 * there. At the start. */
void pct_environment_hide(char **environment);

/* The values of the environment out of this copy of `size` bytes from address `at` on; nothing unless they are to be
 * hidden. Any thread. */
void pct_environment_clean(void *copy, uintptr_t at, size_t size);

#endif
