/* pthread_cond_wait: gives the mutex up while it waits and has it again when it returns, also when it is cancelled. A
 * signal does not end it. */
/* ops: COND_WAIT COND_WAKE COND_SIGNAL */
#define _GNU_SOURCE
#include "check.h"
#include <semaphore.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;
static pthread_cond_t interrupted = PTHREAD_COND_INITIALIZER;
static bool waiting;

enum { ROUNDS = 20 };

static void *ping_pong(void *me)
{
    int mine = *(int *)me;
    CHECK_OK(pthread_mutex_lock(&lock));
    for (int i = 0; i < ROUNDS; i++) {
        while (turn % 2 != mine)
            CHECK_OK(pthread_cond_wait(&changed, &lock));
        CHECK_RESULT(pthread_mutex_lock(&lock), EDEADLK); /* it is ours */
        turn++;
        CHECK_OK(pthread_cond_signal(&changed));
    }
    CHECK_OK(pthread_mutex_unlock(&lock));
    return NULL;
}

static void still_owner(void *cleaned)
{
    CHECK_RESULT(pthread_mutex_lock(&lock), EDEADLK);
    ++*(int *)cleaned;
    CHECK_OK(pthread_mutex_unlock(&lock));
}

static void *wait_for_ever(void *cleaned)
{
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    CHECK_OK(pthread_mutex_lock(&lock));
    pthread_cleanup_push(still_owner, cleaned);
    waiting = true;
    CHECK_OK(pthread_cond_signal(&changed));
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(0);
    return NULL;
}

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void *set_turn(void *mutex)
{
    CHECK_OK(pthread_mutex_lock(mutex));
    turn = -1;
    CHECK_OK(pthread_cond_signal(&changed));
    CHECK_OK(pthread_mutex_unlock(mutex));
    return NULL;
}

static sem_t handled, gate;

/* Runs in the middle of the wait, while others have the mutex. */
static void handle(int number)
{
    (void)number;
    CHECK_EQ(sem_post(&handled), 0);
    CHECK_EQ(sem_wait(&gate), 0);
}

static void *wait_once(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&lock));
    waiting = true;
    CHECK_OK(pthread_cond_signal(&changed));
    turn = 0;
    CHECK_OK(pthread_cond_wait(&interrupted, &lock)); /* glibc has no spurious wake-ups here */
    CHECK_EQ(turn, 1);
    CHECK_OK(pthread_mutex_unlock(&lock));
    return unused;
}

static void test_signal(int (*wake)(pthread_cond_t *), bool during)
{
    waiting = false;
    CHECK_OK(pthread_mutex_lock(&lock));
    pthread_t waiter = check_spawn(wait_once, NULL);
    while (!waiting)
        CHECK_OK(pthread_cond_wait(&changed, &lock));
    CHECK_OK(pthread_kill(waiter, SIGUSR1));
    CHECK_EQ(sem_wait(&handled), 0);
    turn = during;
    if (during) /* it is in its handler, and is woken all the same */
        CHECK_OK(wake(&interrupted));
    CHECK_OK(pthread_mutex_unlock(&lock));
    CHECK_EQ(sem_post(&gate), 0);
    if (!during) {
        usleep(1000);
        CHECK_OK(pthread_mutex_lock(&lock));
        turn = 1;
        CHECK_OK(wake(&interrupted));
        CHECK_OK(pthread_mutex_unlock(&lock));
    }
    check_join(waiter);
}

static pthread_mutex_t robust;

static void *die_holding(void *unused)
{
    int error = pthread_mutex_lock(&robust);
    CHECK_EQ(error, 0);
    turn = -2;
    CHECK_OK(pthread_cond_signal(&changed));
    return unused;
}

int main(void)
{
    int zero = 0, one = 1;
    pthread_t a = check_spawn(ping_pong, &zero), b = check_spawn(ping_pong, &one);
    check_join(a);
    check_join(b);
    CHECK_EQ(turn, 2 * ROUNDS);

    /* Without the mutex. */
    CHECK_RESULT(pthread_cond_wait(&changed, &lock), EPERM);
    CHECK_RESULT(pthread_cond_wait(&changed, &recursive), EPERM);

    /* Cancelled once it waits: that the mutex can be had says that the waiter has given it up. */
    int cleaned = 0;
    CHECK_OK(pthread_mutex_lock(&lock));
    a = check_spawn(wait_for_ever, &cleaned);
    while (!waiting)
        CHECK_OK(pthread_cond_wait(&changed, &lock));
    CHECK_OK(pthread_cancel(a));
    /* It cannot go on before it has the mutex. */
    CHECK_RESULT(pthread_tryjoin_np(a, NULL), EBUSY);
    CHECK_EQ(cleaned, 0);
    CHECK_OK(pthread_mutex_unlock(&lock));
    CHECK(check_join(a) == PTHREAD_CANCELED);
    CHECK_EQ(cleaned, 1);

    struct sigaction action = { .sa_handler = handle };
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_EQ(sem_init(&handled, 0, 0), 0);
    CHECK_EQ(sem_init(&gate, 0, 0), 0);
    for (int during = 0; during < 2; during++) {
        test_signal(pthread_cond_signal, during);
        test_signal(pthread_cond_broadcast, during);
    }

    CHECK_OK(pthread_mutex_lock(&recursive));
    a = check_spawn(set_turn, &recursive);
    while (turn != -1)
        CHECK_OK(pthread_cond_wait(&changed, &recursive));
    CHECK_OK(pthread_mutex_unlock(&recursive));
    CHECK_RESULT(pthread_mutex_unlock(&recursive), EPERM);
    check_join(a);

    /* The thread that woke us died with the mutex: the wait returns with it, and says so. */
    pthread_mutexattr_t attr;
    CHECK_EQ(pthread_mutexattr_init(&attr), 0);
    CHECK_EQ(pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST), 0);
    CHECK_OK(pthread_mutex_init(&robust, &attr));
    CHECK_EQ(pthread_mutexattr_destroy(&attr), 0);
    CHECK_OK(pthread_mutex_lock(&robust));
    a = check_spawn(die_holding, NULL);
    int error = 0;
    while (turn != -2)
        error = pthread_cond_wait(&changed, &robust);
    CHECK_EQ(error, EOWNERDEAD);
    CHECK_OK(pthread_mutex_consistent(&robust));
    CHECK_OK(pthread_mutex_unlock(&robust));
    check_join(a);
    return 0;
}
