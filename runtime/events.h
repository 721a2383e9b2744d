/* How the runtime library tells libpct.so of memory accesses: by the functions of preload/memory.h, if libpct.so is
 * there. Without it, each costs a test. */
#ifndef PCT_RUNTIME_EVENTS_H
#define PCT_RUNTIME_EVENTS_H

#include <preload/memory.h>

#define PCT_RUNTIME __attribute__((visibility("default")))

/* Undefined, and so NULL, unless libpct.so was preloaded. */
#pragma weak pct_memory_access
#pragma weak pct_memory_after
#pragma weak pct_memory_fence
#pragma weak pct_memory_fresh
#pragma weak pct_memory_function
#pragma weak pct_memory_function_exit
#pragma weak pct_memory_order
#pragma weak pct_memory_ignore
#pragma weak pct_memory_benign

#define PCT_WATCHED __builtin_expect(pct_memory_access != NULL, 0)

/* In a function that compiled code calls: where that code is. */
#define PCT_CALLER __builtin_return_address(0)

static inline __attribute__((always_inline)) void pct_access(const volatile void *address, size_t size, unsigned what,
                                                             const void *pc)
{
    if (PCT_WATCHED)
        pct_memory_access(address, size, what, pc);
}

#endif
