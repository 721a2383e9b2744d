/* Giving up the baton at a certain access of a spin: see leave.h. */
#include "leave.h"
#include "memory.h"
#include <preload/watchdog/preempt.h>

/* Accesses of one round of a loop, at most; a loop of more loses the baton wherever it is found. So does one that was
 * found so often and has made none meanwhile: a moment in which the machine did something else is no proof. */
enum { ROUND = 256, NONE = 16 };

bool pct_leave_at_access(struct pct_shim_thread *self)
{
    struct pct_shim_leave *leave = &self->leave;
    if (!leave->wanted || leave->step != pct_steps(&pct_S))
        *leave = (struct pct_shim_leave){ .wanted = true, .step = pct_steps(&pct_S), .first = UINTPTR_MAX };
    leave->wanted = pct_memory_view.active && (leave->accesses || ++leave->found < NONE);
    if (leave->wanted)
        pct_memory_own.quick = NULL; /* so that each access is told of */
    return leave->wanted;
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
