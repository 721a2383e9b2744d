/* How the runtime library tells libpct.so of memory accesses: by the functions of preload/memory.h, if libpct.so is
 * there. Without it, each costs a test. */
#ifndef PCT_RUNTIME_EVENTS_H
#define PCT_RUNTIME_EVENTS_H

#include <preload/memory.h>
#include <sched/memory.h>

#define PCT_RUNTIME __attribute__((visibility("default")))

/* Undefined, and so NULL, unless libpct.so was preloaded. */
#pragma weak pct_memory_view
#pragma weak pct_memory_own_mark
#pragma weak pct_memory_access
#pragma weak pct_memory_after
#pragma weak pct_memory_fence
#pragma weak pct_memory_fresh
#pragma weak pct_memory_function
#pragma weak pct_memory_function_exit
#pragma weak pct_memory_order
#pragma weak pct_memory_ignore
#pragma weak pct_memory_benign

#define PCT_WATCHED __builtin_expect(&pct_memory_view != NULL && pct_memory_view.active, 0)
#define PCT_CALLS_WATCHED __builtin_expect(&pct_memory_view != NULL && pct_memory_view.wants_all, 0)

/* In a function that compiled code calls: where that code is. */
#define PCT_CALLER __builtin_return_address(0)

static inline __attribute__((always_inline)) void pct_access(const volatile void *address, size_t size, unsigned what,
                                                             const void *pc)
{
    uintptr_t at = (uintptr_t)address;
    if (!PCT_WATCHED)
        return;
    /* The common case, of a thread's own memory, without a call. */
    if (what <= PCT_MEMORY_WRITE && pct_memory_view.cells && (at & 7) + size <= 8 && !pct_memory_view.wants_all &&
        pct_memory_marked(pct_memory_view.cells, at, pct_memory_own_mark))
        return;
    pct_memory_access(address, size, what, pc);
}

#endif
