/* Threads that use each other's stacks: see other_stack.h. Stacks that libc would place are where the explored run has
 * put them, so a stack is known before its thread has told of anything. Its end has the thread's static TLS. */
#include "memory.h"
#include "other_stack.h"
#include <sched/log.h>

static bool is_on_stack(const struct pct_shim_thread *thread, uintptr_t address)
{
    const uintptr_t from = thread->core.id ? thread->stack_given : pct_shim.main_stack - PCT_MAIN_STACK;
    const size_t size = !thread->core.id ? PCT_MAIN_STACK : from ? thread->stack_size : 0;
    return address - from < size;
}

/* Below where the thread, which stands at a point, has what it needs. */
static bool is_left(const struct pct_shim_thread *thread, uintptr_t address)
{
    return address < (thread->entry ? (uintptr_t)thread->entry : (uintptr_t)thread->inside);
}

static void look_at(const struct pct_shim_thread *owner, uintptr_t address, unsigned what, uintptr_t pc)
{
    const unsigned kind = what & PCT_MEMORY_KIND, reads = 1u << PCT_MEMORY_READ | 1u << PCT_MEMORY_ATOMIC_READ;
    const bool told = !(what & PCT_MEMORY_SEEN) || pct_shim.config.memory >= PCT_PATCH_STACKS;
    if (is_left(owner, address))
        pct_log_doubt_at(&pct_S, PCT_DOUBT_FRAMES, pc);
    if (told && !pct_shim.untold)
        pct_log_assumption(&pct_S, PCT_ASSUMES_FRAMES);
    else if (reads >> kind & 1)
        pct_log_assumption(&pct_S, PCT_ASSUMES_STACK);
    else
        pct_log_doubt_at(&pct_S, PCT_DOUBT_STACK, pc);
}

void pct_other_stack(const struct pct_shim_thread *self, uintptr_t address, unsigned what, uintptr_t pc)
{
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++) {
        const struct pct_shim_thread *t = (const struct pct_shim_thread *)pct_sched_thread(&pct_S, id);
        if (t != self && t->core.state != PCT_STATE_FINISHED && is_on_stack(t, address))
            look_at(t, address, what, pc);
    }
}
