/* POSIX timers: every way of notification, both kinds of deadline, overruns, errors. */
/* tests: timer_create timer_settime timer_gettime timer_getoverrun timer_delete */
/* ops: TIMER_SET SIGNAL_HANDLE SIGNAL_WAIT */
#define _GNU_SOURCE
#include "check.h"
#include <semaphore.h>
#include <signal.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static volatile sig_atomic_t handled;
static siginfo_t seen;
static pthread_t handler_thread;
static sem_t gate;

static void handle(int number, siginfo_t *info, void *context)
{
    (void)context;
    CHECK_EQ(number, info->si_signo);
    seen = *info;
    handler_thread = pthread_self();
    handled = handled + 1;
}

static struct itimerspec in_us(int64_t value, int64_t interval)
{
    struct itimerspec spec = { .it_value = check_timespec(value * 1000),
                               .it_interval = check_timespec(interval * 1000) };
    return spec;
}

static int64_t ns(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static void test_errors(void)
{
    timer_t timer;
    struct sigevent event = { .sigev_notify = 77, .sigev_signo = SIGUSR1 };
    CHECK_FAILS(timer_create(CLOCK_MONOTONIC, &event, &timer), EINVAL);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = 99;
    CHECK_FAILS(timer_create(CLOCK_MONOTONIC, &event, &timer), EINVAL);
    CHECK_FAILS(timer_create(77, NULL, &timer), EINVAL);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGUSR1;
    event.sigev_notify_thread_id = 1;
    CHECK_FAILS(timer_create(CLOCK_MONOTONIC, &event, &timer), EINVAL);
    CHECK_OK(timer_create(CLOCK_MONOTONIC, NULL, &timer));
    struct itimerspec bad = { .it_value = { 0, 1000000000 } };
    CHECK_FAILS(timer_settime(timer, 0, &bad, NULL), EINVAL);
    CHECK_OK(timer_delete(timer));
    struct itimerspec now;
    CHECK_FAILS(timer_gettime(timer, &now), EINVAL);
    CHECK_FAILS(timer_delete(timer), EINVAL);
}

/* Wait for a signal that is blocked otherwise, so that it cannot come before the wait. */
static void await(int times)
{
    sigset_t now;
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, NULL, &now), 0);
    sigdelset(&now, SIGRTMIN + 1);
    while (handled < times)
        CHECK_FAILS(sigsuspend(&now), EINTR);
}

static void test_signal(clockid_t clock)
{
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, &old), 0);
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1 };
    event.sigev_value.sival_int = 4711;
    CHECK_OK(timer_create(clock, &event, &timer));
    struct itimerspec now, spec = in_us(3000, 0);
    CHECK_OK(timer_gettime(timer, &now));
    CHECK_EQ(ns(&now.it_value), 0);
    handled = 0;
    int64_t before = check_now(clock);
    CHECK_OK(timer_settime(timer, 0, &spec, &now));
    CHECK_EQ(ns(&now.it_value), 0);
    await(1);
    CHECK(check_now(clock) - before >= 3000000);
    CHECK_EQ(seen.si_code, SI_TIMER);
    CHECK_EQ(seen.si_value.sival_int, 4711);
    CHECK_EQ(seen.si_overrun, 0);
    /* Once. */
    CHECK_OK(timer_gettime(timer, &now));
    CHECK_EQ(ns(&now.it_value), 0);

    /* At a point in time; in the past: at once. */
    spec = in_us(0, 0);
    spec.it_value = check_in_ms(clock, 4);
    struct timespec when = spec.it_value;
    CHECK_OK(timer_settime(timer, TIMER_ABSTIME, &spec, NULL));
    await(2);
    CHECK(check_reached(clock, &when));
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
    CHECK_OK(timer_settime(timer, TIMER_ABSTIME, &spec, NULL));
    while (handled < 3)
        sched_yield();

    /* Again and again; then not any more. */
    spec = in_us(1000, 2000);
    CHECK_OK(timer_settime(timer, 0, &spec, NULL));
    while (handled < 8)
        sched_yield();
    CHECK_OK(timer_gettime(timer, &now));
    CHECK(ns(&now.it_value) <= 2000000 && ns(&now.it_value) > 0);
    CHECK_EQ(ns(&now.it_interval), 2000000);
    CHECK_OK(timer_delete(timer));
}

/* While its signal is blocked, a timer that goes off is counted. */
static void test_overrun(void)
{
    timer_t timer;
    sigset_t set, old;
    siginfo_t info;
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1 };
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, &old), 0);
    CHECK_OK(timer_create(CLOCK_MONOTONIC, &event, &timer));
    struct itimerspec spec = in_us(1000, 1000), none = in_us(0, 0);
    CHECK_OK(timer_settime(timer, 0, &spec, NULL));
    struct timespec length = { 0, 10500000 };
    CHECK_OK(nanosleep(&length, NULL));
    handled = 0;
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
    CHECK(handled > 0 && seen.si_overrun >= 0);
    CHECK_OK(timer_settime(timer, 0, &none, NULL));

    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, &old), 0);
    CHECK_OK(timer_settime(timer, 0, &spec, NULL));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(nanosleep(&length, NULL));
        CHECK_RESULT(sigwaitinfo(&set, &info), SIGRTMIN + 1);
        CHECK_EQ(info.si_code, SI_TIMER);
        CHECK(info.si_overrun >= 8);
        CHECK_EQ(timer_getoverrun(timer), info.si_overrun);
    }
    CHECK_OK(timer_delete(timer));
    struct timespec zero = { 0, 0 };
    while (sigtimedwait(&set, NULL, &zero) > 0)
        continue;
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
}

static void *wait_for_mine(void *at)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
    event.sigev_notify_thread_id = gettid();
    CHECK_OK(timer_create(CLOCK_MONOTONIC, &event, (timer_t *)at));
    CHECK_EQ(sem_post(&gate), 0);
    while (!handled)
        pause();
    CHECK(pthread_equal(handler_thread, pthread_self()));
    return NULL;
}

static void test_thread_id(void)
{
    timer_t timer;
    handled = 0;
    pthread_t thread = check_spawn(wait_for_mine, &timer);
    CHECK_EQ(sem_wait(&gate), 0);
    /* Again, as the first may come before the pause. */
    struct itimerspec spec = in_us(1000, 1000);
    CHECK_OK(timer_settime(timer, 0, &spec, NULL));
    check_join(thread);
    CHECK_OK(timer_delete(timer));
}

static void notify(union sigval value)
{
    CHECK_EQ(value.sival_int, 99);
    sigset_t now;
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, NULL, &now), 0);
    CHECK_EQ(sigismember(&now, SIGUSR1), 1); /* GLIBC: such threads take no signals */
    handler_thread = pthread_self();
    CHECK_EQ(sem_post(&gate), 0);
}

static void test_thread(void)
{
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify };
    event.sigev_value.sival_int = 99;
    CHECK_OK(timer_create(CLOCK_MONOTONIC, &event, &timer));
    struct itimerspec spec = in_us(2000, 2000);
    int64_t before = check_now(CLOCK_MONOTONIC);
    CHECK_OK(timer_settime(timer, 0, &spec, NULL));
    for (int i = 0; i < 5; i++)
        CHECK_EQ(sem_wait(&gate), 0);
    CHECK(check_now(CLOCK_MONOTONIC) - before >= 10000000);
    CHECK(!pthread_equal(handler_thread, pthread_self()));
    CHECK_OK(timer_delete(timer));
}

static void test_none(void)
{
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_NONE };
    CHECK_OK(timer_create(CLOCK_MONOTONIC, &event, &timer));
    struct itimerspec now, far = in_us(1000000000, 0), spec = in_us(5000, 0);
    CHECK_OK(timer_settime(timer, 0, &far, NULL));
    CHECK_OK(timer_gettime(timer, &now));
    CHECK(ns(&now.it_value) > 0 && ns(&now.it_value) <= 1000000000000);
    CHECK_OK(timer_settime(timer, 0, &spec, NULL));
    struct timespec length = { 0, 6000000 };
    CHECK_OK(nanosleep(&length, NULL));
    CHECK_OK(timer_gettime(timer, &now));
    CHECK_EQ(ns(&now.it_value), 0);
    CHECK_OK(timer_delete(timer));
}

int main(void)
{
    struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_EQ(sigaction(SIGRTMIN + 1, &action, NULL), 0);
    CHECK_EQ(sem_init(&gate, 0, 0), 0);
    test_errors();
    test_signal(CLOCK_MONOTONIC);
    test_signal(CLOCK_REALTIME);
    test_overrun();
    test_thread_id();
    test_thread();
    test_none();
    return 0;
}
