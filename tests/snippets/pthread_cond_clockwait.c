/* pthread_cond_clockwait: a deadline on either clock, whatever the attributes said; other clocks are refused. */
/* ops: COND_WAIT COND_WAKE */
#define _GNU_SOURCE
#include "check.h"

static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t changed;
static bool ready;

static void *make_ready(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&lock));
    ready = true;
    CHECK_OK(pthread_cond_broadcast(&changed));
    CHECK_OK(pthread_mutex_unlock(&lock));
    return unused;
}

static void unlock(void *unused)
{
    (void)unused;
    CHECK_OK(pthread_mutex_unlock(&lock));
}

static void *wait_until_cancelled(void *clock)
{
    struct timespec far = check_in_ms(*(clockid_t *)clock, 1000000);
    CHECK_OK(pthread_mutex_lock(&lock));
    pthread_cleanup_push(unlock, NULL);
    for (;;)
        pthread_cond_clockwait(&changed, &lock, *(clockid_t *)clock, &far);
    pthread_cleanup_pop(0);
    return NULL;
}

static void test(clockid_t clock)
{
    struct timespec when = check_in_ms(clock, 10);
    CHECK_RESULT(pthread_cond_clockwait(&changed, &lock, clock, &when), EPERM);
    CHECK_OK(pthread_mutex_lock(&lock));
    int error;
    do
        error = pthread_cond_clockwait(&changed, &lock, clock, &when);
    while (error == 0);
    CHECK_EQ(error, ETIMEDOUT);
    CHECK(check_reached(clock, &when));
    CHECK_RESULT(pthread_mutex_lock(&lock), EDEADLK);
    struct timespec bad = { 0, 1000000000 };
    CHECK_RESULT(pthread_cond_clockwait(&changed, &lock, clock, &bad), EINVAL);
    CHECK_RESULT(pthread_cond_clockwait(&changed, &lock, CLOCK_PROCESS_CPUTIME_ID, &when), EINVAL);
    CHECK_RESULT(pthread_cond_clockwait(&changed, &lock, CLOCK_BOOTTIME, &when), EINVAL);

    ready = false;
    pthread_t thread = check_spawn(make_ready, NULL);
    when = check_in_ms(clock, 1000000);
    while (!ready)
        CHECK_OK(pthread_cond_clockwait(&changed, &lock, clock, &when));
    CHECK_OK(pthread_mutex_unlock(&lock));
    check_join(thread);

    thread = check_spawn(wait_until_cancelled, &clock);
    CHECK_OK(pthread_cancel(thread));
    CHECK(check_join(thread) == PTHREAD_CANCELED);
}

int main(void)
{
    static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC };
    for (int i = 0; i < 2; i++) {
        pthread_condattr_t attr;
        CHECK_EQ(pthread_condattr_init(&attr), 0);
        CHECK_EQ(pthread_condattr_setclock(&attr, clocks[i]), 0);
        CHECK_OK(pthread_cond_init(&changed, &attr));
        CHECK_EQ(pthread_condattr_destroy(&attr), 0);
        test(CLOCK_REALTIME);
        test(CLOCK_MONOTONIC);
        CHECK_OK(pthread_cond_destroy(&changed));
    }
    return 0;
}
