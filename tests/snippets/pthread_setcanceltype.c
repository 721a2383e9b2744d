/* pthread_setcanceltype: returns the old type; an asynchronous thread is cancelled without a cancellation point. */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <semaphore.h>

static sem_t ready;

static void *run(void *unused)
{
    int old = -1;
    (void)unused;
    CHECK_OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old));
    CHECK_EQ(old, PTHREAD_CANCEL_DEFERRED); /* every thread begins so */
    for (;;)
        sched_yield();
    return NULL;
}

/* A request that is pending acts as soon as the type allows it. */
static void *pending(void *unused)
{
    (void)unused;
    CHECK_EQ(pthread_cancel(pthread_self()), 0);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    check_failed(__FILE__, __LINE__, "the pending request acts", 0);
}

static void *and_disabled(void *value)
{
    CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL), 0);
    CHECK_EQ(pthread_cancel(pthread_self()), 0);
    CHECK_OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL));
    return value;
}

int main(void)
{
    int old = -1;
    CHECK_OK(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old));
    CHECK_EQ(old, PTHREAD_CANCEL_DEFERRED);
    CHECK_OK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old));
    CHECK_OK(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old));
    CHECK_EQ(old, PTHREAD_CANCEL_ASYNCHRONOUS);
    CHECK_RESULT(pthread_setcanceltype(17, NULL), EINVAL);

    CHECK_EQ(sem_init(&ready, 0, 0), 0);
    pthread_t thread = check_spawn(run, NULL);
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK(check_join(thread) == PTHREAD_CANCELED);
    CHECK(check_join(check_spawn(pending, NULL)) == PTHREAD_CANCELED);
    CHECK(check_join(check_spawn(and_disabled, &ready)) == &ready);
    return 0;
}
