/* pthread_spin_trylock: EBUSY while anybody holds it, the caller too. */
/* ops: SPIN_TRYLOCK */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>

enum { THREADS = 3, ROUNDS = 8 };

static pthread_spinlock_t lock;
static int counter;

static void *expect_busy(void *unused)
{
    CHECK_RESULT(pthread_spin_trylock(&lock), EBUSY);
    return unused;
}

static void *count(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        int error;
        while ((error = pthread_spin_trylock(&lock)) == EBUSY)
            sched_yield();
        CHECK_EQ(error, 0);
        counter++;
        CHECK_OK(pthread_spin_unlock(&lock));
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    CHECK_OK(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE));
    CHECK_OK(pthread_spin_trylock(&lock));
    CHECK_RESULT(pthread_spin_trylock(&lock), EBUSY);
    check_join(check_spawn(expect_busy, NULL));
    CHECK_OK(pthread_spin_unlock(&lock));
    for (int i = 0; i < THREADS; i++)
        threads[i] = check_spawn(count, NULL);
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);
    CHECK_EQ(counter, THREADS * ROUNDS);
    CHECK_OK(pthread_spin_destroy(&lock));
    return 0;
}
