/* pthread_setcancelstate: returns the old state; a disabled thread is not cancelled where it blocks. */
#define _GNU_SOURCE
#include "check.h"
#include <semaphore.h>

static sem_t disabled, gate;
static int woken;

static void *run(void *unused)
{
    int old = -1;
    (void)unused;
    CHECK_OK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old));
    CHECK_EQ(old, PTHREAD_CANCEL_ENABLE); /* every thread begins so */
    CHECK_EQ(sem_post(&disabled), 0);
    CHECK_OK(sem_wait(&gate)); /* a cancellation point, but it is disabled */
    woken++;
    CHECK_OK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old));
    CHECK_EQ(old, PTHREAD_CANCEL_DISABLE);
    sem_wait(&gate); /* the request is still pending, and acts now */
    check_failed(__FILE__, __LINE__, "the wait is cancelled", 0);
}

int main(void)
{
    int old = -1;
    CHECK_OK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old));
    CHECK_EQ(old, PTHREAD_CANCEL_ENABLE);
    CHECK_OK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL));
    CHECK_RESULT(pthread_setcancelstate(17, &old), EINVAL);
    CHECK_OK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old));
    CHECK_EQ(old, PTHREAD_CANCEL_DISABLE);

    CHECK_EQ(sem_init(&disabled, 0, 0), 0);
    CHECK_EQ(sem_init(&gate, 0, 0), 0);
    pthread_t thread = check_spawn(run, NULL);
    CHECK_EQ(sem_wait(&disabled), 0);
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK_EQ(pthread_tryjoin_np(thread, NULL), EBUSY);
    CHECK_EQ(sem_post(&gate), 0);
    CHECK(check_join(thread) == PTHREAD_CANCELED);
    CHECK_EQ(woken, 1);
    return 0;
}
