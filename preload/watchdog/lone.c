/* See lone.h. */
#include "lone.h"
#include "preempt.h"
#include "watchdog.h"
#include <preload/core/apart.h>
#include <preload/core/host.h>
#include <preload/core/kernel.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/run/script.h>
#include <preload/signals/signals.h>
#include <preload/thread/proc_task.h>
#include <preload/time/vtimer.h>
#include <time.h>

#define MS UINT64_C(1000000)
/* CPU time of the thread until it is looked at, and again where it goes on with calls. The kernel looks at its ticks.
 */
#define CALLS (20 * MS)
/* Between two looks when it makes none: a fourth of the time that it has used so far, within these bounds. */
#define SOON (2 * MS)
#define SELDOM (500 * MS)

static PCT_OF_RUN int timer; /* the kernel's number of it + 1; 0: there is none */
static PCT_OF_RUN bool armed;
static struct pct_evidence *evidence;
static PCT_OF_RUN uint64_t step; /* in which it was seen last */
static PCT_OF_RUN uint64_t from; /* its CPU time when it was first seen there */
static PCT_OF_RUN uint64_t idle; /* behind a filter, in place of that: its CPU time since */
static bool may_be_made;         /* behind a filter */

static void arm(uint64_t length, uint64_t interval)
{
    const struct itimerspec wanted = { { .tv_nsec = (long)interval }, { .tv_nsec = (long)length } };
    armed = !PCT_SYS4(SYS_timer_settime, timer - 1, 0, &wanted, NULL);
}

static bool make(void)
{
    int id;
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = PCT_TRACE_REQUEST_SIGNAL };
    event.sigev_value.sival_ptr = &timer;
    event._sigev_un._tid = pct_self->tid;
    if (!evidence)
        evidence = pct_apart_map(sizeof *evidence);
    if (!evidence || !pct_preempt_start(evidence) || PCT_SYS3(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &id))
        return false;
    timer = id + 1;
    return true;
}

static bool is_wanted(void)
{
    return pct_sched_threads(&pct_S) == 1 && !armed && pct_self && pct_shim.watchdog && !pct_in_valgrind() &&
           pct_preempt_listen(true) && !pct_watchdog_is_made();
}

void pct_lone_watch(void)
{
    if ((!pct_shim.confined || may_be_made) && is_wanted() && (timer || make()))
        arm(CALLS, pct_shim.confined ? CALLS : 0);
}

/* Behind a filter it goes on for nothing. */
void pct_lone_end(void)
{
    if (timer && !pct_shim.confined)
        PCT_SYS1(SYS_timer_delete, timer - 1);
    timer = 0;
    armed = false;
}

void pct_lone_silence(bool may_delete, bool may_return)
{
    /* The signal is that of libc's setuid(), which threads to come could not take either: they inherit this. */
    if (timer && may_delete)
        PCT_SYS1(SYS_timer_delete, timer - 1);
    else if (timer && !may_return)
        pct_signal_mask(SIG_BLOCK, PCT_SIGNAL_SETXID);
    timer = 0;
    armed = false;
}

void pct_lone_confine(bool may_make)
{
    may_be_made = may_make;
    armed = armed && pct_shim.confined;
    if (is_wanted() && (timer || make()) && (!may_make || pct_vtimer_alarm() != PCT_NEVER))
        arm(CALLS, CALLS);
}

bool pct_lone_has(int number)
{
    return timer == number + 1;
}

/* How long it is to be left alone. */
static uint64_t until_next(const struct pct_shim_thread *self, uint64_t used)
{
    if (!pct_preempt_computes())
        return pct_preempt_pause(self) + 1;
    return used / 4 < SOON ? SOON : used / 4 < SELDOM ? used / 4 : SELDOM;
}

/* Behind a filter. */
static void tick(struct pct_shim_thread *self, uint64_t ticks, void *context)
{
    const uint64_t now = pct_steps(&pct_S);
    idle = !pct_sched_holds(&pct_S, &self->core) || step != now ? 0 : idle + ticks * CALLS;
    step = now;
    if (idle && pct_sched_may_take(&pct_S, &self->core, PCT_ARG_SPINS))
        pct_preempt_sample_confined(self, context, idle);
}

bool pct_lone_sampled(const siginfo_t *info, void *context)
{
    struct pct_shim_thread *self = pct_self;
    if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &timer)
        return false;
    armed = armed && pct_shim.confined;
    if (!timer || !self || pct_shim.ended || (pct_vtimer_alarm() == PCT_NEVER && !pct_script_listens()))
        return true; /* whoever arms one comes back to this */
    if (pct_shim.confined) {
        tick(self, 1 + (uint64_t)info->si_overrun, context);
        return true;
    }
    uint64_t cpu = pct_task_cpu(self->tid), now = pct_steps(&pct_S);
    bool calls = !pct_sched_holds(&pct_S, &self->core) || step != now;
    if (calls)
        from = cpu;
    step = now;
    /* First: a look may end in a handler of the target's, which may jump out. */
    arm(calls ? CALLS : until_next(self, cpu - from), 0);
    if (!calls && (pct_sched_may_take(&pct_S, &self->core, PCT_ARG_SPINS) || pct_script_listens()))
        pct_preempt_sample(self, context, cpu - from);
    return true;
}
