/* sem_timedwait: a deadline on CLOCK_REALTIME; EINTR after a signal handler; a cancellation point. */
/* ops: SEM_WAIT SEM_POST */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"
#include <semaphore.h>

static sem_t sem;
static const clockid_t clock_used = CLOCK_REALTIME;

static void *post(void *unused)
{
    CHECK_OK(sem_post(&sem));
    return unused;
}

static void *wait_until_cancelled(void *unused)
{
    struct timespec far = check_in_ms(clock_used, 1000000);
    for (;;)
        sem_timedwait(&sem, &far);
    return unused;
}

static void test(void)
{
    struct timespec when = check_in_ms(clock_used, 20);
    CHECK_FAILS(sem_timedwait(&sem, &when), ETIMEDOUT);
    CHECK(check_reached(clock_used, &when));
    CHECK_FAILS(sem_timedwait(&sem, &when), ETIMEDOUT); /* in the past now */
    struct timespec past = { 0, 0 };
    CHECK_FAILS(sem_timedwait(&sem, &past), ETIMEDOUT);
    when.tv_nsec = 1000000000;
    CHECK_FAILS(sem_timedwait(&sem, &when), EINVAL);
    when.tv_nsec = -1;
    CHECK_FAILS(sem_timedwait(&sem, &when), EINVAL);

    CHECK_OK(sem_post(&sem));
    CHECK_OK(sem_timedwait(&sem, &past)); /* no deadline is looked at */

    struct timespec far = check_in_ms(clock_used, 1000000);
    pthread_t thread = check_spawn(post, NULL);
    CHECK_OK(sem_timedwait(&sem, &far));
    check_join(thread);

    thread = check_spawn(wait_until_cancelled, NULL);
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK(check_join(thread) == PTHREAD_CANCELED);

    struct nag nag;
    nag_start(&nag, 0);
    CHECK_FAILS(sem_timedwait(&sem, &far), EINTR);
    nag_stop(&nag);
}

int main(void)
{
    CHECK_OK(sem_init(&sem, 0, 0));
    test();
    return 0;
}
