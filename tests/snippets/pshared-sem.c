/* Process-shared semaphores between a parent, its threads and a child. */
/* tests: sem_init sem_wait sem_trywait sem_timedwait sem_clockwait sem_post sem_destroy */
/* outside: when the child takes and gives is not a matter of this schedule */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <semaphore.h>

enum { ROUNDS = 20 };

struct shared {
    sem_t ping, pong;
};

static void *answer(void *object)
{
    struct shared *shared = object;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(sem_wait(&shared->ping));
        CHECK_OK(sem_post(&shared->pong));
    }
    return NULL;
}

static void child_part(void *shared)
{
    answer(shared);
    _exit(0);
}

static void ask(struct shared *shared)
{
    struct timespec far = check_in_ms(CLOCK_REALTIME, 100000), far_too = check_in_ms(CLOCK_MONOTONIC, 100000);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(sem_post(&shared->ping));
        if (i % 3 == 0)
            CHECK_OK(sem_wait(&shared->pong));
        else if (i % 3 == 1)
            CHECK_OK(sem_timedwait(&shared->pong, &far));
        else
            CHECK_OK(sem_clockwait(&shared->pong, CLOCK_MONOTONIC, &far_too));
    }
}

int main(void)
{
    struct shared *shared = child_shared(sizeof(*shared));
    CHECK_OK(sem_init(&shared->ping, 1, 0));
    CHECK_OK(sem_init(&shared->pong, 1, 0));

    pid_t child = child_start(child_part, shared);
    ask(shared);
    CHECK_EXITED(child_wait(child), 0);

    /* A thread of the same process may be the one that posts. */
    pthread_t thread = check_spawn(answer, shared);
    ask(shared);
    check_join(thread);

    CHECK_FAILS(sem_trywait(&shared->pong), EAGAIN);
    struct timespec when = check_in_ms(CLOCK_REALTIME, 10);
    CHECK_FAILS(sem_timedwait(&shared->pong, &when), ETIMEDOUT);
    CHECK(check_reached(CLOCK_REALTIME, &when));
    CHECK_OK(sem_destroy(&shared->ping));
    CHECK_OK(sem_destroy(&shared->pong));
    return 0;
}
