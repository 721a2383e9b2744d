/* Giving up the baton at a certain access of a spin: see leave.h. */
#include "leave.h"
#include "memory.h"
#include <preload/watchdog/preempt.h>

enum {
    /* Accesses of one round of a loop, at most; a loop of more loses the baton wherever it is found. */
    ROUND = 256,
    /* So does one that was found so often and has made none meanwhile, */
    NONE = 16,
    /* and, where there is code that tells, for this much CPU time, in ns. That is long: between two looks a loop may
     * pause for milliseconds, and the machine may count for its time what it took from it. */
    SILENCE = 50 * 1000 * 1000
};

bool pct_leave_at_access(struct pct_shim_thread *self, uint64_t went_on, bool silent)
{
    struct pct_shim_leave *leave = &self->leave;
    if (!leave->wanted || leave->step != pct_steps(&pct_S))
        *leave = (struct pct_shim_leave){ .wanted = true, .step = pct_steps(&pct_S), .first = UINTPTR_MAX };
    else
        leave->went_on += went_on;
    bool patient = pct_shim.told && !silent && leave->went_on < SILENCE;
    leave->wanted = pct_memory_view.active && (leave->accesses || ++leave->found < NONE || patient);
    if (leave->wanted)
        pct_memory_own.quick = NULL; /* so that each access is told of */
    return leave->wanted;
}

uint32_t pct_leave_ignored(const struct pct_shim_thread *thread)
{
    const struct pct_shim_leave *leave = &thread->leave;
    bool silent = __atomic_load_n(&leave->wanted, __ATOMIC_RELAXED) &&
                  !__atomic_load_n(&leave->accesses, __ATOMIC_RELAXED) &&
                  __atomic_load_n(&leave->step, __ATOMIC_RELAXED) == pct_steps(&pct_S);
    uint32_t found = __atomic_load_n(&leave->found, __ATOMIC_RELAXED);
    return silent && found >= NONE ? found : 0;
}

void pct_leave_pass(struct pct_shim_thread *self, uintptr_t pc)
{
    struct pct_shim_leave *leave = &self->leave;
    if (leave->step != pct_steps(&pct_S)) {
        leave->wanted = false;
        return;
    }
    leave->accesses++;
    if (leave->accesses <= ROUND && pc < leave->first)
        leave->first = pc;
    if (leave->accesses > ROUND && (pc == leave->first || leave->accesses > 2 * ROUND)) {
        leave->wanted = false;
        pct_preempt_take(self, pc);
    }
}
