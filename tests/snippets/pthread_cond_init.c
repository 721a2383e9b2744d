/* pthread_cond_init: the clock of timed waits comes from the attributes; memory can be used again. */
/* ops: COND_INIT COND_WAIT COND_WAKE COND_DESTROY */
#define _GNU_SOURCE
#include "check.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Wait until a deadline; early returns without a signal are allowed, and ignored. */
static void wait_until(pthread_cond_t *cond, const struct timespec *when)
{
    int error;
    CHECK_OK(pthread_mutex_lock(&lock));
    do
        error = pthread_cond_timedwait(cond, &lock, when);
    while (error == 0);
    CHECK_EQ(error, ETIMEDOUT);
    CHECK_OK(pthread_mutex_unlock(&lock));
}

int main(void)
{
    pthread_cond_t cond;
    pthread_condattr_t attr;
    static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC };

    CHECK_OK(pthread_cond_init(&cond, NULL));
    struct timespec when = check_in_ms(CLOCK_REALTIME, 5);
    wait_until(&cond, &when);
    CHECK(check_reached(CLOCK_REALTIME, &when));
    CHECK_OK(pthread_cond_destroy(&cond));

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 2; i++) {
            clockid_t clock = -1;
            CHECK_EQ(pthread_condattr_init(&attr), 0);
            CHECK_EQ(pthread_condattr_setclock(&attr, clocks[i]), 0);
            CHECK_EQ(pthread_condattr_getclock(&attr, &clock), 0);
            CHECK_EQ(clock, clocks[i]);
            CHECK_OK(pthread_cond_init(&cond, &attr));
            CHECK_EQ(pthread_condattr_destroy(&attr), 0);
            when = check_in_ms(clocks[i], 5);
            wait_until(&cond, &when);
            CHECK(check_reached(clocks[i], &when));
            CHECK_OK(pthread_cond_destroy(&cond));
        }
    }
    CHECK_EQ(pthread_condattr_init(&attr), 0);
    CHECK_EQ(pthread_condattr_setclock(&attr, CLOCK_PROCESS_CPUTIME_ID), EINVAL);
    CHECK_EQ(pthread_condattr_destroy(&attr), 0);
    return 0;
}
