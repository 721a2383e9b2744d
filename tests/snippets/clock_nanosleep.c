/* clock_nanosleep: relative and absolute, on each clock that can be slept by; errors are returned, not in errno. */
/* ops: SLEEP AWAKE */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"

static void test(clockid_t clock)
{
    struct timespec time = { 0, 5000000 }, rest = { 5, 5 }, none = { 0, 0 };
    int64_t before = check_now(clock);
    CHECK_OK(clock_nanosleep(clock, 0, &time, &rest));
    CHECK(check_now(clock) - before >= 5000000);
    CHECK(rest.tv_sec == 5 && rest.tv_nsec == 5);
    CHECK_OK(clock_nanosleep(clock, 0, &none, NULL));

    struct timespec when = check_in_ms(clock, 5);
    CHECK_OK(clock_nanosleep(clock, TIMER_ABSTIME, &when, NULL));
    CHECK(check_reached(clock, &when));
    CHECK_OK(clock_nanosleep(clock, TIMER_ABSTIME, &when, NULL)); /* in the past now */
    CHECK_OK(clock_nanosleep(clock, TIMER_ABSTIME, &none, NULL));

    struct timespec bad = { 0, 1000000000 };
    CHECK_RESULT(clock_nanosleep(clock, 0, &bad, NULL), EINVAL);
    CHECK_RESULT(clock_nanosleep(clock, TIMER_ABSTIME, &bad, NULL), EINVAL);
    bad.tv_nsec = -1;
    CHECK_RESULT(clock_nanosleep(clock, 0, &bad, NULL), EINVAL);
    bad.tv_sec = -1;
    bad.tv_nsec = 0;
    CHECK_RESULT(clock_nanosleep(clock, 0, &bad, NULL), EINVAL);

    struct nag nag;
    struct timespec far = { 1000, 0 };
    nag_start(&nag, 0);
    CHECK_RESULT(clock_nanosleep(clock, 0, &far, &rest), EINTR);
    CHECK(rest.tv_sec >= 0 && rest.tv_sec <= 1000 && rest.tv_nsec >= 0 && rest.tv_nsec < 1000000000);
    far = check_in_ms(clock, 1000000);
    rest.tv_sec = 5;
    CHECK_RESULT(clock_nanosleep(clock, TIMER_ABSTIME, &far, &rest), EINTR);
    CHECK_EQ(rest.tv_sec, 5); /* the rest of a point in time is the point itself: not written */
    nag_stop(&nag);
}

int main(void)
{
    test(CLOCK_MONOTONIC);
    test(CLOCK_REALTIME);
    test(CLOCK_BOOTTIME);
    struct timespec time = { 0, 1000 };
    CHECK_RESULT(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &time, NULL), EINVAL);
    CHECK_RESULT(clock_nanosleep(12345, 0, &time, NULL), EINVAL);
    return 0;
}
