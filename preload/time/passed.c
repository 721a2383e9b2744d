/* See passed.h. */
#include "passed.h"
#include "relative.h"

/* CPU time since the last look. */
static uint64_t ran(struct pct_passed *last, int pid)
{
    uint64_t cpu = pct_relative_cpu(pid), before = last->cpu;
    last->cpu = cpu;
    return cpu - before;
}

bool pct_passed_running(struct pct_passed *last, int pid, uint64_t *passed)
{
    uint64_t used = ran(last, pid);
    *passed = used < *passed ? used : *passed;
    last->slept = false;
    return used;
}

void pct_passed_sleeping(struct pct_passed *last, int pid, uint64_t slice, uint64_t *passed)
{
    uint64_t used = ran(last, pid), most = used > slice ? used : slice;
    if ((used || !last->slept) && *passed > most)
        *passed = most;
    last->slept = true;
}
