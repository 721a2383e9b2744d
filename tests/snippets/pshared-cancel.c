/* Cancelling a thread that waits for another process: it has its mutex, and its cleanup handlers exclude others. */
/* outside: the wait is one for other processes */
/* tests: pthread_cancel sem_wait pthread_cond_wait */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <sched.h>
#include <semaphore.h>

static struct shared {
    sem_t gate;
    pthread_mutex_t lock;
    pthread_cond_t never;
} * shared;
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static int inside, cleanups;
static bool waiting;

static void count(void *unused)
{
    (void)unused;
    CHECK_OK(pthread_mutex_lock(&count_lock));
    CHECK_EQ(inside++, 0);
    sched_yield();
    CHECK_EQ(--inside, 0);
    cleanups++;
    CHECK_OK(pthread_mutex_unlock(&count_lock));
}

static void unlock(void *unused)
{
    count(unused);
    CHECK_OK(pthread_mutex_unlock(&shared->lock));
}

static void *in_sem_wait(void *unused)
{
    pthread_cleanup_push(count, NULL);
    waiting = true;
    sem_wait(&shared->gate);
    pthread_cleanup_pop(0);
    return unused;
}

static void *in_cond_wait(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&shared->lock));
    pthread_cleanup_push(unlock, NULL);
    waiting = true;
    for (;;)
        pthread_cond_wait(&shared->never, &shared->lock);
    pthread_cleanup_pop(0);
    return unused;
}

int main(void)
{
    void *(*const waits[])(void *) = { in_sem_wait, in_cond_wait };
    pthread_mutexattr_t mutex;
    pthread_condattr_t cond;
    shared = child_shared(sizeof(*shared));
    CHECK_EQ(pthread_mutexattr_init(&mutex), 0);
    CHECK_EQ(pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED), 0);
    CHECK_EQ(pthread_condattr_init(&cond), 0);
    CHECK_EQ(pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED), 0);
    CHECK_OK(sem_init(&shared->gate, 1, 0));
    CHECK_OK(pthread_mutex_init(&shared->lock, &mutex));
    CHECK_OK(pthread_cond_init(&shared->never, &cond));
    for (int i = 0; i < 2; i++) {
        waiting = false;
        cleanups = 0;
        pthread_t thread = check_spawn(waits[i], NULL);
        while (!waiting)
            usleep(100);
        usleep(1000);
        CHECK_OK(pthread_cancel(thread));
        count(NULL);
        CHECK(check_join(thread) == PTHREAD_CANCELED);
        CHECK_EQ(cleanups, 2);
    }
    return 0;
}
