/* pthread_testcancel: does nothing unless a request is pending and cancellation is enabled. */
/* ops: TESTCANCEL THREAD_CANCEL */
#define _GNU_SOURCE
#include "check.h"
#include <semaphore.h>

static sem_t begun, cancelled;
static int cleanups, passed;

static void count(void *unused)
{
    (void)unused;
    cleanups++;
}

static void *run(void *unused)
{
    (void)unused;
    pthread_cleanup_push(count, NULL);
    pthread_testcancel(); /* nothing is pending */
    CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL), 0);
    CHECK_EQ(sem_post(&begun), 0);
    CHECK_EQ(sem_wait(&cancelled), 0);
    pthread_testcancel(); /* pending, but disabled */
    passed++;
    CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL), 0);
    passed++; /* enabling is no cancellation point */
    pthread_testcancel();
    check_failed(__FILE__, __LINE__, "pthread_testcancel acts on the request", 0);
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void)
{
    errno = CHECK_ERRNO;
    pthread_testcancel();
    CHECK_EQ(errno, CHECK_ERRNO);
    CHECK_EQ(sem_init(&begun, 0, 0), 0);
    CHECK_EQ(sem_init(&cancelled, 0, 0), 0);
    pthread_t thread = check_spawn(run, NULL);
    CHECK_EQ(sem_wait(&begun), 0);
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK_EQ(sem_post(&cancelled), 0);
    CHECK(check_join(thread) == PTHREAD_CANCELED);
    CHECK_EQ(passed, 2);
    CHECK_EQ(cleanups, 1);
    return 0;
}
