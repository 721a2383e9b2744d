/* pthread_kill: the handler runs in that thread, wherever it is; error numbers are returned. Both symbol versions. */
/* ops: SIGNAL_SEND */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <semaphore.h>
#include <signal.h>

/* As programs linked before glibc 2.34 refer to it. */
int old_kill(pthread_t thread, int number);
__asm__(".symver old_kill, pthread_kill@GLIBC_2.2.5");

static __thread volatile sig_atomic_t handled;
static sem_t ready, handled_one, gate;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool stop;

static void handle(int number)
{
    (void)number;
    handled = handled + 1;
    CHECK_EQ(sem_post(&handled_one), 0);
}

static void *in_sem(void *count)
{
    CHECK_EQ(sem_post(&ready), 0);
    while (handled < *(int *)count)
        if (sem_wait(&gate) != 0)
            CHECK_EQ(errno, EINTR);
    return NULL;
}

static void *in_yield(void *count)
{
    CHECK_EQ(sem_post(&ready), 0);
    while (handled < *(int *)count)
        sched_yield();
    return NULL;
}

/* A lock is not interrupted: the handler runs, and the thread goes on waiting. */
static void *in_lock(void *count)
{
    CHECK_EQ(sem_post(&ready), 0);
    CHECK_OK(pthread_mutex_lock(&lock));
    CHECK(stop);
    CHECK_OK(pthread_mutex_unlock(&lock));
    CHECK_EQ(handled, *(int *)count);
    return NULL;
}

static void *run_and_end(void *unused)
{
    return unused;
}

int main(void)
{
    int two = 2;
    CHECK_EQ(sem_init(&ready, 0, 0), 0);
    CHECK_EQ(sem_init(&handled_one, 0, 0), 0);
    CHECK_EQ(sem_init(&gate, 0, 0), 0);
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = handle;
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);

    CHECK_OK(pthread_kill(pthread_self(), SIGUSR1));
    CHECK_EQ(handled, 1); /* before the call returned */
    CHECK_OK(old_kill(pthread_self(), SIGUSR1));
    CHECK_EQ(handled, 2);
    CHECK_EQ(sem_wait(&handled_one), 0);
    CHECK_EQ(sem_wait(&handled_one), 0);
    CHECK_OK(pthread_kill(pthread_self(), 0));
    CHECK_RESULT(pthread_kill(pthread_self(), 99), EINVAL);
    CHECK_RESULT(pthread_kill(pthread_self(), -1), EINVAL);
    CHECK_RESULT(old_kill(pthread_self(), 99), EINVAL);

    void *(*const places[])(void *) = { in_sem, in_yield, in_lock };
    for (int i = 0; i < 3; i++) {
        CHECK_OK(pthread_mutex_lock(&lock));
        pthread_t thread = check_spawn(places[i], &two);
        CHECK_EQ(sem_wait(&ready), 0);
        for (int j = 0; j < 2; j++) {
            CHECK_OK(j ? old_kill(thread, SIGUSR1) : pthread_kill(thread, SIGUSR1));
            CHECK_EQ(sem_wait(&handled_one), 0);
        }
        stop = true;
        CHECK_OK(pthread_mutex_unlock(&lock));
        CHECK_EQ(sem_post(&gate), 0); /* it may have looked before the second handler and not be interrupted any more */
        check_join(thread);
    }
    CHECK_EQ(handled, 2);

    /* A thread that has ended but was not joined: no error. */
    pthread_t thread = check_spawn(run_and_end, NULL);
    CHECK_OK(pthread_kill(thread, 0));
    check_join(thread);
    return 0;
}
