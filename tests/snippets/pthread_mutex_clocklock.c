/* pthread_mutex_clocklock: a deadline on either clock; other clocks are refused. */
/* ops: MUTEX_LOCK MUTEX_UNLOCK */
#define _GNU_SOURCE
#include "check.h"

static clockid_t clock_used;

static void *time_out(void *mutex)
{
    struct timespec when = check_in_ms(clock_used, 10);
    CHECK_RESULT(pthread_mutex_clocklock(mutex, clock_used, &when), ETIMEDOUT);
    CHECK(check_reached(clock_used, &when));
    CHECK_RESULT(pthread_mutex_clocklock(mutex, clock_used, &when), ETIMEDOUT);
    when.tv_nsec = 1000000000;
    CHECK_RESULT(pthread_mutex_clocklock(mutex, clock_used, &when), EINVAL);
    when.tv_nsec = 0;
    CHECK_RESULT(pthread_mutex_clocklock(mutex, CLOCK_PROCESS_CPUTIME_ID, &when), EINVAL);
    CHECK_RESULT(pthread_mutex_clocklock(mutex, CLOCK_BOOTTIME, &when), EINVAL);
    return NULL;
}

static void *get_it(void *mutex)
{
    struct timespec far = check_in_ms(clock_used, 1000000);
    CHECK_OK(pthread_mutex_clocklock(mutex, clock_used, &far));
    CHECK_OK(pthread_mutex_unlock(mutex));
    return NULL;
}

static void test(clockid_t clock, pthread_mutex_t *mutex)
{
    struct timespec past = { 0, 0 };
    clock_used = clock;
    CHECK_OK(pthread_mutex_clocklock(mutex, clock, &past));
    check_join(check_spawn(time_out, mutex));
    pthread_t thread = check_spawn(get_it, mutex);
    CHECK_OK(pthread_mutex_unlock(mutex));
    check_join(thread);
}

int main(void)
{
    static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
    static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    static pthread_mutex_t errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME };
    for (int i = 0; i < 2; i++) {
        test(clocks[i], &normal);
        test(clocks[i], &recursive);
        test(clocks[i], &errorcheck);
        struct timespec when = check_in_ms(clocks[i], 5);
        CHECK_OK(pthread_mutex_lock(&errorcheck));
        CHECK_RESULT(pthread_mutex_clocklock(&errorcheck, clocks[i], &when), EDEADLK);
        CHECK_OK(pthread_mutex_unlock(&errorcheck));
        CHECK_OK(pthread_mutex_clocklock(&recursive, clocks[i], &when));
        CHECK_OK(pthread_mutex_clocklock(&recursive, clocks[i], &when));
        CHECK_OK(pthread_mutex_unlock(&recursive));
        CHECK_OK(pthread_mutex_unlock(&recursive));
        CHECK_OK(pthread_mutex_clocklock(&normal, clocks[i], &when));
        CHECK_RESULT(pthread_mutex_clocklock(&normal, clocks[i], &when), ETIMEDOUT);
        CHECK_OK(pthread_mutex_unlock(&normal));
    }
    return 0;
}
