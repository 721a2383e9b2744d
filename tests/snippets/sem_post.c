/* sem_post: wakes, overflows with an error, and may be called in a signal handler, whatever was interrupted. */
/* ops: SEM_POST SEM_WAIT */
#define _GNU_SOURCE
#include "check.h"
#include <limits.h>
#include <semaphore.h>
#include <signal.h>

enum { WAITERS = 4, SIGNALS = 5 };

static sem_t sem, from_handler;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *wait_once(void *unused)
{
    CHECK_OK(sem_wait(&sem));
    return unused;
}

static void post_in_handler(int signal)
{
    (void)signal;
    int saved = errno;
    CHECK_EQ(sem_post(&from_handler), 0);
    errno = saved;
}

/* Is interrupted wherever it happens to be: in a lock, a yield, between them. */
static void *work(void *stop)
{
    while (!__atomic_load_n((bool *)stop, __ATOMIC_ACQUIRE)) {
        CHECK_OK(pthread_mutex_lock(&lock));
        CHECK_OK(pthread_mutex_unlock(&lock));
        sched_yield();
    }
    return NULL;
}

static void *signal_main(void *main_thread)
{
    CHECK_EQ(pthread_kill(*(pthread_t *)main_thread, SIGUSR1), 0);
    return NULL;
}

int main(void)
{
    pthread_t threads[WAITERS];
    CHECK_OK(sem_init(&sem, 0, 0));
    CHECK_OK(sem_init(&from_handler, 0, 0));
    for (int i = 0; i < WAITERS; i++)
        threads[i] = check_spawn(wait_once, NULL);
    for (int i = 0; i < WAITERS; i++)
        CHECK_OK(sem_post(&sem));
    for (int i = 0; i < WAITERS; i++)
        check_join(threads[i]);
    CHECK_FAILS(sem_trywait(&sem), EAGAIN);

    sem_t full;
    CHECK_OK(sem_init(&full, 0, SEM_VALUE_MAX));
    CHECK_FAILS(sem_post(&full), EOVERFLOW);
    CHECK_OK(sem_wait(&full));
    CHECK_OK(sem_post(&full));
    CHECK_FAILS(sem_post(&full), EOVERFLOW);

    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = post_in_handler;
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    /* In the thread that waits for it. The handler runs before, in or after the wait. */
    pthread_t self = pthread_self();
    pthread_t sender = check_spawn(signal_main, &self);
    while (sem_wait(&from_handler) != 0)
        CHECK_EQ(errno, EINTR);
    check_join(sender);
    CHECK_EQ(raise(SIGUSR1), 0);
    CHECK_OK(sem_trywait(&from_handler));

    bool stop = false;
    pthread_t worker = check_spawn(work, &stop);
    for (int i = 0; i < SIGNALS; i++) {
        CHECK_EQ(pthread_kill(worker, SIGUSR1), 0);
        CHECK_OK(sem_wait(&from_handler));
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    check_join(worker);
    return 0;
}
