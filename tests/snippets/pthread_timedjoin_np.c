/* pthread_timedjoin_np: a deadline on CLOCK_REALTIME; none means for ever. */
/* ops: THREAD_JOIN */
#define _GNU_SOURCE
#include "check.h"
#include <semaphore.h>

static sem_t gate;

static void *wait_gate(void *value)
{
    CHECK_EQ(sem_wait(&gate), 0);
    return value;
}

static void *join_until_cancelled(void *thread)
{
    struct timespec far = check_in_ms(CLOCK_REALTIME, 1000000);
    pthread_timedjoin_np(*(pthread_t *)thread, NULL, &far);
    check_failed(__FILE__, __LINE__, "the join is cancelled", 0);
}

int main(void)
{
    int a = 0;
    void *result = NULL;
    CHECK_EQ(sem_init(&gate, 0, 0), 0);
    pthread_t thread = check_spawn(wait_gate, &a);

    struct timespec when = check_in_ms(CLOCK_REALTIME, 20);
    CHECK_RESULT(pthread_timedjoin_np(thread, &result, &when), ETIMEDOUT);
    CHECK(check_reached(CLOCK_REALTIME, &when));
    CHECK(result == NULL);
    CHECK_RESULT(pthread_timedjoin_np(thread, &result, &when), ETIMEDOUT); /* in the past now */
    struct timespec epoch = { 0, 0 };
    CHECK_RESULT(pthread_timedjoin_np(thread, &result, &epoch), ETIMEDOUT);

    /* GLIBC: 2.36 spins for ever on a deadline with invalid nanoseconds, so there is nothing to compare with. */
    when = check_in_ms(CLOCK_REALTIME, 10);
    CHECK_RESULT(pthread_timedjoin_np(pthread_self(), &result, &when), EDEADLK);

    pthread_t joiner = check_spawn(join_until_cancelled, &thread);
    CHECK_EQ(pthread_cancel(joiner), 0);
    CHECK(check_join(joiner) == PTHREAD_CANCELED);

    CHECK_EQ(sem_post(&gate), 0);
    when = check_in_ms(CLOCK_REALTIME, 1000000);
    CHECK_OK(pthread_timedjoin_np(thread, &result, &when));
    CHECK(result == &a);

    thread = check_spawn(wait_gate, &a);
    CHECK_EQ(sem_post(&gate), 0);
    result = NULL;
    CHECK_OK(pthread_timedjoin_np(thread, &result, NULL));
    CHECK(result == &a);
    return 0;
}
