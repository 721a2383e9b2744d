/* thrd_detach: of running, finished and the calling threads. */
/* ops: THREAD_DETACH */
#define _GNU_SOURCE
#include "check.h"
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static int ended;
static bool open_;

static int end(void *detach_self)
{
    if (detach_self)
        CHECK_RESULT(thrd_detach(thrd_current()), thrd_success);
    CHECK_EQ(mtx_lock(&lock), thrd_success);
    while (!open_)
        CHECK_EQ(cnd_wait(&changed, &lock), thrd_success);
    ended++;
    CHECK_EQ(cnd_broadcast(&changed), thrd_success);
    CHECK_EQ(mtx_unlock(&lock), thrd_success);
    return 0;
}

int main(void)
{
    thrd_t thread;
    CHECK_EQ(mtx_init(&lock, mtx_plain), thrd_success);
    CHECK_EQ(cnd_init(&changed), thrd_success);
    /* The first half must still run when they are detached, the others may have finished. */
    for (int i = 0; i < 6; i++) {
        if (i == 3) {
            CHECK_EQ(mtx_lock(&lock), thrd_success);
            open_ = true;
            CHECK_EQ(cnd_broadcast(&changed), thrd_success);
            CHECK_EQ(mtx_unlock(&lock), thrd_success);
        }
        CHECK_EQ(thrd_create(&thread, end, NULL), thrd_success);
        CHECK_RESULT(thrd_detach(thread), thrd_success);
        CHECK_EQ(thrd_create(&thread, end, &thread), thrd_success);
    }
    CHECK_EQ(mtx_lock(&lock), thrd_success);
    while (ended < 12)
        CHECK_EQ(cnd_wait(&changed, &lock), thrd_success);
    CHECK_EQ(mtx_unlock(&lock), thrd_success);
    return 0;
}
