/* mtx_timedlock: a deadline in UTC; thrd_timedout, thrd_error for a bad one. */
/* ops: MUTEX_LOCK MUTEX_UNLOCK */
#define _GNU_SOURCE
#include "check.h"
#include <threads.h>

static mtx_t lock;

static int time_out(void *unused)
{
    (void)unused;
    struct timespec when;
    CHECK_EQ(timespec_get(&when, TIME_UTC), TIME_UTC);
    when = check_timespec((int64_t)when.tv_sec * 1000000000 + when.tv_nsec + 20000000);
    CHECK_RESULT(mtx_timedlock(&lock, &when), thrd_timedout);
    CHECK(check_reached(CLOCK_REALTIME, &when));
    CHECK_RESULT(mtx_timedlock(&lock, &when), thrd_timedout);
    when.tv_nsec = 1000000000;
    CHECK_EQ(mtx_timedlock(&lock, &when), thrd_error);
    return 0;
}

static int get_it(void *unused)
{
    (void)unused;
    struct timespec far = check_in_ms(CLOCK_REALTIME, 1000000);
    CHECK_RESULT(mtx_timedlock(&lock, &far), thrd_success);
    CHECK_EQ(mtx_unlock(&lock), thrd_success);
    return 0;
}

int main(void)
{
    struct timespec past = { 0, 0 };
    thrd_t thread;
    CHECK_EQ(mtx_init(&lock, mtx_timed), thrd_success);
    CHECK_RESULT(mtx_timedlock(&lock, &past), thrd_success);
    CHECK_EQ(thrd_create(&thread, time_out, NULL), thrd_success);
    CHECK_EQ(thrd_join(thread, NULL), thrd_success);
    CHECK_EQ(thrd_create(&thread, get_it, NULL), thrd_success);
    CHECK_EQ(mtx_unlock(&lock), thrd_success);
    CHECK_EQ(thrd_join(thread, NULL), thrd_success);
    mtx_destroy(&lock);
    CHECK_EQ(mtx_init(&lock, mtx_timed | mtx_recursive), thrd_success);
    CHECK_RESULT(mtx_timedlock(&lock, &past), thrd_success);
    CHECK_RESULT(mtx_timedlock(&lock, &past), thrd_success);
    CHECK_EQ(thrd_create(&thread, time_out, NULL), thrd_success);
    CHECK_EQ(thrd_join(thread, NULL), thrd_success);
    return 0;
}
