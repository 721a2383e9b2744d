/* pthread_mutex_setprioceiling() locks the mutex while it changes the ceiling: it waits for a holder, and gives back
 * what the ceiling was. It does not where its arguments are wrong, or its thread has the mutex. */
/* ops: MUTEX_LOCK MUTEX_UNLOCK */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <stdint.h>

static pthread_mutex_t mutex;

static void init(pthread_mutex_t *which, int type, int protocol)
{
    pthread_mutexattr_t attr;
    CHECK_EQ(pthread_mutexattr_init(&attr), 0);
    CHECK_EQ(pthread_mutexattr_settype(&attr, type), 0);
    CHECK_EQ(pthread_mutexattr_setprotocol(&attr, protocol), 0);
    CHECK_OK(pthread_mutex_init(which, &attr));
    CHECK_EQ(pthread_mutexattr_destroy(&attr), 0);
}

static void *change(void *unused)
{
    (void)unused;
    int old;
    CHECK_OK(pthread_mutex_setprioceiling(&mutex, 20, &old));
    CHECK_EQ(old, 10);
    return NULL;
}

/* To lock it takes a real-time policy, and with it a privilege. */
static void test_holder(void)
{
    struct sched_param param = { .sched_priority = 1 };
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) != 0)
        return;
    pthread_t thread;
    int before, now;
    init(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_PROTECT);
    CHECK_OK(pthread_mutex_setprioceiling(&mutex, 10, &now));
    CHECK_OK(pthread_create(&thread, NULL, change, NULL));
    CHECK_OK(pthread_mutex_lock(&mutex));
    CHECK_EQ(pthread_mutex_getprioceiling(&mutex, &before), 0);
    sched_yield();
    CHECK_EQ(pthread_mutex_getprioceiling(&mutex, &now), 0);
    CHECK_EQ(now, before);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    CHECK_OK(pthread_join(thread, NULL));
    CHECK_EQ(pthread_mutex_getprioceiling(&mutex, &now), 0);
    CHECK_EQ(now, 20);
    CHECK_OK(pthread_mutex_destroy(&mutex));
    param.sched_priority = 0;
    CHECK_EQ(pthread_setschedparam(pthread_self(), SCHED_OTHER, &param), 0);
}

static void *raise_ceiling(void *ceiling)
{
    int old;
    for (int i = 0; i < 3; i++)
        CHECK_OK(pthread_mutex_setprioceiling(&mutex, (int)(intptr_t)ceiling, &old));
    return NULL;
}

static void test_at_once(void)
{
    pthread_t thread;
    int old;
    init(&mutex, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_PROTECT);
    CHECK_OK(pthread_create(&thread, NULL, raise_ceiling, (void *)30));
    raise_ceiling((void *)40);
    CHECK_OK(pthread_join(thread, NULL));
    CHECK_OK(pthread_mutex_setprioceiling(&mutex, 50, &old));
    CHECK(old == 30 || old == 40);
    CHECK_OK(pthread_mutex_destroy(&mutex));
}

int main(void)
{
    int old = 7;
    init(&mutex, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_PROTECT);
    CHECK_RESULT(pthread_mutex_setprioceiling(&mutex, 0, &old), EINVAL);
    CHECK_RESULT(pthread_mutex_setprioceiling(&mutex, 100, &old), EINVAL);
    CHECK_EQ(old, 7);
    CHECK_OK(pthread_mutex_destroy(&mutex));
    init(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE);
    CHECK_RESULT(pthread_mutex_setprioceiling(&mutex, 10, &old), EINVAL);
    CHECK_OK(pthread_mutex_destroy(&mutex));
    test_at_once();
    test_holder();
    return 0;
}
