/* See computed.h. */
#include "computed.h"
#include "clock.h"
#include <preload/core/kernel.h>
#include <preload/core/point.h>
#include <preload/core/real.h>
#include <preload/thread/proc_task.h>

#define MS UINT64_C(1000000)
/* CPU time between two reads that is long, and of a loop of reads until time goes on; and how often it is so before. */
#define LONG (200 * MS)
enum { OFTEN = 3 };
/* Real time between two looks at the CPU time, which is a system call. */
#define LOOK (10 * MS)

/* A loop that does nothing but compute and read clocks. */
static uint64_t of_loop(struct pct_computed *c, uint64_t cpu)
{
    const bool goes_on = c->step == pct_steps(&pct_S);
    const uint64_t used = goes_on && cpu > c->from ? cpu - c->from : 0;
    c->step = pct_steps(&pct_S) + 1;
    if (!goes_on || used >= LONG)
        c->from = cpu;
    return used < LONG ? 0 : used;
}

uint64_t pct_computed(struct pct_shim_thread *self, bool spins)
{
    struct pct_computed *c = &self->computed;
    struct timespec now;
    if (!pct_sched_is_virtual(&pct_S) || pct_sched_is_still(&pct_S) || pct_shim.confined ||
        REAL(clock_gettime)(CLOCK_MONOTONIC_COARSE, &now))
        return 0;
    const uint64_t real = pct_nanoseconds(&now);
    if (!spins && real - c->real < LOOK)
        return 0;
    const uint64_t cpu = pct_task_cpu(self->tid), used = c->real && cpu > c->cpu ? cpu - c->cpu : 0;
    c->real = real;
    c->cpu = cpu;
    if (used >= LONG)
        c->times++;
    const uint64_t loop = spins ? of_loop(c, cpu) : 0, passed = used >= LONG && c->times >= OFTEN ? used : loop;
    if (passed)
        pct_uncontrolled(PCT_UNCONTROLLED_COMPUTED);
    return passed;
}
