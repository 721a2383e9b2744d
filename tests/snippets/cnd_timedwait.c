/* cnd_timedwait: a deadline in UTC; thrd_timedout with the mutex held, thrd_error for a bad one. */
/* ops: COND_WAIT COND_WAKE */
#define _GNU_SOURCE
#include "check.h"
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static bool ready;

static int make_ready(void *unused)
{
    (void)unused;
    CHECK_EQ(mtx_lock(&lock), thrd_success);
    ready = true;
    CHECK_EQ(cnd_signal(&changed), thrd_success);
    CHECK_EQ(mtx_unlock(&lock), thrd_success);
    return 0;
}

static void time_out(const struct timespec *when)
{
    int result;
    do
        result = cnd_timedwait(&changed, &lock, when);
    while (result == thrd_success); /* it may return early without a signal */
    CHECK_EQ(result, thrd_timedout);
    CHECK(check_reached(CLOCK_REALTIME, when));
    CHECK_EQ(mtx_trylock(&lock), thrd_busy); /* it is ours */
}

int main(void)
{
    thrd_t thread;
    CHECK_EQ(mtx_init(&lock, mtx_plain), thrd_success);
    CHECK_EQ(cnd_init(&changed), thrd_success);
    CHECK_EQ(mtx_lock(&lock), thrd_success);
    struct timespec when = check_in_ms(CLOCK_REALTIME, 20);
    time_out(&when);
    time_out(&when);
    when.tv_nsec = 1000000000;
    CHECK_EQ(cnd_timedwait(&changed, &lock, &when), thrd_error);
    CHECK_EQ(mtx_trylock(&lock), thrd_busy);

    CHECK_EQ(thrd_create(&thread, make_ready, NULL), thrd_success);
    when = check_in_ms(CLOCK_REALTIME, 1000000);
    while (!ready)
        CHECK_RESULT(cnd_timedwait(&changed, &lock, &when), thrd_success);
    CHECK_EQ(mtx_unlock(&lock), thrd_success);
    CHECK_EQ(thrd_join(thread, NULL), thrd_success);
    return 0;
}
