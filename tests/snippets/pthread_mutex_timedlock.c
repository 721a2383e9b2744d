/* pthread_mutex_timedlock: a deadline on CLOCK_REALTIME, and what each type returns. */
/* ops: MUTEX_LOCK MUTEX_UNLOCK */
#define _GNU_SOURCE
#include "check.h"
#include <semaphore.h>

static struct timespec past = { 1, 0 };

static void *time_out(void *mutex)
{
    struct timespec when = check_in_ms(CLOCK_REALTIME, 5);
    CHECK_RESULT(pthread_mutex_timedlock(mutex, &when), ETIMEDOUT);
    CHECK(check_reached(CLOCK_REALTIME, &when));
    CHECK_RESULT(pthread_mutex_timedlock(mutex, &past), ETIMEDOUT);
    struct timespec bad = when;
    bad.tv_nsec = 1000000000;
    CHECK_RESULT(pthread_mutex_timedlock(mutex, &bad), EINVAL);
    bad.tv_nsec = -1;
    CHECK_RESULT(pthread_mutex_timedlock(mutex, &bad), EINVAL);
    return NULL;
}

/* GLIBC: with priority inheritance the kernel refuses this time, EINVAL. */
static void *time_out_before_the_epoch(void *mutex)
{
    struct timespec when = { -1, 0 };
    CHECK_RESULT(pthread_mutex_timedlock(mutex, &when), ETIMEDOUT);
    return NULL;
}

static void *get_it(void *mutex)
{
    struct timespec far = check_in_ms(CLOCK_REALTIME, 1000000);
    CHECK_OK(pthread_mutex_timedlock(mutex, &far));
    CHECK_OK(pthread_mutex_unlock(mutex));
    return NULL;
}

static void *die_holding(void *mutex)
{
    CHECK_OK(pthread_mutex_timedlock(mutex, &past));
    return NULL;
}

static void test(int type, int protocol, int robust)
{
    pthread_mutex_t mutex;
    pthread_mutexattr_t attr;
    CHECK_EQ(pthread_mutexattr_init(&attr), 0);
    CHECK_EQ(pthread_mutexattr_settype(&attr, type), 0);
    CHECK_EQ(pthread_mutexattr_setprotocol(&attr, protocol), 0);
    CHECK_EQ(pthread_mutexattr_setrobust(&attr, robust), 0);
    CHECK_OK(pthread_mutex_init(&mutex, &attr));
    CHECK_EQ(pthread_mutexattr_destroy(&attr), 0);

    /* A free mutex is had whatever the deadline says. */
    struct timespec when = past;
    CHECK_OK(pthread_mutex_timedlock(&mutex, &when));
    check_join(check_spawn(time_out, &mutex));
    if (protocol == PTHREAD_PRIO_NONE)
        check_join(check_spawn(time_out_before_the_epoch, &mutex));
    when = check_in_ms(CLOCK_REALTIME, 5);
    if (type == PTHREAD_MUTEX_RECURSIVE) {
        CHECK_OK(pthread_mutex_timedlock(&mutex, &when));
        CHECK_OK(pthread_mutex_unlock(&mutex));
    } else if (type == PTHREAD_MUTEX_ERRORCHECK) {
        CHECK_RESULT(pthread_mutex_timedlock(&mutex, &when), EDEADLK);
    } else if (protocol == PTHREAD_PRIO_NONE) {
        CHECK_RESULT(pthread_mutex_timedlock(&mutex, &when), ETIMEDOUT);
        CHECK(check_reached(CLOCK_REALTIME, &when));
    }
    pthread_t thread = check_spawn(get_it, &mutex);
    CHECK_OK(pthread_mutex_unlock(&mutex));
    check_join(thread);

    if (robust == PTHREAD_MUTEX_ROBUST) {
        check_join(check_spawn(die_holding, &mutex));
        CHECK_RESULT(pthread_mutex_timedlock(&mutex, &past), EOWNERDEAD);
        CHECK_OK(pthread_mutex_unlock(&mutex));
        CHECK_RESULT(pthread_mutex_timedlock(&mutex, &past), ENOTRECOVERABLE);
    }
    CHECK_OK(pthread_mutex_destroy(&mutex));
}

int main(void)
{
    static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                 PTHREAD_MUTEX_ADAPTIVE_NP };
    for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        test(types[i], PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
        test(types[i], PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
        test(types[i], PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
    }

    struct timespec bad = { 0, 1000000000 };
    static pthread_mutex_t free_mutex = PTHREAD_MUTEX_INITIALIZER;
    CHECK_OK(pthread_mutex_timedlock(&free_mutex, &bad)); /* checked only when there is something to wait for */
    CHECK_OK(pthread_mutex_unlock(&free_mutex));
    return 0;
}
