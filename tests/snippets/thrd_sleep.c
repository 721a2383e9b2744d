/* thrd_sleep: sleeps at least so long; -1 and the rest after a signal; another negative number for a bad time. */
/* ops: SLEEP AWAKE */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"
#include <threads.h>

int main(void)
{
    struct timespec time = { 0, 20000000 }, rest = { 5, 5 };
    int64_t before = check_now(CLOCK_MONOTONIC);
    CHECK_OK(thrd_sleep(&time, &rest));
    CHECK(check_now(CLOCK_MONOTONIC) - before >= 20000000);
    CHECK_OK(thrd_sleep(&time, NULL));
    CHECK_OK(thrd_sleep(&time, &time)); /* one object for both */
    CHECK(check_now(CLOCK_MONOTONIC) - before >= 60000000);

    struct timespec none = { 0, 0 };
    CHECK_OK(thrd_sleep(&none, NULL));
    struct timespec bad = { 0, 1000000000 };
    CHECK(thrd_sleep(&bad, &rest) < -1);
    bad.tv_nsec = -1;
    CHECK(thrd_sleep(&bad, NULL) < -1);
    bad.tv_sec = -1;
    bad.tv_nsec = 0;
    CHECK(thrd_sleep(&bad, NULL) < -1);

    struct nag nag;
    struct timespec far = { 1000, 0 };
    nag_start(&nag, 0);
    CHECK_EQ(thrd_sleep(&far, &rest), -1);
    nag_stop(&nag);
    /* The kernel adds its timer slack to the rest, so it may even be a little more than what was asked for. */
    CHECK(rest.tv_sec <= 1000 && rest.tv_sec >= 0);
    CHECK(rest.tv_nsec >= 0 && rest.tv_nsec < 1000000000);
    return 0;
}
