/* See absent.h. */
#include "absent.h"
#include "family.h"
#include "vtimer.h"
#include <preload/core/kernel.h>
#include <preload/core/point.h>

/* Once is chance, and programs that sleep now and then look for what is optional. */
enum { TRIES = 10 };

/* A program of several threads waits no longer than this in all: it may look for what is optional, while a wake-up that
 * its others wait for is lost. */
static const uint64_t MOST_NS = UINT64_C(10000000000);

static PCT_OF_RUN struct {
    bool any;        /* thread may be waiting so */
    bool real;       /* one has */
    bool over;       /* and none will again */
    uint64_t waited; /* ns */
    uint64_t until;  /* that it went on for this deadline is in it */
} waits;

void pct_absent_sleeps(struct pct_shim_thread *self)
{
    self->absences = self->absent ? self->absences + 1 : 0;
    self->absent = false;
    waits.any |= self->absences >= TRIES;
}

static bool waits_so(const struct pct_shim_thread *thread)
{
    bool blocked = thread->core.state == PCT_STATE_BLOCKED && thread->core.wait.op != PCT_OP_AWAKE;
    return thread->absences >= TRIES && !blocked && thread->core.state != PCT_STATE_FINISHED;
}

/* Whether the program goes on when this timer is due, whatever others make. An alarm that nobody waits for ends what
 * takes too long. */
static bool goes_on(const struct pct_timer *timer)
{
    if (timer->order >= PCT_MAX_THREADS)
        return pct_sched_can_attention(&pct_S) || !pct_itimer_is(timer);
    return !waits_so(&pct_shim.slots[timer->order]);
}

/* Whether there is time left to wait until this deadline. */
static bool has_time(uint64_t until)
{
    uint64_t now = pct_sched_now(&pct_S);
    if (pct_sched_threads(&pct_S) == 1 || until == PCT_NEVER || until == waits.until || until <= now)
        return true;
    waits.waited += until - now;
    waits.until = until;
    waits.over = waits.waited > MOST_NS;
    if (waits.over)
        pct_say("what the program polls for has not come in 10 s of real time: its sleeps are virtual again");
    return !waits.over;
}

/* Others go on, and may be what ends those who look: they begin to count anew. */
static void forget(void)
{
    waits.any = false;
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++)
        pct_shim.slots[id].absences = 0;
}

bool pct_absent_awaited(uint64_t until)
{
    if (!waits.any || waits.over || pct_family_relatives())
        return false;
    for (uint32_t i = 0; i < pct_sched_timers(&pct_S); i++)
        if (goes_on(pct_sched_timer(&pct_S, i))) {
            forget();
            return false;
        }
    if ((!pct_sched_timers(&pct_S) && !(pct_self && waits_so(pct_self))) || !has_time(until))
        return false;
    if (!waits.real)
        pct_uncontrolled(PCT_UNCONTROLLED_OUTSIDE);
    return waits.real = true;
}
