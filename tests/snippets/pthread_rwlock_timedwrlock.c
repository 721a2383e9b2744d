/* pthread_rwlock_timedwrlock: a deadline on CLOCK_REALTIME; waits for readers and for a writer. */
/* ops: RWLOCK_WRLOCK */
#define _GNU_SOURCE
#include "check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static const clockid_t clock_used = CLOCK_REALTIME;

static void *time_out(void *unused)
{
    struct timespec when = check_in_ms(clock_used, 10);
    CHECK_RESULT(pthread_rwlock_timedwrlock(&lock, &when), ETIMEDOUT);
    CHECK(check_reached(clock_used, &when));
    CHECK_RESULT(pthread_rwlock_timedwrlock(&lock, &when), ETIMEDOUT); /* in the past now */
    struct timespec past = { 0, 0 };
    CHECK_RESULT(pthread_rwlock_timedwrlock(&lock, &past), ETIMEDOUT);
    when.tv_nsec = 1000000000;
    CHECK_RESULT(pthread_rwlock_timedwrlock(&lock, &when), EINVAL);
    when.tv_nsec = -1;
    CHECK_RESULT(pthread_rwlock_timedwrlock(&lock, &when), EINVAL);
    return unused;
}

static void *get_it(void *unused)
{
    struct timespec far = check_in_ms(clock_used, 1000000);
    CHECK_OK(pthread_rwlock_timedwrlock(&lock, &far));
    CHECK_OK(pthread_rwlock_unlock(&lock));
    return unused;
}

int main(void)
{
    struct timespec past = { 0, 0 };
    CHECK_OK(pthread_rwlock_timedwrlock(&lock, &past)); /* free: no deadline is looked at */
    check_join(check_spawn(time_out, NULL));
    struct timespec soon = check_in_ms(clock_used, 5);
    CHECK_RESULT(pthread_rwlock_timedwrlock(&lock, &soon), EDEADLK);
    CHECK_OK(pthread_rwlock_unlock(&lock));

    CHECK_OK(pthread_rwlock_rdlock(&lock));
    check_join(check_spawn(time_out, NULL));
    pthread_t thread = check_spawn(get_it, NULL);
    CHECK_OK(pthread_rwlock_unlock(&lock));
    check_join(thread);
    return 0;
}
