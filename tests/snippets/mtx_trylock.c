/* mtx_trylock: thrd_busy and no waiting. */
/* ops: MUTEX_TRYLOCK */
#define _GNU_SOURCE
#include "check.h"
#include <threads.h>

enum { THREADS = 3, ROUNDS = 8 };

static mtx_t lock;
static int counter;

static int count(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        int result;
        while ((result = mtx_trylock(&lock)) == thrd_busy)
            thrd_yield();
        CHECK_EQ(result, thrd_success);
        counter++;
        CHECK_EQ(mtx_unlock(&lock), thrd_success);
    }
    return 0;
}

int main(void)
{
    thrd_t threads[THREADS];
    CHECK_EQ(mtx_init(&lock, mtx_plain), thrd_success);
    CHECK_RESULT(mtx_trylock(&lock), thrd_success);
    CHECK_RESULT(mtx_trylock(&lock), thrd_busy);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(thrd_create(&threads[i], count, NULL), thrd_success);
    CHECK_EQ(counter, 0);
    CHECK_EQ(mtx_unlock(&lock), thrd_success);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(thrd_join(threads[i], NULL), thrd_success);
    CHECK_EQ(counter, THREADS * ROUNDS);
    mtx_destroy(&lock);
    return 0;
}
