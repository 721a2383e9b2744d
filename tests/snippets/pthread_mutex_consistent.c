/* pthread_mutex_consistent: repairs a robust mutex whose owner has died; without it, nobody gets the mutex again. */
/* ops: MUTEX_CONSISTENT MUTEX_LOCK MUTEX_UNLOCK */
#define _GNU_SOURCE
#include "check.h"
#include <semaphore.h>

enum { WAITERS = 3 };

static pthread_mutex_t mutex;
static int told, repaired, refused;

static void *die_holding(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&mutex));
    return unused;
}

/* A cancelled owner has died as well. */
static void *die_cancelled(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_EQ(pthread_cancel(pthread_self()), 0);
    pthread_testcancel();
    return unused;
}

static void *repair(void *unused)
{
    int error = pthread_mutex_lock(&mutex);
    if (error == EOWNERDEAD) {
        told++;
        CHECK_OK(pthread_mutex_consistent(&mutex));
    } else {
        CHECK_EQ(error, 0);
    }
    repaired++;
    CHECK_OK(pthread_mutex_unlock(&mutex));
    return unused;
}

/* The first to come leaves it broken: all others must be turned away, also those that already wait. */
static void *leave_broken(void *unused)
{
    int error = pthread_mutex_lock(&mutex);
    if (error == EOWNERDEAD) {
        told++;
        CHECK_OK(pthread_mutex_unlock(&mutex));
    } else {
        CHECK_EQ(error, ENOTRECOVERABLE);
        __atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
    }
    return unused;
}

static void all(void *(*start)(void *))
{
    pthread_t threads[WAITERS];
    for (int i = 0; i < WAITERS; i++)
        threads[i] = check_spawn(start, NULL);
    for (int i = 0; i < WAITERS; i++)
        check_join(threads[i]);
}

static void test(int protocol)
{
    pthread_mutexattr_t attr;
    CHECK_EQ(pthread_mutexattr_init(&attr), 0);
    CHECK_EQ(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST), 0);
    CHECK_EQ(pthread_mutexattr_setprotocol(&attr, protocol), 0);
    CHECK_OK(pthread_mutex_init(&mutex, &attr));
    CHECK_EQ(pthread_mutexattr_destroy(&attr), 0);

    CHECK_RESULT(pthread_mutex_consistent(&mutex), EINVAL); /* nothing to repair */
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_RESULT(pthread_mutex_consistent(&mutex), EINVAL);
    CHECK_OK(pthread_mutex_unlock(&mutex));

    told = repaired = refused = 0;
    check_join(check_spawn(die_holding, NULL));
    all(repair);
    CHECK_EQ(told, 1);
    CHECK_EQ(repaired, WAITERS);

    CHECK(check_join(check_spawn(die_cancelled, NULL)) == PTHREAD_CANCELED);
    all(repair);
    CHECK_EQ(told, 2);

    check_join(check_spawn(die_holding, NULL));
    all(leave_broken);
    CHECK_EQ(told, 3);
    CHECK_EQ(refused, WAITERS - 1);
    CHECK_RESULT(pthread_mutex_lock(&mutex), ENOTRECOVERABLE);
    CHECK_OK(pthread_mutex_destroy(&mutex));
}

int main(void)
{
    static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
    CHECK_OK(pthread_mutex_lock(&normal));
    CHECK_RESULT(pthread_mutex_consistent(&normal), EINVAL); /* not robust */
    CHECK_OK(pthread_mutex_unlock(&normal));
    test(PTHREAD_PRIO_NONE);
    test(PTHREAD_PRIO_INHERIT);
    return 0;
}
