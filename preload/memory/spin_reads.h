/* Loops that wait for another thread by looking at memory: patch_event.c knows them by their code
 * (cli/binary/spin_loops.h), memory.c, in programs that were compiled to tell of their accesses, by what they did so
 * far. Uses general registers only, where it is compiled for these. */
#ifndef PCT_PRELOAD_SPIN_READS_H
#define PCT_PRELOAD_SPIN_READS_H

#include <preload/core/shim.h>

/* One more look of such a loop, at this place of up to eight bytes: whether it is in vain. As long as nobody has made a
 * step, but for the looks of this thread, it sees what the last one at this place saw. That one was an access at which
 * others could go first; this one is none, as nothing could come of it that could not come of that. Many are a spin. */
static inline bool pct_looks_in_vain(struct pct_shim_thread *self, uint64_t address, size_t size)
{
    struct pct_shim_looks *looks = &self->looks;
    uint64_t value = 0, step = pct_steps(&pct_S);
    for (size_t i = 0; i < size && i < sizeof value; i++)
        value |= (uint64_t)((const volatile uint8_t *)(uintptr_t)address)[i] << 8 * i;
    uint64_t seen = address ^ value * UINT64_C(0x9e3779b97f4a7c15);
    if (looks->step != step)
        for (unsigned i = 0; i < sizeof looks->seen / sizeof *looks->seen; i++)
            looks->seen[i] = 0;
    bool again = looks->seen[0] == seen || looks->seen[1] == seen || looks->seen[2] == seen || looks->seen[3] == seen;
    if (!again)
        looks->seen[looks->next++ % 4] = seen;
    looks->count = again ? looks->count + 1 : 0;
    looks->step = step;
    return again;
}

/* It has looked in vain: whether that is a spin. */
static inline bool pct_looks_wait(struct pct_shim_looks *looks)
{
    if (looks->count < PCT_MEMORY_SPIN || (pct_sched_alone(&pct_S) && !pct_S.timers_count))
        return false;
    looks->count = 0;
    return true;
}

/* A look was a step itself, and nobody has gone first: that does not matter to those that follow. */
static inline void pct_looks_go_on(struct pct_shim_thread *self)
{
    self->looks.step = pct_steps(&pct_S);
}

#endif
