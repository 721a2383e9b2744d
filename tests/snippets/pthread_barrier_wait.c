/* pthread_barrier_wait: nobody leaves before all have come, round after round; exactly one is told that it is the
 * one. */
/* ops: BARRIER_ARRIVE BARRIER_LEAVE */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <semaphore.h>
#include <signal.h>

enum { THREADS = 4, ROUNDS = 12 };

static pthread_barrier_t barrier;
static int arrived[ROUNDS], serial[ROUNDS];

static void *meet(void *unused)
{
    for (int round = 0; round < ROUNDS; round++) {
        __atomic_fetch_add(&arrived[round], 1, __ATOMIC_RELAXED);
        errno = CHECK_ERRNO;
        int result = pthread_barrier_wait(&barrier);
        CHECK_EQ(errno, CHECK_ERRNO);
        CHECK_EQ(__atomic_load_n(&arrived[round], __ATOMIC_RELAXED), THREADS);
        if (result == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_fetch_add(&serial[round], 1, __ATOMIC_RELAXED);
        else
            CHECK_EQ(result, 0);
    }
    return unused;
}

/* Not a cancellation point: the request stays pending, and the others are not left alone. */
static void *meet_cancelled(void *unused)
{
    CHECK_EQ(pthread_cancel(pthread_self()), 0);
    meet(NULL);
    pthread_testcancel();
    check_failed(__FILE__, __LINE__, "pthread_testcancel acts on the request", 0);
    return unused;
}

static sem_t handled;

static void handle(int number)
{
    (void)number;
    CHECK_EQ(sem_post(&handled), 0);
    for (int i = 0; i < 10; i++)
        sched_yield();
}

static void *meet_once(void *unused)
{
    pthread_barrier_wait(&barrier);
    return unused;
}

/* The last one comes while another that waits handles a signal. */
static void test_signal(void)
{
    struct sigaction action = { .sa_handler = handle };
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_EQ(sem_init(&handled, 0, 0), 0);
    CHECK_OK(pthread_barrier_init(&barrier, NULL, 2));
    for (int i = 0; i < 10; i++) {
        pthread_t thread = check_spawn(meet_once, NULL);
        sched_yield();
        CHECK_OK(pthread_kill(thread, SIGUSR1));
        CHECK_EQ(sem_wait(&handled), 0);
        meet_once(NULL);
        check_join(thread);
    }
    CHECK_OK(pthread_barrier_destroy(&barrier));
}

int main(void)
{
    pthread_t threads[THREADS];
    test_signal();
    CHECK_OK(pthread_barrier_init(&barrier, NULL, THREADS));
    for (int repeat = 0; repeat < 2; repeat++) {
        memset(arrived, 0, sizeof(arrived));
        memset(serial, 0, sizeof(serial));
        for (int i = 0; i < THREADS; i++)
            threads[i] = check_spawn(repeat && i == 0 ? meet_cancelled : meet, NULL);
        for (int i = 0; i < THREADS; i++)
            check_join(threads[i]);
        for (int i = 0; i < ROUNDS; i++)
            CHECK_EQ(serial[i], 1);
    }
    CHECK_OK(pthread_barrier_destroy(&barrier));

    CHECK_OK(pthread_barrier_init(&barrier, NULL, 1));
    for (int i = 0; i < 3; i++)
        CHECK_EQ(pthread_barrier_wait(&barrier), PTHREAD_BARRIER_SERIAL_THREAD);
    CHECK_OK(pthread_barrier_destroy(&barrier));
    return 0;
}
