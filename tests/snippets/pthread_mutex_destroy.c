/* pthread_mutex_destroy: refuses a mutex that is locked, or that a waiter will lock again; the last holder may destroy
 * and free one that it has unlocked. */
/* ops: MUTEX_DESTROY MUTEX_INIT */
#define _GNU_SOURCE
#include "check.h"
#include <stdlib.h>

struct counted {
    pthread_mutex_t lock;
    int references;
};

/* POSIX's example: who drops the last reference destroys the mutex at once, even if others have just unlocked it. */
static void *drop(void *object)
{
    struct counted *counted = object;
    CHECK_OK(pthread_mutex_lock(&counted->lock));
    bool last = --counted->references == 0;
    CHECK_OK(pthread_mutex_unlock(&counted->lock));
    if (last) {
        CHECK_OK(pthread_mutex_destroy(&counted->lock));
        memset(counted, 0xa5, sizeof(*counted));
        free(counted);
    }
    return NULL;
}

static pthread_mutex_t used = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool waiting, over;

static void *wait_over(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&used));
    waiting = true;
    CHECK_OK(pthread_cond_broadcast(&changed));
    while (!over)
        CHECK_OK(pthread_cond_wait(&changed, &used));
    CHECK_OK(pthread_mutex_unlock(&used));
    return unused;
}

/* One that a thread will lock again when its wait is over is in use. */
static void used_by_waiter(void)
{
    pthread_t waiter = check_spawn(wait_over, NULL);
    CHECK_OK(pthread_mutex_lock(&used));
    while (!waiting)
        CHECK_OK(pthread_cond_wait(&changed, &used));
    CHECK_OK(pthread_mutex_unlock(&used));
    CHECK_RESULT(pthread_mutex_destroy(&used), EBUSY);
    CHECK_OK(pthread_mutex_lock(&used));
    over = true;
    CHECK_OK(pthread_cond_broadcast(&changed));
    CHECK_OK(pthread_mutex_unlock(&used));
    check_join(waiter);
    CHECK_OK(pthread_mutex_destroy(&used));
}

int main(void)
{
    static pthread_mutex_t fixed = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_t mutex;

    CHECK_OK(pthread_mutex_destroy(&fixed)); /* never used */
    CHECK_OK(pthread_mutex_init(&fixed, NULL));
    CHECK_OK(pthread_mutex_lock(&fixed));
    CHECK_RESULT(pthread_mutex_destroy(&fixed), EBUSY);
    CHECK_OK(pthread_mutex_unlock(&fixed)); /* it has stayed usable */
    CHECK_OK(pthread_mutex_trylock(&fixed));
    CHECK_RESULT(pthread_mutex_destroy(&fixed), EBUSY);
    CHECK_OK(pthread_mutex_unlock(&fixed));
    CHECK_OK(pthread_mutex_destroy(&fixed));

    used_by_waiter();

    /* The same memory again and again, with other types. */
    for (int i = 0; i < 10; i++) {
        pthread_mutexattr_t attr;
        CHECK_EQ(pthread_mutexattr_init(&attr), 0);
        CHECK_EQ(pthread_mutexattr_settype(&attr, i % 2 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_ERRORCHECK), 0);
        CHECK_OK(pthread_mutex_init(&mutex, &attr));
        CHECK_OK(pthread_mutex_lock(&mutex));
        CHECK_RESULT(pthread_mutex_lock(&mutex), i % 2 ? 0 : EDEADLK);
        CHECK_OK(pthread_mutex_unlock(&mutex));
        if (i % 2) {
            CHECK_RESULT(pthread_mutex_destroy(&mutex), EBUSY); /* locked twice, unlocked once */
            CHECK_OK(pthread_mutex_unlock(&mutex));
        }
        CHECK_OK(pthread_mutex_destroy(&mutex));
        CHECK_EQ(pthread_mutexattr_destroy(&attr), 0);
    }

    for (int round = 0; round < 5; round++) {
        struct counted *counted = malloc(sizeof(*counted));
        CHECK(counted != NULL);
        CHECK_OK(pthread_mutex_init(&counted->lock, NULL));
        counted->references = 4;
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            threads[i] = check_spawn(drop, counted);
        for (int i = 0; i < 4; i++)
            check_join(threads[i]);
    }
    return 0;
}
