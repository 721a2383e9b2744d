/* Process-shared spinlocks between a parent and a child. */
/* outside: when the child takes and gives is not a matter of this schedule */
/* tests: pthread_spin_init pthread_spin_lock pthread_spin_trylock pthread_spin_unlock pthread_spin_destroy */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <sched.h>
#include <semaphore.h>

enum { ROUNDS = 200 };

struct shared {
    pthread_spinlock_t lock;
    sem_t held, release;
    int counter, inside;
};

static void count(struct shared *shared)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(pthread_spin_lock(&shared->lock));
        CHECK_EQ(shared->inside++, 0);
        if (i % 32 == 0)
            sched_yield();
        shared->counter++;
        CHECK_EQ(--shared->inside, 0);
        CHECK_OK(pthread_spin_unlock(&shared->lock));
    }
}

static void child_count(void *shared)
{
    count(shared);
    _exit(0);
}

static void child_hold(void *object)
{
    struct shared *shared = object;
    CHECK_OK(pthread_spin_lock(&shared->lock));
    CHECK_OK(sem_post(&shared->held));
    CHECK_OK(sem_wait(&shared->release));
    usleep(1000); /* the parent waits by then, most of the time */
    CHECK_OK(pthread_spin_unlock(&shared->lock));
    _exit(0);
}

static void *count_in_thread(void *shared)
{
    count(shared);
    return NULL;
}

int main(void)
{
    struct shared *shared = child_shared(sizeof(*shared));
    CHECK_OK(sem_init(&shared->held, 1, 0));
    CHECK_OK(sem_init(&shared->release, 1, 0));
    CHECK_OK(pthread_spin_init(&shared->lock, PTHREAD_PROCESS_SHARED));

    pid_t child = child_start(child_count, shared);
    pthread_t thread = check_spawn(count_in_thread, shared);
    count(shared);
    check_join(thread);
    CHECK_EXITED(child_wait(child), 0);
    CHECK_EQ(shared->counter, 3 * ROUNDS);

    child = child_start(child_hold, shared);
    CHECK_OK(sem_wait(&shared->held));
    CHECK_RESULT(pthread_spin_trylock(&shared->lock), EBUSY);
    CHECK_OK(sem_post(&shared->release));
    CHECK_OK(pthread_spin_lock(&shared->lock));
    CHECK_OK(pthread_spin_unlock(&shared->lock));
    CHECK_EXITED(child_wait(child), 0);
    CHECK_OK(pthread_spin_destroy(&shared->lock));
    return 0;
}
