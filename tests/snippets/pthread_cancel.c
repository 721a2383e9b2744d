/* pthread_cancel: acts at cancellation points and nowhere else, runs cleanup handlers and destructors. */
/* ops: THREAD_CANCEL */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t gate, ready;
static int cleanups, nowhere;

static void unlock(void *mutex)
{
    /* The wait was cancelled with the mutex held again: so it can be unlocked, and nobody else changes the counter. */
    cleanups++;
    CHECK_OK(pthread_mutex_unlock(mutex));
}

static void *in_cond_wait(void *unused)
{
    (void)unused;
    CHECK_OK(pthread_mutex_lock(&lock));
    pthread_cleanup_push(unlock, &lock);
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *in_cond_timedwait(void *unused)
{
    (void)unused;
    struct timespec far = check_in_ms(CLOCK_REALTIME, 1000000);
    CHECK_OK(pthread_mutex_lock(&lock));
    pthread_cleanup_push(unlock, &lock);
    for (;;)
        pthread_cond_timedwait(&never, &lock, &far);
    pthread_cleanup_pop(0);
    return NULL;
}

static void count(void *unused)
{
    (void)unused;
    CHECK_OK(pthread_mutex_lock(&lock));
    cleanups++;
    CHECK_OK(pthread_mutex_unlock(&lock));
}

#define POINT(name, statement)                                                                                         \
    static void *name(void *unused)                                                                                    \
    {                                                                                                                  \
        (void)unused;                                                                                                  \
        pthread_cleanup_push(count, NULL);                                                                             \
        for (;;)                                                                                                       \
            statement;                                                                                                 \
        pthread_cleanup_pop(0);                                                                                        \
        return NULL;                                                                                                   \
    }

static const struct timespec long_time = { 1000, 0 };

POINT(in_sem_wait, sem_wait(&gate))
POINT(in_sleep, sleep(1000))
POINT(in_usleep, usleep(900000))
POINT(in_nanosleep, nanosleep(&long_time, NULL))
POINT(in_clock_nanosleep, clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, NULL))
POINT(in_pause, pause())
POINT(in_testcancel, (pthread_testcancel(), sched_yield()))

static void *in_sem_timedwait(void *unused)
{
    (void)unused;
    struct timespec far = check_in_ms(CLOCK_REALTIME, 1000000);
    pthread_cleanup_push(count, NULL);
    for (;;)
        sem_timedwait(&gate, &far);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *in_sigwait(void *unused)
{
    (void)unused;
    sigset_t set;
    int signal;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_cleanup_push(count, NULL);
    for (;;)
        sigwait(&set, &signal);
    pthread_cleanup_pop(0);
    return NULL;
}

/* Asynchronously cancellable threads may do nothing but compute and call three functions; sched_yield is what lets a
 * scheduler on one CPU take its turn. */
static void *asynchronous(void *unused)
{
    (void)unused;
    pthread_cleanup_push(count, NULL);
    CHECK_EQ(sem_post(&ready), 0);
    CHECK_EQ(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
    for (;;)
        sched_yield();
    pthread_cleanup_pop(0);
    return NULL;
}

/* Not a cancellation point: locking, posting, unlocking. The request waits for the first that is one. */
static void *late(void *unused)
{
    (void)unused;
    pthread_cleanup_push(count, NULL);
    CHECK_OK(pthread_cancel(pthread_self()));
    CHECK_OK(pthread_mutex_lock(&lock));
    CHECK_OK(pthread_mutex_unlock(&lock));
    CHECK_OK(pthread_mutex_trylock(&lock) == EBUSY ? 0 : pthread_mutex_unlock(&lock));
    CHECK_OK(sem_post(&ready));
    CHECK_OK(sched_yield());
    pthread_testcancel();
    check_failed(__FILE__, __LINE__, "pthread_testcancel acts on the request", 0);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *blocked_in_mutex(void *unused)
{
    (void)unused;
    pthread_cleanup_push(count, NULL);
    CHECK_OK(pthread_mutex_lock(&lock)); /* no cancellation point, however long it takes */
    CHECK_OK(pthread_mutex_unlock(&lock));
    pthread_testcancel();
    check_failed(__FILE__, __LINE__, "pthread_testcancel acts on the request", 0);
    pthread_cleanup_pop(0);
    return NULL;
}

/* With the asynchronous type, a request acts in the middle of a lock. */
static void *asynchronous_in_mutex(void *unused)
{
    pthread_cleanup_push(count, NULL);
    CHECK_EQ(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
    CHECK_EQ(sem_post(&ready), 0);
    pthread_mutex_lock(&held);
    check_failed(__FILE__, __LINE__, "the lock is cancelled", 0);
    pthread_cleanup_pop(0);
    return unused;
}

/* Also while it waits on a condition variable: when it has the mutex again. */
static void *asynchronous_in_cond_wait(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&lock));
    pthread_cleanup_push(unlock, &lock);
    CHECK_EQ(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
    CHECK_EQ(sem_post(&ready), 0);
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(0);
    return unused;
}

/* A cleanup handler that asks for the cancellation again, and then passes libc's own cancellation points. */
static void ask_again(void *unused)
{
    (void)unused;
    CHECK_OK(pthread_cancel(pthread_self()));
    CHECK_EQ(write(nowhere, "x", 1), 1);
    cleanups++;
}

static void *cancel_self(void *type)
{
    pthread_cleanup_push(ask_again, NULL);
    CHECK_EQ(pthread_setcanceltype(*(int *)type, NULL), 0);
    CHECK_OK(pthread_cancel(pthread_self()));
    pthread_testcancel();
    check_failed(__FILE__, __LINE__, "the request acts", 0);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *give(void *value)
{
    CHECK_EQ(sem_post(&ready), 0);
    return value;
}

int main(void)
{
    static void *(*const points[])(void *) = { in_cond_wait, in_cond_timedwait, in_sem_wait,  in_sem_timedwait,
                                               in_sleep,     in_usleep,         in_nanosleep, in_pause,
                                               in_sigwait,   in_testcancel,     asynchronous, in_clock_nanosleep };
    enum { POINTS = sizeof(points) / sizeof(points[0]) };
    pthread_t threads[POINTS];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    CHECK_EQ(sem_init(&gate, 0, 0), 0);
    CHECK_EQ(sem_init(&ready, 0, 0), 0);

    /* Alone, then all at once. A thread that is cancelled before it runs has no handler yet, unless it says that it
     * has: so the count has an upper bound only, and every thread that had begun to wait is in it. */
    for (int i = 0; i < POINTS; i++) {
        pthread_t thread = check_spawn(points[i], NULL);
        CHECK_OK(pthread_cancel(thread));
        CHECK(check_join(thread) == PTHREAD_CANCELED);
    }
    for (int i = 0; i < POINTS; i++)
        threads[i] = check_spawn(points[i], NULL);
    for (int i = 0; i < POINTS; i++)
        CHECK_OK(pthread_cancel(threads[i]));
    for (int i = 0; i < POINTS; i++)
        CHECK(check_join(threads[i]) == PTHREAD_CANCELED);
    CHECK(cleanups <= 2 * POINTS);
    CHECK_OK(pthread_mutex_lock(&lock)); /* whoever was cancelled has unlocked it */
    CHECK_OK(pthread_mutex_unlock(&lock));

    cleanups = 0;
    CHECK(check_join(check_spawn(late, NULL)) == PTHREAD_CANCELED);
    CHECK_EQ(cleanups, 1);

    CHECK_OK(pthread_mutex_lock(&lock));
    pthread_t thread = check_spawn(blocked_in_mutex, NULL);
    CHECK_OK(pthread_cancel(thread));
    CHECK_RESULT(pthread_tryjoin_np(thread, NULL), EBUSY);
    CHECK_OK(pthread_mutex_unlock(&lock));
    CHECK(check_join(thread) == PTHREAD_CANCELED);
    CHECK_EQ(cleanups, 2);

    while (sem_trywait(&ready) == 0)
        ;
    void *(*const asynchronous_waits[])(void *) = { asynchronous_in_mutex, asynchronous_in_cond_wait };
    CHECK_OK(pthread_mutex_lock(&held));
    for (int i = 0; i < 2; i++) {
        thread = check_spawn(asynchronous_waits[i], NULL);
        CHECK_EQ(sem_wait(&ready), 0);
        CHECK_OK(pthread_cancel(thread));
        CHECK(check_join(thread) == PTHREAD_CANCELED);
    }
    CHECK_OK(pthread_mutex_unlock(&held));
    CHECK_EQ(cleanups, 4);

    nowhere = open("/dev/null", O_WRONLY);
    int types[] = { PTHREAD_CANCEL_DEFERRED, PTHREAD_CANCEL_ASYNCHRONOUS };
    for (int i = 0; i < 2; i++)
        CHECK(check_join(check_spawn(cancel_self, &types[i])) == PTHREAD_CANCELED);
    CHECK_EQ(cleanups, 6);

    /* Too late, or just in time: sem_post is no cancellation point, so the result is the thread's own. */
    thread = check_spawn(give, &lock);
    CHECK_OK(pthread_cancel(thread));
    CHECK_OK(pthread_cancel(thread));
    CHECK(check_join(thread) == &lock);
    return 0;
}
