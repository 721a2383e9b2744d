/* nanosleep: at least so long; EINTR and the rest after a signal; EINVAL. */
/* ops: SLEEP AWAKE */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"

enum { SLEEPERS = 4 };

static void *sleep_some(void *milliseconds)
{
    int64_t length = *(int *)milliseconds * 1000000L, before = check_now(CLOCK_MONOTONIC);
    struct timespec time = check_timespec(length);
    CHECK_OK(nanosleep(&time, NULL));
    CHECK(check_now(CLOCK_MONOTONIC) - before >= length);
    return NULL;
}

int main(void)
{
    struct timespec time = { 0, 20000000 }, rest = { 5, 5 };
    int64_t before = check_now(CLOCK_MONOTONIC), realtime = check_now(CLOCK_REALTIME);
    CHECK_OK(nanosleep(&time, &rest));
    CHECK(check_now(CLOCK_MONOTONIC) - before >= 20000000);
    CHECK(check_now(CLOCK_REALTIME) - realtime >= 20000000);
    CHECK(rest.tv_sec == 5 && rest.tv_nsec == 5); /* written after a signal only */
    CHECK_OK(nanosleep(&time, &time));
    struct timespec none = { 0, 0 };
    CHECK_OK(nanosleep(&none, NULL));

    struct timespec bad = { 0, 1000000000 };
    CHECK_FAILS(nanosleep(&bad, &rest), EINVAL);
    bad.tv_nsec = -1;
    CHECK_FAILS(nanosleep(&bad, NULL), EINVAL);
    bad.tv_sec = -1;
    bad.tv_nsec = 0;
    CHECK_FAILS(nanosleep(&bad, NULL), EINVAL);

    int lengths[SLEEPERS] = { 20, 5, 10, 1 };
    pthread_t threads[SLEEPERS];
    for (int i = 0; i < SLEEPERS; i++)
        threads[i] = check_spawn(sleep_some, &lengths[i]);
    for (int i = 0; i < SLEEPERS; i++)
        check_join(threads[i]);

    struct nag nag;
    struct timespec far = { 1000, 0 };
    nag_start(&nag, 0);
    CHECK_FAILS(nanosleep(&far, &rest), EINTR);
    /* The kernel adds its timer slack to the rest, so it may even be a little more than what was asked for. */
    CHECK(rest.tv_sec >= 0 && rest.tv_sec <= 1000 && rest.tv_nsec >= 0 && rest.tv_nsec < 1000000000);
    CHECK_FAILS(nanosleep(&far, NULL), EINTR);
    CHECK_FAILS(nanosleep(&far, &far), EINTR); /* one object for both */
    CHECK(far.tv_sec <= 1000);
    nag_stop(&nag);
    /* The kernel restarts no sleep after a handler. */
    nag_start(&nag, SA_RESTART);
    CHECK_FAILS(nanosleep(&far, NULL), EINTR);
    nag_stop(&nag);
    return 0;
}
