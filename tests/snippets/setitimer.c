/* setitimer, getitimer: value and interval, old values, errors; a thread that only computes is interrupted, too. */
/* tests: setitimer getitimer */
/* ops: TIMER_SET SIGNAL_HANDLE */
#define _GNU_SOURCE
#include "check.h"
#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t handled;

static void handle(int number)
{
    (void)number;
    handled = handled + 1;
}

static int64_t us(const struct timeval *t)
{
    return (int64_t)t->tv_sec * 1000000 + t->tv_usec;
}

int main(void)
{
    struct itimerval now, old, none = { { 0, 0 }, { 0, 0 } };
    struct itimerval slow = { .it_interval = { 7, 5 }, .it_value = { 1000, 3 } };
    CHECK_OK(getitimer(ITIMER_REAL, &now));
    CHECK_EQ(us(&now.it_value) + us(&now.it_interval), 0);
    CHECK_OK(setitimer(ITIMER_REAL, &slow, NULL));
    CHECK_OK(getitimer(ITIMER_REAL, &now));
    CHECK(us(&now.it_value) <= 1000000003 && us(&now.it_value) > 900000000);
    CHECK_EQ(us(&now.it_interval), 7000005);
    CHECK_OK(setitimer(ITIMER_REAL, &none, &old));
    CHECK(us(&old.it_value) <= us(&now.it_value) && us(&old.it_value) > 900000000);
    CHECK_EQ(us(&old.it_interval), 7000005);
    struct itimerval bad = { .it_value = { 0, 1000000 } };
    CHECK_FAILS(setitimer(ITIMER_REAL, &bad, NULL), EINVAL);
    bad = (struct itimerval){ .it_value = { 1, 0 }, .it_interval = { -1, 0 } };
    CHECK_FAILS(setitimer(ITIMER_REAL, &bad, NULL), EINVAL);
    CHECK_FAILS(setitimer((__itimer_which_t)17, &slow, NULL), EINVAL);
    CHECK_FAILS(getitimer((__itimer_which_t)17, &now), EINVAL);

    CHECK(signal(SIGALRM, handle) != SIG_ERR);
    struct itimerval often = { .it_interval = { 0, 2000 }, .it_value = { 0, 2000 } };
    int64_t before = check_now(CLOCK_MONOTONIC);
    CHECK_OK(setitimer(ITIMER_REAL, &often, NULL));
    while (handled < 5)
        sched_yield();
    CHECK(check_now(CLOCK_MONOTONIC) - before >= 10000000);
    CHECK_OK(setitimer(ITIMER_REAL, &none, NULL));
    CHECK_OK(getitimer(ITIMER_REAL, &now));
    CHECK_EQ(us(&now.it_value), 0);
    return 0;
}
