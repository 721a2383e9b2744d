/* sem_wait: each post lets one through; EINTR after a signal handler; a cancellation point. */
/* ops: SEM_WAIT SEM_POST */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"
#include <semaphore.h>

enum { THREADS = 4, ROUNDS = 10 };

static sem_t sem, limit, back[2];
static int inside;

static void *enter(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(sem_wait(&limit));
        CHECK(__atomic_add_fetch(&inside, 1, __ATOMIC_RELAXED) <= 2);
        sched_yield();
        __atomic_sub_fetch(&inside, 1, __ATOMIC_RELAXED);
        CHECK_OK(sem_post(&limit));
    }
    return unused;
}

static void *ping(void *me)
{
    int mine = *(int *)me;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(sem_wait(&back[mine]));
        CHECK_OK(sem_post(&back[!mine]));
    }
    return NULL;
}

static void *wait_for_ever(void *unused)
{
    for (;;)
        sem_wait(&sem);
    return unused;
}

static void *interrupted(void *unused)
{
    struct nag nag;
    nag_start(&nag, 0);
    CHECK_FAILS(sem_wait(&sem), EINTR);
    nag_stop(&nag);
    CHECK(nag_count > 0);
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    int zero = 0, one = 1;
    CHECK_OK(sem_init(&sem, 0, 2));
    CHECK_OK(sem_wait(&sem));
    CHECK_OK(sem_wait(&sem));

    CHECK_OK(sem_init(&limit, 0, 2));
    for (int i = 0; i < THREADS; i++)
        threads[i] = check_spawn(enter, NULL);
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);

    CHECK_OK(sem_init(&back[0], 0, 1));
    CHECK_OK(sem_init(&back[1], 0, 0));
    threads[0] = check_spawn(ping, &zero);
    threads[1] = check_spawn(ping, &one);
    check_join(threads[0]);
    check_join(threads[1]);

    /* Two that wait, one cancelled: the post goes to the other, or to a later wait, but is never lost. */
    threads[0] = check_spawn(wait_for_ever, NULL);
    threads[1] = check_spawn(wait_for_ever, NULL);
    CHECK_EQ(pthread_cancel(threads[0]), 0);
    CHECK(check_join(threads[0]) == PTHREAD_CANCELED);
    CHECK_EQ(pthread_cancel(threads[1]), 0);
    CHECK(check_join(threads[1]) == PTHREAD_CANCELED);
    CHECK_OK(sem_post(&sem));
    CHECK_OK(sem_wait(&sem));

    interrupted(NULL);
    check_join(check_spawn(interrupted, NULL));
    return 0;
}
