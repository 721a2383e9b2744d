/* mtx_init, mtx_destroy: every type, and the same memory again. */
/* tests: mtx_init mtx_destroy */
/* ops: MUTEX_INIT MUTEX_DESTROY */
#define _GNU_SOURCE
#include "check.h"
#include <threads.h>

static int expect_busy(void *mutex)
{
    CHECK_RESULT(mtx_trylock(mutex), thrd_busy);
    return 0;
}

int main(void)
{
    static const int types[] = { mtx_plain, mtx_timed, mtx_plain | mtx_recursive, mtx_timed | mtx_recursive };
    mtx_t mutex;
    thrd_t thread;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4; i++) {
            CHECK_RESULT(mtx_init(&mutex, types[i]), thrd_success);
            CHECK_RESULT(mtx_lock(&mutex), thrd_success);
            if (types[i] & mtx_recursive) {
                CHECK_RESULT(mtx_lock(&mutex), thrd_success);
                CHECK_RESULT(mtx_unlock(&mutex), thrd_success);
            } else {
                CHECK_RESULT(mtx_trylock(&mutex), thrd_busy);
            }
            CHECK_EQ(thrd_create(&thread, expect_busy, &mutex), thrd_success);
            CHECK_EQ(thrd_join(thread, NULL), thrd_success);
            CHECK_RESULT(mtx_unlock(&mutex), thrd_success);
            mtx_destroy(&mutex);
        }
    }
    return 0;
}
