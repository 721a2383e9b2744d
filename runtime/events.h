/* How the runtime library tells libpct.so of memory accesses: by the functions of preload/memory/memory.h, if libpct.so
 * is there. Without it, each costs a test. */
#ifndef PCT_RUNTIME_EVENTS_H
#define PCT_RUNTIME_EVENTS_H

#include <preload/memory/memory.h>
#include <sched/memory.h>

#define PCT_RUNTIME __attribute__((visibility("default")))

/* Undefined, and so NULL, unless libpct.so was preloaded; the variables are then its, too, as it comes first in
 * look-up. */
#pragma weak pct_memory_access
#pragma weak pct_memory_after
#pragma weak pct_memory_expected
#pragma weak pct_memory_more
#pragma weak pct_memory_is_explored
#pragma weak pct_memory_fence
#pragma weak pct_memory_fresh
#pragma weak pct_memory_gone
#pragma weak pct_memory_renewed
#pragma weak pct_memory_function
#pragma weak pct_memory_function_exit
#pragma weak pct_memory_order
#pragma weak pct_memory_ignore
#pragma weak pct_memory_benign

#define PCT_WATCHED __builtin_expect(pct_memory_view.active, 0)
#define PCT_CALLS_WATCHED __builtin_expect(pct_memory_view.wants_all, 0)

/* In a function that compiled code calls: where that code is. */
#define PCT_CALLER __builtin_return_address(0)

/* Whether this plain access, of a size that is a power of two up to sixteen, is of no interest: nobody wants to know,
 * or the place is the thread's own. An access that is not aligned may be of two locations, and is asked about. */
static inline __attribute__((always_inline)) bool pct_own(const volatile void *address, size_t size)
{
    const uintptr_t at = (uintptr_t)address;
    void *const *quick = pct_memory_own.quick;
    if (!quick)
        return __builtin_expect(!pct_memory_view.active, 1);
    return __builtin_expect(!(at & (size - 1)), 1) && pct_memory_marked(quick, at, pct_memory_own.mark) &&
           (size <= 8 || pct_memory_marked(quick, at + 8, pct_memory_own.mark));
}

/* The same for accesses of every kind and size: tells libpct.so of those that may be of interest. */
static inline __attribute__((always_inline)) void pct_access(const volatile void *address, size_t size, unsigned what,
                                                             const void *pc)
{
    const uintptr_t at = (uintptr_t)address;
    void *const *quick = pct_memory_own.quick;
    if (__builtin_expect(!quick, 0)) {
        if (PCT_WATCHED)
            pct_memory_access(address, size, what, pc);
        return;
    }
    bool within = size == 1 || ((size == 2 || size == 4 || size == 8) && __builtin_expect(!(at & (size - 1)), 1));
    if (what <= PCT_MEMORY_WRITE && within && __builtin_expect(pct_memory_marked(quick, at, pct_memory_own.mark), 1))
        return;
    pct_memory_access(address, size, what, pc);
}

#endif
