/* pthread_spin_*: exclude others; a try says EBUSY. */
/* tests: pthread_spin_lock pthread_spin_init pthread_spin_destroy pthread_spin_unlock */
/* ops: SPIN_INIT SPIN_LOCK SPIN_UNLOCK SPIN_DESTROY */
#define _GNU_SOURCE
#include "check.h"

enum { THREADS = 3, ROUNDS = 15 };

static pthread_spinlock_t lock;
static int counter, inside;

static void *count(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(pthread_spin_lock(&lock));
        CHECK_EQ(inside++, 0);
        counter++;
        CHECK_EQ(--inside, 0);
        CHECK_OK(pthread_spin_unlock(&lock));
    }
    return unused;
}

int main(void)
{
    static const int shared[] = { PTHREAD_PROCESS_PRIVATE, PTHREAD_PROCESS_SHARED };
    for (int round = 0; round < 4; round++) {
        pthread_t threads[THREADS];
        CHECK_OK(pthread_spin_init(&lock, shared[round % 2]));
        counter = 0;
        /* The holder lets others run: they must spin, or better, wait. */
        CHECK_OK(pthread_spin_lock(&lock));
        for (int i = 0; i < THREADS; i++)
            threads[i] = check_spawn(count, NULL);
        CHECK_EQ(counter, 0);
        CHECK_OK(pthread_spin_unlock(&lock));
        for (int i = 0; i < THREADS; i++)
            check_join(threads[i]);
        CHECK_EQ(counter, THREADS * ROUNDS);
        CHECK_OK(pthread_spin_destroy(&lock));
    }
    return 0;
}
