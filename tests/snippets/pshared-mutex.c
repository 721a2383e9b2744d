/* Process-shared mutexes, robust ones too, between a parent and a child. */
/* outside: the child is another process */
/* tests: pthread_mutex_init pthread_mutex_lock pthread_mutex_trylock pthread_mutex_timedlock pthread_mutex_unlock */
/* tests: pthread_mutex_consistent pthread_mutex_destroy */
/* outside: when the child takes and gives is not a matter of this schedule */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <sched.h>
#include <semaphore.h>

enum { ROUNDS = 200 };

struct shared {
    pthread_mutex_t lock;
    sem_t held, release;
    int counter, inside;
};

static void count(struct shared *shared)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(pthread_mutex_lock(&shared->lock));
        CHECK_EQ(shared->inside++, 0);
        if (i % 32 == 0)
            sched_yield();
        shared->counter++;
        CHECK_EQ(--shared->inside, 0);
        CHECK_OK(pthread_mutex_unlock(&shared->lock));
    }
}

static void child_count(void *shared)
{
    count(shared);
    _exit(0);
}

static void child_hold(void *object)
{
    struct shared *shared = object;
    CHECK_OK(pthread_mutex_lock(&shared->lock));
    CHECK_OK(sem_post(&shared->held));
    CHECK_OK(sem_wait(&shared->release));
    CHECK_OK(pthread_mutex_unlock(&shared->lock));
    _exit(0);
}

static void child_die(void *object)
{
    struct shared *shared = object;
    CHECK_OK(pthread_mutex_lock(&shared->lock));
    _exit(0);
}

static void *count_in_thread(void *shared)
{
    count(shared);
    return NULL;
}

static void test(struct shared *shared, int type, int robust, int protocol)
{
    pthread_mutexattr_t attr;
    CHECK_EQ(pthread_mutexattr_init(&attr), 0);
    CHECK_EQ(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
    CHECK_EQ(pthread_mutexattr_settype(&attr, type), 0);
    CHECK_EQ(pthread_mutexattr_setrobust(&attr, robust), 0);
    CHECK_EQ(pthread_mutexattr_setprotocol(&attr, protocol), 0);
    CHECK_OK(pthread_mutex_init(&shared->lock, &attr));
    CHECK_EQ(pthread_mutexattr_destroy(&attr), 0);

    shared->counter = 0;
    pid_t child = child_start(child_count, shared);
    pthread_t thread = check_spawn(count_in_thread, shared);
    count(shared);
    check_join(thread);
    CHECK_EXITED(child_wait(child), 0);
    CHECK_EQ(shared->counter, 3 * ROUNDS);

    child = child_start(child_hold, shared);
    CHECK_OK(sem_wait(&shared->held));
    CHECK_RESULT(pthread_mutex_trylock(&shared->lock), EBUSY);
    struct timespec when = check_in_ms(CLOCK_REALTIME, 5);
    CHECK_RESULT(pthread_mutex_timedlock(&shared->lock, &when), ETIMEDOUT);
    CHECK(check_reached(CLOCK_REALTIME, &when));
    CHECK_OK(sem_post(&shared->release));
    CHECK_OK(pthread_mutex_lock(&shared->lock));
    CHECK_OK(pthread_mutex_unlock(&shared->lock));
    CHECK_EXITED(child_wait(child), 0);

    if (robust == PTHREAD_MUTEX_ROBUST) {
        child = child_start(child_die, shared);
        CHECK_EXITED(child_wait(child), 0);
        CHECK_RESULT(pthread_mutex_lock(&shared->lock), EOWNERDEAD);
        CHECK_OK(pthread_mutex_consistent(&shared->lock));
        CHECK_OK(pthread_mutex_unlock(&shared->lock));
        child = child_start(child_die, shared);
        CHECK_EXITED(child_wait(child), 0);
        CHECK_RESULT(pthread_mutex_trylock(&shared->lock), EOWNERDEAD);
        CHECK_OK(pthread_mutex_unlock(&shared->lock));
        CHECK_RESULT(pthread_mutex_lock(&shared->lock), ENOTRECOVERABLE);
    }
    CHECK_OK(pthread_mutex_destroy(&shared->lock));
}

int main(void)
{
    struct shared *shared = child_shared(sizeof(*shared));
    CHECK_OK(sem_init(&shared->held, 1, 0));
    CHECK_OK(sem_init(&shared->release, 1, 0));
    test(shared, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    test(shared, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    test(shared, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
    test(shared, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
    test(shared, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_INHERIT);
    return 0;
}
