/* pthread_kill, again and again to a thread in the middle of other operations: each handler runs once its thread is at
 * a scheduling point, and may itself pass some; what was interrupted still goes on as if nothing had been. */
/* tests: pthread_kill */
/* ops: SIGNAL_SEND MUTEX_LOCK */
#define _GNU_SOURCE
#include "check.h"
#include <semaphore.h>
#include <signal.h>

enum { SIGNALS = 600, ROUNDS = 1500 };

static sem_t handled;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int inside;

static void handle(int signal)
{
    (void)signal;
    sem_post(&handled);
}

static void *work(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        CHECK_EQ(inside++, 0);
        CHECK_EQ(--inside, 0);
        CHECK_OK(pthread_mutex_unlock(&mutex));
    }
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
    int count = 0;
    CHECK_OK(sem_init(&handled, 0, 0));
    CHECK_OK(sigaction(SIGUSR1, &action, NULL));
    pthread_t thread = check_spawn(work, NULL);
    for (int i = 0; i < SIGNALS; i++) {
        CHECK_EQ(pthread_kill(thread, SIGUSR1), 0);
        if (i % 3 == 0) {
            CHECK_OK(pthread_mutex_lock(&mutex));
            CHECK_OK(pthread_mutex_unlock(&mutex));
        }
    }
    check_join(thread);
    CHECK_OK(sem_getvalue(&handled, &count));
    /* Several that are pending at once are one. */
    CHECK(count <= SIGNALS);
    return 0;
}
