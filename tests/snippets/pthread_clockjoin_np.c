/* pthread_clockjoin_np: a deadline on either clock; other clocks are refused. */
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

static void test(clockid_t clock)
{
    int a = 0;
    void *result = NULL;
    pthread_t thread = check_spawn(wait_gate, &a);

    struct timespec when = check_in_ms(clock, 20);
    CHECK_RESULT(pthread_clockjoin_np(thread, &result, clock, &when), ETIMEDOUT);
    CHECK(check_reached(clock, &when));
    CHECK_RESULT(pthread_clockjoin_np(thread, &result, clock, &when), ETIMEDOUT);
    CHECK(result == NULL);

    /* GLIBC: 2.36 spins for ever on a deadline with invalid nanoseconds, so there is nothing to compare with. */
    CHECK_RESULT(pthread_clockjoin_np(thread, &result, CLOCK_PROCESS_CPUTIME_ID, &when), EINVAL);
    when = check_in_ms(clock, 10);
    CHECK_RESULT(pthread_clockjoin_np(pthread_self(), &result, clock, &when), EDEADLK);

    CHECK_EQ(sem_post(&gate), 0);
    when = check_in_ms(clock, 1000000);
    CHECK_OK(pthread_clockjoin_np(thread, &result, clock, &when));
    CHECK(result == &a);

    thread = check_spawn(wait_gate, &a);
    CHECK_EQ(sem_post(&gate), 0);
    CHECK_OK(pthread_clockjoin_np(thread, NULL, clock, NULL));
}

int main(void)
{
    CHECK_EQ(sem_init(&gate, 0, 0), 0);
    test(CLOCK_MONOTONIC);
    test(CLOCK_REALTIME);
    return 0;
}
