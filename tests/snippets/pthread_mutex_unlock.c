/* pthread_mutex_unlock: who may unlock, and that those who wait get the mutex. */
/* ops: MUTEX_UNLOCK MUTEX_LOCK */
#define _GNU_SOURCE
#include "check.h"
#include <semaphore.h>

enum { WAITERS = 4 };

static int entered;
static sem_t done;

static void *expect_not_owner(void *mutex)
{
    CHECK_RESULT(pthread_mutex_unlock(mutex), EPERM);
    return NULL;
}

static void *enter(void *mutex)
{
    CHECK_OK(pthread_mutex_lock(mutex));
    entered++;
    CHECK_OK(pthread_mutex_unlock(mutex));
    CHECK_EQ(sem_post(&done), 0);
    return NULL;
}

static void test_waiters(pthread_mutex_t *mutex)
{
    pthread_t threads[WAITERS];
    entered = 0;
    CHECK_OK(pthread_mutex_lock(mutex));
    for (int i = 0; i < WAITERS; i++)
        threads[i] = check_spawn(enter, mutex);
    CHECK_EQ(entered, 0);
    CHECK_EQ(sem_trywait(&done), -1); /* nobody can have passed */
    CHECK_OK(pthread_mutex_unlock(mutex));
    for (int i = 0; i < WAITERS; i++)
        CHECK_EQ(sem_wait(&done), 0);
    CHECK_EQ(entered, WAITERS);
    for (int i = 0; i < WAITERS; i++)
        check_join(threads[i]);
}

static void test_owner(pthread_mutex_t *mutex)
{
    CHECK_RESULT(pthread_mutex_unlock(mutex), EPERM); /* not locked at all */
    CHECK_OK(pthread_mutex_lock(mutex));
    check_join(check_spawn(expect_not_owner, mutex));
    CHECK_OK(pthread_mutex_unlock(mutex));
    CHECK_RESULT(pthread_mutex_unlock(mutex), EPERM);
}

int main(void)
{
    static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
    static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    static pthread_mutex_t errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
    pthread_mutex_t robust, inherit;
    pthread_mutexattr_t attr;
    CHECK_EQ(sem_init(&done, 0, 0), 0);
    CHECK_EQ(pthread_mutexattr_init(&attr), 0);
    CHECK_EQ(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST), 0);
    CHECK_OK(pthread_mutex_init(&robust, &attr));
    CHECK_EQ(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_STALLED), 0);
    CHECK_EQ(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT), 0);
    CHECK_EQ(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK), 0);
    CHECK_OK(pthread_mutex_init(&inherit, &attr));

    test_waiters(&normal);
    test_waiters(&recursive);
    test_waiters(&errorcheck);
    test_waiters(&adaptive);
    test_waiters(&robust);
    test_waiters(&inherit);
    test_owner(&recursive);
    test_owner(&errorcheck);
    test_owner(&robust);
    test_owner(&inherit);

    /* Only the last unlock of a recursive mutex lets others in. */
    for (int i = 0; i < 3; i++)
        CHECK_OK(pthread_mutex_lock(&recursive));
    pthread_t thread = check_spawn(enter, &recursive);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(sem_trywait(&done), -1);
        CHECK_OK(pthread_mutex_unlock(&recursive));
    }
    CHECK_EQ(sem_wait(&done), 0);
    check_join(thread);
    return 0;
}
