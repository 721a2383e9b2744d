/* pthread_rwlock_wrlock: alone inside; the owner that asks again is told. */
/* ops: RWLOCK_WRLOCK RWLOCK_UNLOCK */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>

enum { THREADS = 4, ROUNDS = 15 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int counter, inside;

static void *count(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(pthread_rwlock_wrlock(&lock));
        CHECK_EQ(inside++, 0);
        int seen = counter;
        if (i % 4 == 0)
            sched_yield();
        counter = seen + 1;
        CHECK_EQ(--inside, 0);
        CHECK_OK(pthread_rwlock_unlock(&lock));
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    /* Both kinds of holders keep writers out. */
    for (int round = 0; round < 2; round++) {
        counter = 0;
        CHECK_OK(round ? pthread_rwlock_rdlock(&lock) : pthread_rwlock_wrlock(&lock));
        for (int i = 0; i < THREADS; i++)
            threads[i] = check_spawn(count, NULL);
        CHECK_EQ(counter, 0);
        CHECK_OK(pthread_rwlock_unlock(&lock));
        for (int i = 0; i < THREADS; i++)
            check_join(threads[i]);
        CHECK_EQ(counter, THREADS * ROUNDS);
    }
    CHECK_OK(pthread_rwlock_wrlock(&lock));
    CHECK_RESULT(pthread_rwlock_wrlock(&lock), EDEADLK);
    CHECK_OK(pthread_rwlock_unlock(&lock));
    return 0;
}
