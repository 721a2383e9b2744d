/* mtx_lock, mtx_unlock: exclude others, for each type; a mutex is handed on to who waits. */
/* tests: mtx_lock mtx_unlock */
/* ops: MUTEX_LOCK MUTEX_UNLOCK */
#define _GNU_SOURCE
#include "check.h"
#include <threads.h>

enum { THREADS = 4, ROUNDS = 15 };

static mtx_t lock;
static int depth, counter, inside;

static int count(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        for (int d = 0; d < depth; d++)
            CHECK_RESULT(mtx_lock(&lock), thrd_success);
        CHECK_EQ(inside++, 0);
        int seen = counter;
        if (i % 4 == 0)
            thrd_yield();
        counter = seen + 1;
        CHECK_EQ(--inside, 0);
        for (int d = 0; d < depth; d++)
            CHECK_RESULT(mtx_unlock(&lock), thrd_success);
    }
    return 0;
}

int main(void)
{
    static const int types[] = { mtx_plain, mtx_timed, mtx_plain | mtx_recursive };
    thrd_t threads[THREADS];
    for (int type = 0; type < 3; type++) {
        depth = types[type] & mtx_recursive ? 3 : 1;
        counter = 0;
        CHECK_EQ(mtx_init(&lock, types[type]), thrd_success);
        CHECK_EQ(mtx_lock(&lock), thrd_success);
        for (int i = 0; i < THREADS; i++)
            CHECK_EQ(thrd_create(&threads[i], count, NULL), thrd_success);
        CHECK_EQ(counter, 0);
        CHECK_EQ(mtx_unlock(&lock), thrd_success);
        for (int i = 0; i < THREADS; i++)
            CHECK_EQ(thrd_join(threads[i], NULL), thrd_success);
        CHECK_EQ(counter, THREADS * ROUNDS);
        mtx_destroy(&lock);
    }
    return 0;
}
