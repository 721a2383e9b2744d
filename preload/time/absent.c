/* See absent.h. */
#include "absent.h"
#include "family.h"
#include <preload/core/point.h>

/* Once is chance, and programs that sleep now and then look for what is optional. */
enum { TRIES = 10 };

static PCT_OF_RUN bool any; /* thread may be waiting so */

void pct_absent_sleeps(struct pct_shim_thread *self)
{
    self->absences = self->absent ? self->absences + 1 : 0;
    self->absent = false;
    if (self->absences == TRIES)
        pct_uncontrolled(PCT_UNCONTROLLED_OUTSIDE);
    any |= self->absences >= TRIES;
}

bool pct_absent_awaited(void)
{
    if (!any || pct_family_relatives())
        return false;
    for (uint32_t id = 0; id < pct_S.threads; id++) {
        const struct pct_shim_thread *thread = &pct_shim.slots[id];
        enum pct_state state = thread->core.state;
        bool blocked = state == PCT_STATE_BLOCKED && thread->core.wait.op != PCT_OP_AWAKE;
        if (thread->absences >= TRIES && !blocked && state != PCT_STATE_FINISHED)
            return true;
    }
    return false;
}
