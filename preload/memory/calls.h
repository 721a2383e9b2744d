/* What calls that pct wraps do with the program's memory, for the race detector: no points, so that schedules are the
 * same with it and without. */
#ifndef PCT_PRELOAD_MEMORY_CALLS_H
#define PCT_PRELOAD_MEMORY_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct iovec;
struct pct_shim_thread;

/* The thread, which has the baton and is in a call from before pc, uses this object of libc's: it has taken that lock,
 * say, or gives it back now. PCT_OBJECT_WHOLE: it makes or destroys it. Counts as pct_memory_of_call(). */
enum pct_object_use { PCT_OBJECT_USE, PCT_OBJECT_WHOLE };
void pct_memory_of_object(const struct pct_shim_thread *self, const volatile void *object, enum pct_object_use use,
                          const void *pc);

/* A call from before pc has written `size` bytes to these parts, or read them there. With the baton; else it does
 * nothing. A read is told before the step of the call, so that what it orders is behind it; a write afterwards. Counts
 * only of code that tells of its accesses, or is patched: of other code it is not known what orders it. Leaves errno
 * alone. */
void pct_memory_of_call(const struct iovec *parts, size_t count, size_t size, bool writes, const void *pc);

/* With the baton: code here tells of its accesses, so does all in the same mapping. */
void pct_memory_learn_code(uintptr_t pc);

#endif
