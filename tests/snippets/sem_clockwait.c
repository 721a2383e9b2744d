/* sem_clockwait: a deadline on either clock, others are refused; EINTR after a signal handler; a cancellation point. */
/* ops: SEM_WAIT SEM_POST */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"
#include <semaphore.h>

static sem_t sem;
static clockid_t clock_used;

static void *post(void *unused)
{
    CHECK_OK(sem_post(&sem));
    return unused;
}

static void *wait_until_cancelled(void *unused)
{
    struct timespec far = check_in_ms(clock_used, 1000000);
    for (;;)
        sem_clockwait(&sem, clock_used, &far);
    return unused;
}

static void test(clockid_t clock)
{
    clock_used = clock;
    struct timespec when = check_in_ms(clock_used, 20);
    CHECK_FAILS(sem_clockwait(&sem, clock_used, &when), ETIMEDOUT);
    CHECK(check_reached(clock_used, &when));
    CHECK_FAILS(sem_clockwait(&sem, clock_used, &when), ETIMEDOUT); /* in the past now */
    struct timespec past = { 0, 0 };
    CHECK_FAILS(sem_clockwait(&sem, clock_used, &past), ETIMEDOUT);
    when.tv_nsec = 1000000000;
    CHECK_FAILS(sem_clockwait(&sem, clock_used, &when), EINVAL);
    when.tv_nsec = -1;
    CHECK_FAILS(sem_clockwait(&sem, clock_used, &when), EINVAL);
    when.tv_nsec = 0;
    CHECK_FAILS(sem_clockwait(&sem, CLOCK_PROCESS_CPUTIME_ID, &when), EINVAL);
    CHECK_FAILS(sem_clockwait(&sem, CLOCK_BOOTTIME, &when), EINVAL);

    CHECK_OK(sem_post(&sem));
    CHECK_OK(sem_clockwait(&sem, clock_used, &past)); /* no deadline is looked at */

    struct timespec far = check_in_ms(clock_used, 1000000);
    pthread_t thread = check_spawn(post, NULL);
    CHECK_OK(sem_clockwait(&sem, clock_used, &far));
    check_join(thread);

    thread = check_spawn(wait_until_cancelled, NULL);
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK(check_join(thread) == PTHREAD_CANCELED);

    struct nag nag;
    nag_start(&nag, 0);
    CHECK_FAILS(sem_clockwait(&sem, clock_used, &far), EINTR);
    nag_stop(&nag);
}

int main(void)
{
    CHECK_OK(sem_init(&sem, 0, 0));
    test(CLOCK_MONOTONIC);
    test(CLOCK_REALTIME);
    return 0;
}
