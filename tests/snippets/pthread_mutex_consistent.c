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

/* GLIBC: a wake-up is lost where several threads wait in the kernel for a mutex that is left broken. The unlock wakes
 * one of them. That one takes the lock word with the mark of waiters, sees that the mutex is not recoverable, and gives
 * it back by lll_unlock(), which reads the word as a signed number: with that mark it is negative, not above 1, and
 * nobody else is woken (2.36, nptl/pthread_mutex_lock.c). So one of two that wait sleeps for ever, natively and under
 * `none`; hence more than one never waits here without a deadline. */
static int lock_again_and_again(void)
{
    int error;
    do {
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 5000000;
        soon.tv_sec += soon.tv_nsec / 1000000000;
        soon.tv_nsec %= 1000000000;
        error = pthread_mutex_timedlock(&mutex, &soon);
    } while (error == ETIMEDOUT);
    return error;
}

/* The first to come leaves it broken: all others must be turned away, also those that already wait. */
static void *leave_broken(void *again)
{
    int error = again ? lock_again_and_again() : pthread_mutex_lock(&mutex);
    if (error == EOWNERDEAD) {
        told++;
        CHECK_OK(pthread_mutex_unlock(&mutex));
    } else {
        CHECK_EQ(error, ENOTRECOVERABLE);
        __atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
    }
    return again;
}

static void start_and_join(void *(*start)(void *), void *argument, int count)
{
    pthread_t threads[WAITERS];
    for (int i = 0; i < count; i++)
        threads[i] = check_spawn(start, argument);
    for (int i = 0; i < count; i++)
        check_join(threads[i]);
}

/* This many threads come to a mutex whose owner has died. */
static void all_refused(const pthread_mutexattr_t *attr, void *again, int count)
{
    CHECK_OK(pthread_mutex_init(&mutex, attr));
    told = refused = 0;
    check_join(check_spawn(die_holding, NULL));
    start_and_join(leave_broken, again, count);
    CHECK_EQ(told, 1);
    CHECK_EQ(refused, count - 1);
    CHECK_RESULT(pthread_mutex_lock(&mutex), ENOTRECOVERABLE);
    CHECK_OK(pthread_mutex_destroy(&mutex));
}

static void test(int protocol)
{
    pthread_mutexattr_t attr;
    CHECK_EQ(pthread_mutexattr_init(&attr), 0);
    CHECK_EQ(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST), 0);
    CHECK_EQ(pthread_mutexattr_setprotocol(&attr, protocol), 0);
    CHECK_OK(pthread_mutex_init(&mutex, &attr));

    CHECK_RESULT(pthread_mutex_consistent(&mutex), EINVAL); /* nothing to repair */
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_RESULT(pthread_mutex_consistent(&mutex), EINVAL);
    CHECK_OK(pthread_mutex_unlock(&mutex));

    told = repaired = 0;
    check_join(check_spawn(die_holding, NULL));
    start_and_join(repair, NULL, WAITERS);
    CHECK_EQ(told, 1);
    CHECK_EQ(repaired, WAITERS);

    CHECK(check_join(check_spawn(die_cancelled, NULL)) == PTHREAD_CANCELED);
    start_and_join(repair, NULL, WAITERS);
    CHECK_EQ(told, 2);

    CHECK_OK(pthread_mutex_destroy(&mutex));

    all_refused(&attr, NULL, 2);
    all_refused(&attr, &mutex, WAITERS);
    CHECK_EQ(pthread_mutexattr_destroy(&attr), 0);
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
