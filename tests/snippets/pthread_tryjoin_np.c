/* pthread_tryjoin_np: EBUSY while the thread runs, its result once it has ended. */
/* ops: THREAD_TRYJOIN */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <semaphore.h>

static sem_t gate;

static void *wait_gate(void *value)
{
    CHECK_EQ(sem_wait(&gate), 0);
    return value;
}

int main(void)
{
    int a = 0;
    void *result = &gate;
    CHECK_EQ(sem_init(&gate, 0, 0), 0);

    pthread_t thread = check_spawn(wait_gate, &a);
    CHECK_RESULT(pthread_tryjoin_np(thread, &result), EBUSY);
    CHECK(result == &gate); /* not touched by a failure */
    CHECK_RESULT(pthread_tryjoin_np(thread, NULL), EBUSY);
    CHECK_EQ(sem_post(&gate), 0);
    int error;
    while ((error = pthread_tryjoin_np(thread, &result)) == EBUSY)
        sched_yield();
    CHECK_EQ(error, 0);
    CHECK(result == &a);

    CHECK_RESULT(pthread_tryjoin_np(pthread_self(), NULL), EBUSY);

    /* No result wanted; and without a yield, which a failure must not need. */
    thread = check_spawn(wait_gate, NULL);
    CHECK_EQ(sem_post(&gate), 0);
    while ((error = pthread_tryjoin_np(thread, NULL)) == EBUSY)
        ;
    CHECK_EQ(error, 0);
    return 0;
}
