/* The part of a memory event that most of them end in, without a call that saves registers. Uses general registers
 * only, where it is compiled for these: the slow half of a patched instruction does, as the vector registers are still
 * the program's there. */
#ifndef PCT_PRELOAD_MEMORY_QUICK_H
#define PCT_PRELOAD_MEMORY_QUICK_H

#include "learned_sites.h"
#include "memory.h"
#include <sched/memory.h>
#include <sched/races.h>

static inline enum pct_op pct_memory_op(unsigned what)
{
    static const uint8_t ops[] = { [PCT_MEMORY_READ] = PCT_OP_LOAD,
                                   [PCT_MEMORY_WRITE] = PCT_OP_STORE,
                                   [PCT_MEMORY_ATOMIC_READ] = PCT_OP_ATOMIC_LOAD,
                                   [PCT_MEMORY_ATOMIC_WRITE] = PCT_OP_ATOMIC_STORE,
                                   [PCT_MEMORY_ATOMIC_UPDATE] = PCT_OP_ATOMIC_UPDATE,
                                   [PCT_MEMORY_ATOMIC_TRY] = PCT_OP_ATOMIC_TRY,
                                   [PCT_MEMORY_KIND] = PCT_OP_LOAD };
    return (enum pct_op)ops[what & PCT_MEMORY_KIND];
}

static inline bool pct_memory_atomic(unsigned what)
{
    return (what & PCT_MEMORY_KIND) >= PCT_MEMORY_ATOMIC_READ;
}

/* What the race detector is told of an access: PCT_ACCESS_*. */
static inline unsigned pct_memory_kind(unsigned what)
{
    static const uint8_t kinds[] = { [PCT_MEMORY_READ] = PCT_ACCESS_PLAIN,
                                     [PCT_MEMORY_WRITE] = PCT_ACCESS_PLAIN | PCT_ACCESS_WRITE,
                                     [PCT_MEMORY_ATOMIC_READ] = PCT_ACCESS_KNOWN,
                                     [PCT_MEMORY_ATOMIC_WRITE] = PCT_ACCESS_KNOWN | PCT_ACCESS_WRITE,
                                     [PCT_MEMORY_ATOMIC_UPDATE] = PCT_ACCESS_KNOWN | PCT_ACCESS_WRITE,
                                     [PCT_MEMORY_ATOMIC_TRY] = PCT_ACCESS_KNOWN | PCT_ACCESS_WRITE,
                                     [PCT_MEMORY_KIND] = 0 };
    const unsigned known = what & PCT_MEMORY_SEEN ? 0 : PCT_ACCESS_KNOWN | PCT_ACCESS_TOLD;
    return kinds[what & PCT_MEMORY_KIND] | known | (what & PCT_MEMORY_PLAIN ? PCT_ACCESS_KNOWN : 0);
}

/* Whether the access may change nothing. */
static inline bool pct_memory_looks(unsigned what)
{
    const unsigned looks = 1u << PCT_MEMORY_READ | 1u << PCT_MEMORY_ATOMIC_READ | 1u << PCT_MEMORY_ATOMIC_TRY;
    return looks >> (what & PCT_MEMORY_KIND) & 1;
}

/* Part of pct_memory_quick(), below, where the thread may pass points by itself (pct_memory_own.points): neither the
 * race detector nor a choice of places wants to know. Calls nothing but what may come last. */
static inline __attribute__((always_inline)) bool pct_memory_simple(struct pct_shim_thread *self, uintptr_t address,
                                                                    size_t size, unsigned what)
{
    void *const *cells = pct_memory_view.cells;
    if ((address & 7) + size > 8)
        return false;
    if (!pct_memory_atomic(what) && pct_memory_marked(cells, address, pct_memory_own.mark)) {
        pct_memory_own.quick = pct_memory_view.quick;
        return true;
    }
    return pct_sched_is_shared(&pct_S) && pct_memory_pass(&pct_S, cells, &self->core, &self->recent, address,
                                                          pct_memory_op(what), pct_memory_looks(what));
}

/* All of pct_memory_access() by the thread that holds the baton, where that is little: no other thread has to do with
 * the location, and the race detector knows of the access; or it is a scheduling point at which nobody is asked. False:
 * nothing was done, call pct_memory_access(). */
static inline __attribute__((always_inline)) bool pct_memory_quick(struct pct_shim_thread *self, uintptr_t address,
                                                                   size_t size, unsigned what)
{
    if (PCT_LIKELY(pct_memory_own.points == self))
        return pct_memory_simple(self, address, size, what);
    void *const *cells = pct_memory_view.cells;
    if ((address & 7) + size > 8 || !cells || pct_memory_atomic(what) ||
        !pct_memory_marked(cells, address, pct_memory_own.mark))
        return false;
    pct_memory_own.quick = pct_memory_view.quick;
    return !pct_memory_view.wants_all ||
           /* Who learns which places are ordered wants to hear of each. */
           (!pct_ordered_active &&
            pct_races_repeated(pct_sched_races(&pct_S), self->core.id, address, size, pct_memory_kind(what)));
}

#endif
