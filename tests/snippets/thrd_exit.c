/* thrd_exit: ends the thread with a result after its tss destructors, which may lock. */
/* ops: THREAD_EXIT MUTEX_LOCK */
#define _GNU_SOURCE
#include "check.h"
#include <threads.h>

static mtx_t lock;
static tss_t key;
static int destroyed;

static void destroy(void *value)
{
    CHECK(value == &lock);
    CHECK_EQ(mtx_lock(&lock), thrd_success);
    destroyed++;
    CHECK_EQ(mtx_unlock(&lock), thrd_success);
}

__attribute__((noinline)) static void leave(int result)
{
    thrd_exit(result);
}

static int run(void *result)
{
    CHECK_EQ(tss_set(key, &lock), thrd_success);
    leave(*(int *)result);
    check_failed(__FILE__, __LINE__, "thrd_exit does not return", 0);
}

int main(void)
{
    thrd_t threads[4];
    int results[4] = { 0, 7, -7, 1 << 30 };
    CHECK_EQ(mtx_init(&lock, mtx_plain), thrd_success);
    CHECK_EQ(tss_create(&key, destroy), thrd_success);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(thrd_create(&threads[i], run, &results[i]), thrd_success);
    for (int i = 0; i < 4; i++) {
        int result = 77;
        CHECK_EQ(thrd_join(threads[i], &result), thrd_success);
        CHECK_EQ(result, results[i]);
    }
    CHECK_EQ(destroyed, 4);
    return 0;
}
