/* Loops that wait for another thread by reading memory: patch_event.c knows them by their code
 * (cli/binary/spin_loops.h), memory.c, in programs that were compiled to tell of their accesses, by what they did so
 * far. What their reads mean, sched/spin_reads.h says. Uses general registers only, where it is compiled for these. */
#ifndef PCT_PRELOAD_SPIN_READS_H
#define PCT_PRELOAD_SPIN_READS_H

#include <preload/core/shim.h>
#include <sched/log.h>
#include <sched/spin_reads.h>

/* The thread is about to read up to eight bytes there, in such a loop: whether that makes no progress. */
static inline bool pct_read_no_progress(struct pct_shim_thread *self, uint64_t address, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size && i < sizeof value; i++)
        value |= (uint64_t)((const volatile uint8_t *)(uintptr_t)address)[i] << 8 * i;
    bool again = pct_spin_read_no_progress(&pct_S, &self->reads, address, value);
    if (again) /* a loop that counts its rounds does make some */
        pct_log_doubt(&pct_S, PCT_DOUBT_ROUNDS);
    return again;
}

#endif
