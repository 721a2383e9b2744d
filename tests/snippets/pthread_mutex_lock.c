/* pthread_mutex_lock: excludes others, for every type and protocol; a robust mutex tells that its owner has died. */
/* ops: MUTEX_LOCK MUTEX_UNLOCK */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>

enum { THREADS = 4, ROUNDS = 20 };

struct shared {
    pthread_mutex_t lock;
    int counter;
    int inside;
    int depth;
};

static void *count(void *object)
{
    struct shared *shared = object;
    for (int i = 0; i < ROUNDS; i++) {
        for (int d = 0; d < shared->depth; d++)
            CHECK_OK(pthread_mutex_lock(&shared->lock));
        CHECK_EQ(shared->inside++, 0);
        int seen = shared->counter;
        if (i % 4 == 0)
            sched_yield();
        shared->counter = seen + 1;
        CHECK_EQ(--shared->inside, 0);
        for (int d = 0; d < shared->depth; d++)
            CHECK_OK(pthread_mutex_unlock(&shared->lock));
    }
    return NULL;
}

static void test_exclusion(struct shared *shared)
{
    pthread_t threads[THREADS];
    shared->counter = shared->inside = 0;
    CHECK_OK(pthread_mutex_lock(&shared->lock));
    for (int i = 0; i < THREADS; i++)
        threads[i] = check_spawn(count, shared);
    CHECK_EQ(shared->counter, 0);
    CHECK_OK(pthread_mutex_unlock(&shared->lock));
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);
    CHECK_EQ(shared->counter, THREADS * ROUNDS);
}

static void *die_holding(void *mutex)
{
    CHECK_OK(pthread_mutex_lock(mutex));
    return NULL;
}

static void *lock_after_death(void *mutex)
{
    CHECK_RESULT(pthread_mutex_lock(mutex), EOWNERDEAD);
    CHECK_OK(pthread_mutex_consistent(mutex));
    CHECK_OK(pthread_mutex_unlock(mutex));
    return NULL;
}

static void *lock_and_leave(void *mutex)
{
    /* Whoever comes first, of the thread that dies and this one, the mutex is free or tells of the death. */
    int error = pthread_mutex_lock(mutex);
    CHECK(error == 0 || error == EOWNERDEAD);
    if (error)
        CHECK_OK(pthread_mutex_consistent(mutex));
    CHECK_OK(pthread_mutex_unlock(mutex));
    return NULL;
}

static void test_robust(int type, int protocol)
{
    pthread_mutex_t mutex;
    pthread_mutexattr_t attr;
    CHECK_EQ(pthread_mutexattr_init(&attr), 0);
    CHECK_EQ(pthread_mutexattr_settype(&attr, type), 0);
    CHECK_EQ(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST), 0);
    CHECK_EQ(pthread_mutexattr_setprotocol(&attr, protocol), 0);

    CHECK_OK(pthread_mutex_init(&mutex, &attr));
    check_join(check_spawn(die_holding, &mutex));
    check_join(check_spawn(lock_after_death, &mutex));
    CHECK_OK(pthread_mutex_lock(&mutex)); /* it is as new */
    CHECK_OK(pthread_mutex_unlock(&mutex));

    /* Waiters at the time of the death. */
    pthread_t dying = check_spawn(die_holding, &mutex);
    pthread_t other = check_spawn(lock_and_leave, &mutex);
    check_join(dying);
    check_join(other);
    int error = pthread_mutex_lock(&mutex);
    CHECK(error == 0 || error == EOWNERDEAD);

    /* Unlocked without being repaired: of no use any more, for all. */
    if (error == 0) {
        CHECK_OK(pthread_mutex_unlock(&mutex));
        check_join(check_spawn(die_holding, &mutex));
        CHECK_RESULT(pthread_mutex_lock(&mutex), EOWNERDEAD);
    }
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_RESULT(pthread_mutex_lock(&mutex), ENOTRECOVERABLE);
    CHECK_RESULT(pthread_mutex_lock(&mutex), ENOTRECOVERABLE);
    CHECK_RESULT(pthread_mutex_trylock(&mutex), ENOTRECOVERABLE);
    CHECK_OK(pthread_mutex_destroy(&mutex));
    CHECK_EQ(pthread_mutexattr_destroy(&attr), 0);
}

/* A mutex with a priority ceiling can be locked only below the ceiling, under a real-time policy. */
static void *test_ceiling(void *unused)
{
    struct sched_param param = { .sched_priority = 1 };
    (void)unused;
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) != 0)
        return NULL; /* needs a privilege */
    pthread_mutex_t mutex;
    pthread_mutexattr_t attr;
    CHECK_EQ(pthread_mutexattr_init(&attr), 0);
    CHECK_EQ(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK), 0);
    CHECK_EQ(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT), 0);
    CHECK_EQ(pthread_mutexattr_setprioceiling(&attr, 2), 0);
    CHECK_OK(pthread_mutex_init(&mutex, &attr));
    CHECK_EQ(pthread_mutexattr_destroy(&attr), 0);
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_RESULT(pthread_mutex_lock(&mutex), EDEADLK);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_mutex_destroy(&mutex));
    return NULL;
}

int main(void)
{
    static struct shared initialised[] = {
        { .lock = PTHREAD_MUTEX_INITIALIZER, .depth = 1 },
        { .lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, .depth = 3 },
        { .lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, .depth = 1 },
        { .lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP, .depth = 1 },
    };
    for (unsigned i = 0; i < sizeof(initialised) / sizeof(initialised[0]); i++)
        test_exclusion(&initialised[i]);
    CHECK_OK(pthread_mutex_lock(&initialised[2].lock));
    CHECK_RESULT(pthread_mutex_lock(&initialised[2].lock), EDEADLK);
    CHECK_OK(pthread_mutex_unlock(&initialised[2].lock));

    static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK };
    for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct shared shared = { .depth = types[i] == PTHREAD_MUTEX_RECURSIVE ? 2 : 1 };
        pthread_mutexattr_t attr;
        CHECK_EQ(pthread_mutexattr_init(&attr), 0);
        CHECK_EQ(pthread_mutexattr_settype(&attr, types[i]), 0);
        CHECK_EQ(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT), 0);
        CHECK_OK(pthread_mutex_init(&shared.lock, &attr));
        test_exclusion(&shared);
        CHECK_OK(pthread_mutex_destroy(&shared.lock));
        CHECK_EQ(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_NONE), 0);
        CHECK_EQ(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST), 0);
        CHECK_OK(pthread_mutex_init(&shared.lock, &attr));
        test_exclusion(&shared);
        CHECK_OK(pthread_mutex_destroy(&shared.lock));
        CHECK_EQ(pthread_mutexattr_destroy(&attr), 0);
        test_robust(types[i], PTHREAD_PRIO_NONE);
        test_robust(types[i], PTHREAD_PRIO_INHERIT);
    }
    check_join(check_spawn(test_ceiling, NULL));
    return 0;
}
