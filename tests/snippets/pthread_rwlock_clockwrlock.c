/* pthread_rwlock_clockwrlock: a deadline on either clock; other clocks are refused; waits for readers and for a
 * writer. */
/* ops: RWLOCK_WRLOCK */
#define _GNU_SOURCE
#include "check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static clockid_t clock_used;

static void *time_out(void *unused)
{
    struct timespec when = check_in_ms(clock_used, 10);
    CHECK_RESULT(pthread_rwlock_clockwrlock(&lock, clock_used, &when), ETIMEDOUT);
    CHECK(check_reached(clock_used, &when));
    CHECK_RESULT(pthread_rwlock_clockwrlock(&lock, clock_used, &when), ETIMEDOUT); /* in the past now */
    struct timespec past = { 0, 0 };
    CHECK_RESULT(pthread_rwlock_clockwrlock(&lock, clock_used, &past), ETIMEDOUT);
    when.tv_nsec = 1000000000;
    CHECK_RESULT(pthread_rwlock_clockwrlock(&lock, clock_used, &when), EINVAL);
    when.tv_nsec = -1;
    CHECK_RESULT(pthread_rwlock_clockwrlock(&lock, clock_used, &when), EINVAL);
    when.tv_nsec = 0;
    CHECK_RESULT(pthread_rwlock_clockwrlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &when), EINVAL);
    CHECK_RESULT(pthread_rwlock_clockwrlock(&lock, CLOCK_BOOTTIME, &when), EINVAL);
    return unused;
}

static void *get_it(void *unused)
{
    struct timespec far = check_in_ms(clock_used, 1000000);
    CHECK_OK(pthread_rwlock_clockwrlock(&lock, clock_used, &far));
    CHECK_OK(pthread_rwlock_unlock(&lock));
    return unused;
}

static void test(clockid_t clock)
{
    clock_used = clock;
    struct timespec past = { 0, 0 };
    CHECK_OK(pthread_rwlock_clockwrlock(&lock, clock_used, &past)); /* free: no deadline is looked at */
    check_join(check_spawn(time_out, NULL));
    struct timespec soon = check_in_ms(clock_used, 5);
    CHECK_RESULT(pthread_rwlock_clockwrlock(&lock, clock_used, &soon), EDEADLK);
    CHECK_OK(pthread_rwlock_unlock(&lock));

    CHECK_OK(pthread_rwlock_rdlock(&lock));
    check_join(check_spawn(time_out, NULL));
    pthread_t thread = check_spawn(get_it, NULL);
    CHECK_OK(pthread_rwlock_unlock(&lock));
    check_join(thread);
}

int main(void)
{
    test(CLOCK_MONOTONIC);
    test(CLOCK_REALTIME);
    return 0;
}
