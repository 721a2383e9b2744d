/* pthread_mutex_trylock: EBUSY and no waiting, for every type; tells of a dead owner. */
/* ops: MUTEX_TRYLOCK */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <semaphore.h>

enum { THREADS = 3, ROUNDS = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *count(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        int error;
        while ((error = pthread_mutex_trylock(&lock)) == EBUSY)
            sched_yield();
        CHECK_EQ(error, 0);
        counter++;
        CHECK_OK(pthread_mutex_unlock(&lock));
    }
    return NULL;
}

/* Nothing but the try lets the holder run. */
static void *count_without_yield(void *unused)
{
    (void)unused;
    while (pthread_mutex_trylock(&lock) != 0)
        ;
    counter++;
    CHECK_OK(pthread_mutex_unlock(&lock));
    return NULL;
}

static void *expect_busy(void *mutex)
{
    CHECK_RESULT(pthread_mutex_trylock(mutex), EBUSY);
    return NULL;
}

static void *die_holding(void *mutex)
{
    CHECK_OK(pthread_mutex_trylock(mutex));
    return NULL;
}

static void *recover(void *mutex)
{
    CHECK_RESULT(pthread_mutex_trylock(mutex), EOWNERDEAD);
    CHECK_OK(pthread_mutex_consistent(mutex));
    CHECK_OK(pthread_mutex_unlock(mutex));
    return NULL;
}

int main(void)
{
    static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    static pthread_mutex_t errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;

    CHECK_OK(pthread_mutex_trylock(&lock));
    CHECK_RESULT(pthread_mutex_trylock(&lock), EBUSY);
    check_join(check_spawn(expect_busy, &lock));
    CHECK_OK(pthread_mutex_unlock(&lock));
    CHECK_OK(pthread_mutex_trylock(&errorcheck));
    CHECK_RESULT(pthread_mutex_trylock(&errorcheck), EBUSY);
    CHECK_RESULT(pthread_mutex_lock(&errorcheck), EDEADLK);
    CHECK_OK(pthread_mutex_unlock(&errorcheck));
    CHECK_OK(pthread_mutex_trylock(&adaptive));
    check_join(check_spawn(expect_busy, &adaptive));
    CHECK_OK(pthread_mutex_unlock(&adaptive));
    for (int i = 0; i < 3; i++)
        CHECK_OK(pthread_mutex_trylock(&recursive));
    for (int i = 0; i < 3; i++) {
        check_join(check_spawn(expect_busy, &recursive));
        CHECK_OK(pthread_mutex_unlock(&recursive));
    }

    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = check_spawn(count, NULL);
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);
    CHECK_EQ(counter, THREADS * ROUNDS);
    CHECK_OK(pthread_mutex_lock(&lock));
    threads[0] = check_spawn(count_without_yield, NULL);
    CHECK_EQ(counter, THREADS * ROUNDS);
    CHECK_OK(pthread_mutex_unlock(&lock));
    check_join(threads[0]);
    CHECK_EQ(counter, THREADS * ROUNDS + 1);

    static const int protocols[] = { PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT };
    for (int i = 0; i < 2; i++) {
        pthread_mutex_t robust;
        pthread_mutexattr_t attr;
        CHECK_EQ(pthread_mutexattr_init(&attr), 0);
        CHECK_EQ(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST), 0);
        CHECK_EQ(pthread_mutexattr_setprotocol(&attr, protocols[i]), 0);
        CHECK_OK(pthread_mutex_init(&robust, &attr));
        CHECK_EQ(pthread_mutexattr_destroy(&attr), 0);
        check_join(check_spawn(die_holding, &robust));
        check_join(check_spawn(recover, &robust));
        check_join(check_spawn(die_holding, &robust));
        CHECK_RESULT(pthread_mutex_trylock(&robust), EOWNERDEAD);
        check_join(check_spawn(expect_busy, &robust));
        CHECK_OK(pthread_mutex_unlock(&robust));
        CHECK_RESULT(pthread_mutex_trylock(&robust), ENOTRECOVERABLE);
        CHECK_OK(pthread_mutex_destroy(&robust));
    }
    return 0;
}
