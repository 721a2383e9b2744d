/* pthread_rwlock_unlock: lets in all waiting readers, or a writer; the last reader lets writers in. */
/* ops: RWLOCK_UNLOCK */
#define _GNU_SOURCE
#include "check.h"
#include <semaphore.h>

enum { READERS = 3 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t all_inside;
static sem_t done;
static int written;

static void *read_together(void *unused)
{
    CHECK_OK(pthread_rwlock_rdlock(&lock));
    pthread_barrier_wait(&all_inside); /* one unlock must have been enough for all */
    CHECK_OK(pthread_rwlock_unlock(&lock));
    return unused;
}

static void *write_once(void *unused)
{
    CHECK_OK(pthread_rwlock_wrlock(&lock));
    written++;
    CHECK_OK(pthread_rwlock_unlock(&lock));
    CHECK_EQ(sem_post(&done), 0);
    return unused;
}

int main(void)
{
    pthread_t threads[READERS];
    CHECK_EQ(pthread_barrier_init(&all_inside, NULL, READERS), 0);
    CHECK_EQ(sem_init(&done, 0, 0), 0);

    CHECK_OK(pthread_rwlock_wrlock(&lock));
    for (int i = 0; i < READERS; i++)
        threads[i] = check_spawn(read_together, NULL);
    CHECK_OK(pthread_rwlock_unlock(&lock));
    for (int i = 0; i < READERS; i++)
        check_join(threads[i]);

    for (int i = 0; i < 3; i++)
        CHECK_OK(pthread_rwlock_rdlock(&lock));
    pthread_t writer = check_spawn(write_once, NULL);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(sem_trywait(&done), -1); /* we are still inside */
        CHECK_EQ(written, 0);
        CHECK_OK(pthread_rwlock_unlock(&lock));
    }
    CHECK_EQ(sem_wait(&done), 0);
    check_join(writer);

    CHECK_OK(pthread_rwlock_wrlock(&lock));
    threads[0] = check_spawn(write_once, NULL);
    threads[1] = check_spawn(write_once, NULL);
    CHECK_EQ(sem_trywait(&done), -1);
    CHECK_OK(pthread_rwlock_unlock(&lock));
    check_join(threads[0]);
    check_join(threads[1]);
    CHECK_EQ(written, 3);
    return 0;
}
