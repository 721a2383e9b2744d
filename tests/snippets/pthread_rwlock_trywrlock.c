/* pthread_rwlock_trywrlock: succeeds on a free lock, EBUSY beside anybody. */
/* ops: RWLOCK_TRYWRLOCK */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>

enum { THREADS = 3, ROUNDS = 8 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int counter;

static void *expect_busy(void *unused)
{
    CHECK_RESULT(pthread_rwlock_trywrlock(&lock), EBUSY);
    return unused;
}

static void *count(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        int error;
        while ((error = pthread_rwlock_trywrlock(&lock)) == EBUSY)
            sched_yield();
        CHECK_EQ(error, 0);
        counter++;
        CHECK_OK(pthread_rwlock_unlock(&lock));
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    CHECK_OK(pthread_rwlock_rdlock(&lock));
    CHECK_RESULT(pthread_rwlock_trywrlock(&lock), EBUSY);
    check_join(check_spawn(expect_busy, NULL));
    CHECK_OK(pthread_rwlock_unlock(&lock));
    CHECK_OK(pthread_rwlock_trywrlock(&lock));
    CHECK_RESULT(pthread_rwlock_trywrlock(&lock), EBUSY);
    check_join(check_spawn(expect_busy, NULL));
    CHECK_OK(pthread_rwlock_unlock(&lock));

    for (int i = 0; i < THREADS; i++)
        threads[i] = check_spawn(count, NULL);
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);
    CHECK_EQ(counter, THREADS * ROUNDS);
    return 0;
}
