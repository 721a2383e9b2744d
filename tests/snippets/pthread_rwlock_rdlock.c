/* pthread_rwlock_rdlock: readers are inside together, never with a writer; a writer that asks again is told. */
/* ops: RWLOCK_RDLOCK RWLOCK_UNLOCK */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>

enum { READERS = 4, WRITERS = 2, ROUNDS = 10 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t all_inside;
static int value[2];

/* Nobody leaves before everybody is inside: that ends only if readers share. */
static void *meet_inside(void *unused)
{
    CHECK_OK(pthread_rwlock_rdlock(&lock));
    pthread_barrier_wait(&all_inside);
    CHECK_OK(pthread_rwlock_unlock(&lock));
    return unused;
}

static void *read_values(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(pthread_rwlock_rdlock(&lock));
        int seen = value[0];
        sched_yield();
        CHECK_EQ(value[1], seen);
        CHECK_OK(pthread_rwlock_unlock(&lock));
    }
    return unused;
}

static void *write_values(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(pthread_rwlock_wrlock(&lock));
        value[0]++;
        sched_yield();
        value[1]++;
        CHECK_OK(pthread_rwlock_unlock(&lock));
    }
    return unused;
}

int main(void)
{
    pthread_t threads[READERS + WRITERS];
    CHECK_EQ(pthread_barrier_init(&all_inside, NULL, READERS), 0);
    for (int i = 0; i < READERS; i++)
        threads[i] = check_spawn(meet_inside, NULL);
    for (int i = 0; i < READERS; i++)
        check_join(threads[i]);

    for (int i = 0; i < READERS + WRITERS; i++)
        threads[i] = check_spawn(i < READERS ? read_values : write_values, NULL);
    for (int i = 0; i < READERS + WRITERS; i++)
        check_join(threads[i]);
    CHECK_EQ(value[0], WRITERS * ROUNDS);
    CHECK_EQ(value[1], WRITERS * ROUNDS);

    CHECK_OK(pthread_rwlock_wrlock(&lock));
    CHECK_RESULT(pthread_rwlock_rdlock(&lock), EDEADLK);
    CHECK_OK(pthread_rwlock_unlock(&lock));
    return 0;
}
