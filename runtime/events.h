/* How the runtime library tells libpct.so of memory accesses: by the functions of preload/memory.h, if libpct.so is
 * there. Without it, each costs a test. */
#ifndef PCT_RUNTIME_EVENTS_H
#define PCT_RUNTIME_EVENTS_H

#include <preload/memory.h>
#include <sched/memory.h>

#define PCT_RUNTIME __attribute__((visibility("default")))

/* Undefined, and so NULL, unless libpct.so was preloaded; the variables are then its, too, as it comes first in look-up. */
#pragma weak pct_memory_access
#pragma weak pct_memory_after
#pragma weak pct_memory_fence
#pragma weak pct_memory_fresh
#pragma weak pct_memory_function
#pragma weak pct_memory_function_exit
#pragma weak pct_memory_order
#pragma weak pct_memory_ignore
#pragma weak pct_memory_benign

#define PCT_WATCHED __builtin_expect(pct_memory_view.active, 0)
#define PCT_CALLS_WATCHED __builtin_expect(pct_memory_view.wants_all, 0)

/* In a function that compiled code calls: where that code is. */
#define PCT_CALLER __builtin_return_address(0)

/* The common case, of a thread's own memory, is without a call; an access that is not aligned may be of two locations, and is asked
 * about. */
static inline __attribute__((always_inline)) void pct_access(const volatile void *address, size_t size, unsigned what,
                                                             const void *pc)
{
    const uintptr_t at = (uintptr_t)address;
    void *const *quick = pct_memory_view.quick;
    if (__builtin_expect(!quick, 0)) {
        if (PCT_WATCHED)
            pct_memory_access(address, size, what, pc);
        return;
    }
    bool within = size == 1 || ((size == 2 || size == 4 || size == 8) && __builtin_expect(!(at & (size - 1)), 1));
    if (what <= PCT_MEMORY_WRITE && within && __builtin_expect(pct_memory_marked(quick, at, pct_memory_own_mark), 1))
        return;
    pct_memory_access(address, size, what, pc);
}

#endif
