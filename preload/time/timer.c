/* POSIX timers, in virtual time. Those on clocks that count CPU time are the kernel's.
 *
 * A signal of a timer goes to the thread that it names, or as one for the process: to the first thread if that does not
 * block it, else to the lowest that does not. For SIGEV_THREAD there is, as in libc, a thread that waits for such
 * timers and starts one for each expiration; it is an ordinary thread of the schedule. */
#include <preload/core/kernel.h>
#include <preload/core/order.h>
#include <preload/core/pass.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include <preload/signals/signals.h>
#include <preload/thread/service.h>
#include <preload/watchdog/lone.h>
#include <sched/log.h>
#include "clock.h"
#include "cpu_timer.h"
#include "vtimer.h"
#include <limits.h>
#include <sys/resource.h>
#include <sys/time.h>

/* A notification that is on its way (a signal that is pending, a thread that the service has not started yet) keeps the
 * next one back, as in the kernel: what the timer misses meanwhile is counted when the first is taken. */
struct timer {
    struct pct_vtimer v; /* first */
    bool used;
    bool queued; /* it has notified, and that has not been taken yet */
    int notify;
    int signal;
    clockid_t clock;
    union sigval value;
    struct pct_shim_thread *thread; /* of SIGEV_THREAD_ID */
    struct pct_notice notice;       /* of SIGEV_THREAD */
    uint64_t overrun;               /* expirations that came to nothing since the one that notified */
    uint64_t patience;              /* virtual ns until it is asked again whether that has been taken */
    int last_overrun;               /* of the notification that was taken last */
    int kernels;                    /* the id of its successor there, where the schedule has ended: pct_timer_leave() */
};

/* Timer descriptors have the other half, and there is the alarm. */
enum { MOST = PCT_MAX_TIMERS / 2 };
static struct timer *timers; /* MOST */
static uint32_t used;        /* those behind were never used */
static uint32_t kernels;     /* ids of the kernel's that were ever set are below this */
static struct pct_service service;

void pct_timer_forget(void)
{
    timers = NULL;
    used = kernels = 0;
    service = (struct pct_service){ 0 };
}

static int id_of(const struct timer *timer)
{
    return PCT_TIMER_FIRST_ID + (int)(timer - timers);
}

/* NULL: it is the kernel's. */
static struct timer *find(timer_t id)
{
    uintptr_t index = (uintptr_t)id - PCT_TIMER_FIRST_ID;
    return index < used && timers[index].used ? &timers[index] : NULL;
}

bool pct_timer_of_cpu(void)
{
    static const int counts_cpu[] = { ITIMER_VIRTUAL, ITIMER_PROF };
    struct itimerval alarm_;
    struct itimerspec state;
    struct rlimit limit;
    for (unsigned i = 0; i < sizeof counts_cpu / sizeof *counts_cpu; i++)
        if (!PCT_SYS2(SYS_getitimer, counts_cpu[i], &alarm_) && (alarm_.it_value.tv_sec || alarm_.it_value.tv_usec))
            return true;
    for (uint32_t i = 0; i < kernels; i++)
        if (!pct_lone_has((int)i) && !PCT_SYS2(SYS_timer_gettime, i, &state) &&
            (state.it_value.tv_sec || state.it_value.tv_nsec))
            return true;
    return pct_action_handles(SIGXCPU) && !PCT_SYS4(SYS_prlimit64, 0, RLIMIT_CPU, NULL, &limit) &&
           limit.rlim_cur != RLIM_INFINITY;
}

void pct_timer_leave(void)
{
    for (uint32_t i = 0; i < used; i++) {
        struct timer *timer = &timers[i];
        struct sigevent event = { timer->value, timer->signal, timer->notify, { { 0 } } };
        struct itimerspec state;
        if (!timer->used || timer->notify == SIGEV_THREAD)
            continue;
        event._sigev_un._tid = timer->thread ? timer->thread->tid : 0;
        pct_vtimer_gettime(&timer->v, &state);
        if (PCT_SYS3(SYS_timer_create, timer->clock, &event, &timer->kernels))
            timer->kernels = -1;
        else if (timer->v.armed)
            PCT_SYS4(SYS_timer_settime, timer->kernels, 0, &state, NULL);
    }
}

/* As the kernel knows it. */
static timer_t kernels_of(timer_t id)
{
    const struct timer *timer = pct_shim.left ? find(id) : NULL;
    return timer ? (timer_t)(intptr_t)timer->kernels : id;
}

static void taken_behind_schedule(siginfo_t *info)
{
    for (uint32_t i = 0; i < used; i++)
        if (timers[i].used && timers[i].kernels == info->si_timerid)
            info->si_timerid = id_of(&timers[i]);
}

/* Its notification has been taken: count what it has missed, and wait for the next expiration. */
static void taken(struct timer *timer)
{
    timer->queued = false;
    timer->overrun += pct_vtimer_release(&timer->v);
    timer->last_overrun = timer->overrun < INT_MAX ? (int)timer->overrun : INT_MAX; /* DELAYTIMER_MAX */
    timer->overrun = 0;
}

void pct_timer_taken(siginfo_t *info)
{
    pct_itimer_taken(info);
    if (pct_shim.left && info->si_code == SI_TIMER)
        taken_behind_schedule(info);
    struct timer *timer = info->si_code == SI_TIMER ? find((timer_t)(intptr_t)info->si_timerid) : NULL;
    if (!timer && info->si_code == SI_TIMER && pct_holder())
        pct_cpu_timer_taken(info->si_timerid, 1 + (uint64_t)info->si_overrun);
    if (!timer || !pct_holder())
        return; /* without the baton: the timer will see it */
    if (timer->queued)
        taken(timer);
    info->si_overrun = timer->last_overrun;
}

/* Whether its signal is still on its way: it is lost when the target begins to ignore it. */
static bool on_its_way(const struct timer *timer)
{
    uint64_t bit = pct_signal_bit(timer->signal);
    if (!timer->queued || pct_signal_pending(pct_self) & bit)
        return timer->queued;
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++) {
        const struct pct_shim_thread *thread = &pct_shim.slots[id];
        if (thread->core.state == PCT_STATE_FINISHED)
            continue;
        for (const struct pct_sent *sent = thread->sent; sent; sent = sent->next)
            if (sent->info.si_signo == timer->signal)
                return true;
        if (thread->held & bit || (thread == timer->thread && pct_signal_pending(thread) & bit))
            return true;
    }
    return false;
}

static void notify_by_signal(struct timer *timer)
{
    siginfo_t info = { .si_signo = timer->signal, .si_code = SI_TIMER };
    info.si_timerid = id_of(timer);
    info.si_value = timer->value;
    if (timer->thread) {
        if (!pct_signal_direct(timer->thread, &info) && !pct_signal_queue(timer->thread, &info))
            pct_signal_given(timer->thread, timer->signal);
    } else if (!pct_signal_direct_any(NULL, &info) && !pct_signal_queue(NULL, &info)) {
        pct_signal_given(NULL, timer->signal);
    }
    pct_signal_sent();
}

static void expired(struct pct_vtimer *v, uint64_t times)
{
    struct timer *timer = (struct timer *)v;
    bool by_thread = timer->notify == SIGEV_THREAD;
    if (by_thread ? timer->queued : on_its_way(timer)) {
        timer->overrun += times;
        timer->patience = timer->patience < PCT_NEVER / 2 ? 2 * timer->patience : PCT_NEVER;
    } else {
        timer->overrun = times - 1;
        timer->queued = true;
        timer->patience = PCT_VTIMER_LOOK_NS;
        if (by_thread)
            pct_sched_changed(&pct_S, &service.thread->sleep_object);
        else
            notify_by_signal(timer);
    }
    if (timer->queued)
        pct_vtimer_hold(v, timer->patience);
}

/* The thread that starts those of SIGEV_THREAD */

static bool anything_due(const struct pct_thread *thread)
{
    (void)thread;
    for (uint32_t i = 0; i < used; i++)
        if (timers[i].queued && timers[i].notify == SIGEV_THREAD)
            return true;
    return false;
}

static void *serve(void *unused)
{
    for (;;) {
        struct pct_shim_thread *self = pct_enter();
        if (!self)
            return unused; /* the run is over */
        if (anything_due(NULL))
            pct_sched_spin(&pct_S, &self->core); /* timers go off faster than this: others go first */
        pct_wait_for(self, PCT_OP_TIMER_SET, &self->sleep_object, anything_due, NULL, PCT_NEVER);
        for (uint32_t i = 0; i < used; i++) {
            if (!timers[i].queued || timers[i].notify != SIGEV_THREAD)
                continue;
            pct_order_at(self, &timers[i], PCT_ACQUIRES);
            taken(&timers[i]);
            pct_notice_start(&timers[i].notice, ~PCT_SIGNALS_OF_LIBC);
        }
    }
}

/* The functions */

static int fail(int error)
{
    errno = error;
    return -1;
}

/* An explored run is told: who makes the next timer gets the next id, and whoever looks may come too late. */
static void tell(const struct pct_shim_thread *self, bool only_looks)
{
    if (self)
        pct_log_hidden(&pct_S, PCT_KEY_KERNEL, only_looks);
}

static bool keeps(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME || clock == CLOCK_TAI;
}

static struct timer *allocate(void)
{
    if (!timers)
        timers = pct_map(sizeof *timers * MOST);
    if (!timers)
        return NULL;
    uint32_t i = 0;
    while (i < used && timers[i].used)
        i++;
    if (i == MOST)
        return NULL;
    used += i == used;
    return &timers[i];
}

/* Fill in what `event` says. Returns 0 or an error. */
static int describe(struct pct_shim_thread *self, struct timer *timer, const struct sigevent *event)
{
    timer->notify = event->sigev_notify;
    timer->signal = event->sigev_signo;
    timer->value = event->sigev_value;
    switch (event->sigev_notify) {
    case SIGEV_NONE:
        return 0;
    case SIGEV_THREAD:
        pct_notice_from(&timer->notice, event);
        return pct_service_start(self, &service, serve) ? 0 : EAGAIN;
    case SIGEV_THREAD_ID:
        for (uint32_t id = 0; id < pct_sched_threads(&pct_S) && !timer->thread; id++)
            if (pct_shim.slots[id].tid == event->_sigev_un._tid && pct_shim.slots[id].core.state != PCT_STATE_FINISHED)
                timer->thread = &pct_shim.slots[id];
        if (!timer->thread)
            return EINVAL;
        __attribute__((fallthrough));
    case SIGEV_SIGNAL:
        return pct_signal_bit(timer->signal) ? 0 : EINVAL;
    default:
        return EINVAL;
    }
}

/* One of the kernel's. That of SIGEV_THREAD is libc's, and its id a pointer. */
static int create_real(struct pct_shim_thread *self, clockid_t clock, struct sigevent *event, timer_t *id)
{
    const int failed = REAL(timer_create)(clock, event, id);
    if (!failed && pct_vtimer_virtual(self) && pct_clock_is_of_cpu(pct_own_clock(self, clock)) &&
        (!event || event->sigev_notify != SIGEV_THREAD))
        pct_cpu_timer_made((int)(intptr_t)*id);
    return failed;
}

/* Of CPU time: by the target's own clock of that. */
static int set_cpu_time(timer_t id, int flags, const struct itimerspec *new, struct itimerspec *old)
{
    const int number = (int)(intptr_t)id;
    struct itimerspec wanted;
    if (!pct_cpu_timer_has(number) || !pct_user_copy_in(&wanted, new, sizeof wanted) || !pct_valid(&wanted.it_value))
        return REAL(timer_settime)(id, flags, new, old);
    const uint64_t value = pct_nanoseconds(&wanted.it_value), now = pct_cpu_time();
    const bool absolute = flags & TIMER_ABSTIME && value;
    const uint64_t at = absolute ? value : now + value, left = at > now ? at - now : 1;
    if (absolute)
        wanted.it_value = (struct timespec){ (time_t)(left / 1000000000), (long)(left % 1000000000) };
    const int failed = REAL(timer_settime)(id, 0, &wanted, old);
    if (!failed)
        pct_cpu_timer_set(number, value ? at : 0, pct_nanoseconds(&wanted.it_interval));
    return failed;
}

PCT_EXPORT int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict id)
{
    PCT_ENTER(self);
    tell(self, false);
    if (!pct_vtimer_virtual(self) || !keeps(clock))
        return create_real(self, clock, event, id);
    struct timer *timer = allocate();
    if (!timer)
        return fail(EAGAIN);
    struct sigevent standard = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
    standard.sigev_value.sival_int = id_of(timer);
    *timer = (struct timer){ .used = true, .clock = clock }; /* another thread may come here while the service starts */
    int error = describe(self, timer, event ? event : &standard);
    if (error) {
        timer->used = false;
        return fail(error);
    }
    pct_vtimer_init(&timer->v, timer->notify == SIGEV_NONE ? NULL : expired);
    timer->v.signals = timer->notify == SIGEV_SIGNAL || timer->notify == SIGEV_THREAD_ID;
    *id = (timer_t)(intptr_t)id_of(timer);
    return 0;
}

PCT_EXPORT int timer_settime(timer_t id, int flags, const struct itimerspec *restrict new,
                             struct itimerspec *restrict old)
{
    PCT_ENTER(self);
    struct timer *timer = pct_vtimer_virtual(self) ? find(id) : NULL;
    if (!timer) {
        const uintptr_t number = (uintptr_t)id;
        kernels = self && number >= kernels && number < MOST ? (uint32_t)number + 1 : kernels;
        if (!pct_vtimer_virtual(self))
            return AT_POINT(self, PCT_OP_TIMER_SET, REAL(timer_settime)(kernels_of(id), flags, new, old));
        return AT_POINT(self, PCT_OP_TIMER_SET, set_cpu_time(id, flags, new, old));
    }
    struct itimerspec wanted, before;
    if (!pct_user_copy_in(&wanted, new, sizeof wanted))
        return REAL(timer_settime)(id, flags, new, old); /* EFAULT, or EINVAL */
    if (!pct_valid(&wanted.it_value) || !pct_valid(&wanted.it_interval))
        return fail(EINVAL);
    pct_here(self, PCT_OP_TIMER_SET);
    pct_vtimer_gettime(&timer->v, &before);
    timer->overrun = 0;
    timer->last_overrun = 0;
    pct_order_at(self, timer, PCT_RELEASES);
    pct_vtimer_settime(&timer->v, timer->clock, flags & TIMER_ABSTIME, &wanted);
    pct_done(self, PCT_OP_TIMER_SET, 0, NULL);
    return old && !pct_user_copy_out(old, &before, sizeof before) ? fail(EFAULT) : 0;
}

PCT_EXPORT int timer_gettime(timer_t id, struct itimerspec *now)
{
    PCT_ENTER(self);
    tell(self, true);
    struct timer *timer = pct_vtimer_virtual(self) ? find(id) : NULL;
    if (!timer)
        return REAL(timer_gettime)(kernels_of(id), now);
    struct itimerspec state;
    pct_vtimer_gettime(&timer->v, &state);
    return pct_user_copy_out(now, &state, sizeof state) ? 0 : fail(EFAULT);
}

PCT_EXPORT int timer_getoverrun(timer_t id)
{
    PCT_ENTER(self);
    tell(self, true);
    struct timer *timer = pct_vtimer_virtual(self) ? find(id) : NULL;
    if (!timer)
        return REAL(timer_getoverrun)(kernels_of(id));
    /* Taken by the kernel: a signal that was blocked, and is ignored by default. */
    if (timer->notify != SIGEV_THREAD && timer->queued && !on_its_way(timer))
        taken(timer);
    return timer->last_overrun;
}

PCT_EXPORT int timer_delete(timer_t id)
{
    PCT_ENTER(self);
    tell(self, false);
    struct timer *timer = pct_vtimer_virtual(self) ? find(id) : NULL;
    if (!timer)
        return REAL(timer_delete)(kernels_of(id));
    pct_vtimer_set(&timer->v, PCT_NEVER, 0);
    timer->queued = false;
    timer->used = false;
    return 0;
}
