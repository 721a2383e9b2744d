/* pthread_detach: of a running, a finished and the calling thread; twice is an error. */
/* ops: THREAD_DETACH */
#define _GNU_SOURCE
#include "check.h"
#include <semaphore.h>

static sem_t gate, ended;

static void *wait_gate(void *unused)
{
    (void)unused;
    CHECK_EQ(sem_wait(&gate), 0);
    CHECK_EQ(sem_post(&ended), 0);
    return NULL;
}

static void *detach_self(void *unused)
{
    (void)unused;
    CHECK_OK(pthread_detach(pthread_self()));
    CHECK_RESULT(pthread_detach(pthread_self()), EINVAL);
    CHECK_EQ(sem_post(&ended), 0);
    return NULL;
}

int main(void)
{
    CHECK_EQ(sem_init(&gate, 0, 0), 0);
    CHECK_EQ(sem_init(&ended, 0, 0), 0);

    pthread_t thread = check_spawn(wait_gate, NULL);
    CHECK_OK(pthread_detach(thread));
    CHECK_RESULT(pthread_detach(thread), EINVAL);
    CHECK_RESULT(pthread_join(thread, NULL), EINVAL);
    pthread_attr_t attr;
    int state;
    CHECK_EQ(pthread_getattr_np(thread, &attr), 0);
    CHECK_EQ(pthread_attr_getdetachstate(&attr, &state), 0);
    CHECK_EQ(state, PTHREAD_CREATE_DETACHED);
    CHECK_EQ(pthread_attr_destroy(&attr), 0);
    CHECK_EQ(sem_post(&gate), 0);
    CHECK_EQ(sem_wait(&ended), 0);

    check_spawn(detach_self, NULL);
    CHECK_EQ(sem_wait(&ended), 0);

    /* These may have finished before they are detached, and may not. */
    for (int i = 0; i < 10; i++) {
        CHECK_EQ(sem_post(&gate), 0);
        CHECK_OK(pthread_detach(check_spawn(wait_gate, NULL)));
    }
    for (int i = 0; i < 10; i++)
        CHECK_EQ(sem_wait(&ended), 0);

    /* The resources of detached threads are given back while others go on. */
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(sem_post(&gate), 0);
        CHECK(check_join(check_spawn(wait_gate, NULL)) == NULL);
        CHECK_EQ(sem_wait(&ended), 0);
    }
    return 0;
}
