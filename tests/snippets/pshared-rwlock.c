/* Process-shared read-write locks between a parent, its threads and a child. */
/* tests: pthread_rwlock_init pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_trywrlock */
/* tests: pthread_rwlock_timedwrlock pthread_rwlock_unlock pthread_rwlock_destroy */
/* outside: when the child takes and gives is not a matter of this schedule */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <sched.h>
#include <semaphore.h>

enum { ROUNDS = 50 };

struct shared {
    pthread_rwlock_t lock;
    sem_t go, held, release;
    int value[2];
};

static void *use(void *object)
{
    struct shared *shared = object;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(pthread_rwlock_wrlock(&shared->lock));
        shared->value[0]++;
        if (i % 8 == 0)
            sched_yield();
        shared->value[1]++;
        CHECK_OK(pthread_rwlock_unlock(&shared->lock));
        CHECK_OK(pthread_rwlock_rdlock(&shared->lock));
        CHECK_EQ(shared->value[0], shared->value[1]);
        CHECK_OK(pthread_rwlock_unlock(&shared->lock));
    }
    return NULL;
}

static void hold_for_reading(struct shared *shared)
{
    CHECK_OK(sem_wait(&shared->go));
    CHECK_OK(pthread_rwlock_rdlock(&shared->lock));
    CHECK_OK(sem_post(&shared->held));
    CHECK_OK(sem_wait(&shared->release));
    CHECK_OK(pthread_rwlock_unlock(&shared->lock));
}

static void child_part(void *shared)
{
    use(shared);
    hold_for_reading(shared);
    _exit(0);
}

int main(void)
{
    struct shared *shared = child_shared(sizeof(*shared));
    pthread_rwlockattr_t attr;
    CHECK_EQ(pthread_rwlockattr_init(&attr), 0);
    CHECK_EQ(pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED), 0);
    CHECK_OK(pthread_rwlock_init(&shared->lock, &attr));
    CHECK_OK(sem_init(&shared->go, 1, 0));
    CHECK_OK(sem_init(&shared->held, 1, 0));
    CHECK_OK(sem_init(&shared->release, 1, 0));

    pid_t child = child_start(child_part, shared);
    pthread_t thread = check_spawn(use, shared);
    use(shared);
    check_join(thread);
    CHECK_OK(sem_post(&shared->go));
    CHECK_OK(sem_wait(&shared->held));
    CHECK_EQ(shared->value[0], 3 * ROUNDS);
    CHECK_RESULT(pthread_rwlock_trywrlock(&shared->lock), EBUSY);
    struct timespec when = check_in_ms(CLOCK_REALTIME, 10);
    CHECK_RESULT(pthread_rwlock_timedwrlock(&shared->lock, &when), ETIMEDOUT);
    CHECK(check_reached(CLOCK_REALTIME, &when));
    CHECK_OK(pthread_rwlock_rdlock(&shared->lock)); /* beside the child */
    CHECK_OK(pthread_rwlock_unlock(&shared->lock));
    CHECK_OK(sem_post(&shared->release));
    CHECK_OK(pthread_rwlock_wrlock(&shared->lock));
    CHECK_OK(pthread_rwlock_unlock(&shared->lock));
    CHECK_EXITED(child_wait(child), 0);
    CHECK_OK(pthread_rwlock_destroy(&shared->lock));
    return 0;
}
