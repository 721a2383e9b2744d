/* thrd_create, thrd_join: the argument arrives, the int comes back. */
/* tests: thrd_create thrd_join */
/* ops: THREAD_CREATE THREAD_JOIN */
#define _GNU_SOURCE
#include "check.h"
#include <limits.h>
#include <threads.h>

static int values[8];
static thrd_t seen[8];

static int square(void *argument)
{
    int *value = argument;
    *value *= *value;
    seen[value - values] = thrd_current();
    return *value - 10;
}

static int give(void *value)
{
    return *(int *)value;
}

int main(void)
{
    thrd_t threads[8];
    for (int i = 0; i < 8; i++) {
        values[i] = i;
        CHECK_RESULT(thrd_create(&threads[i], square, &values[i]), thrd_success);
        CHECK(!thrd_equal(threads[i], thrd_current()));
    }
    for (int i = 0; i < 8; i++) {
        int result = 77;
        CHECK_RESULT(thrd_join(threads[i], &result), thrd_success);
        CHECK_EQ(result, i * i - 10);
        CHECK_EQ(values[i], i * i);
        CHECK(thrd_equal(seen[i], threads[i]));
    }
    /* Every int is a result, and none need be wanted. */
    static const int results[] = { 0, -1, INT_MIN, INT_MAX };
    for (int i = 0; i < 4; i++) {
        int value = results[i], result = 77;
        CHECK_RESULT(thrd_create(&threads[0], give, &value), thrd_success);
        CHECK_RESULT(thrd_join(threads[0], &result), thrd_success);
        CHECK_EQ(result, results[i]);
        CHECK_RESULT(thrd_create(&threads[0], give, &value), thrd_success);
        CHECK_RESULT(thrd_join(threads[0], NULL), thrd_success);
    }
    return 0;
}
