/* cnd_*: a wait gives the mutex up and has it again; signal wakes one, broadcast all. */
/* tests: cnd_init cnd_destroy cnd_wait cnd_signal cnd_broadcast */
/* ops: COND_INIT COND_WAIT COND_WAKE COND_SIGNAL COND_BROADCAST COND_DESTROY */
#define _GNU_SOURCE
#include "check.h"
#include <stdlib.h>
#include <threads.h>

enum { WAITERS = 4, ROUNDS = 10 };

static mtx_t lock;
static cnd_t turn_changed, *opened;
static int turn, waiting, through;
static bool open_;

static int take_turns(void *me)
{
    int mine = *(int *)me;
    CHECK_RESULT(mtx_lock(&lock), thrd_success);
    for (int i = 0; i < ROUNDS; i++) {
        while (turn % 2 != mine)
            CHECK_RESULT(cnd_wait(&turn_changed, &lock), thrd_success);
        turn++;
        CHECK_RESULT(cnd_signal(&turn_changed), thrd_success);
    }
    CHECK_RESULT(mtx_unlock(&lock), thrd_success);
    return 0;
}

static int pass(void *unused)
{
    (void)unused;
    CHECK_RESULT(mtx_lock(&lock), thrd_success);
    waiting++;
    CHECK_RESULT(cnd_signal(&turn_changed), thrd_success);
    while (!open_)
        CHECK_RESULT(cnd_wait(opened, &lock), thrd_success);
    CHECK_RESULT(mtx_trylock(&lock), thrd_busy); /* it is ours */
    through++;
    CHECK_RESULT(mtx_unlock(&lock), thrd_success);
    return 0;
}

int main(void)
{
    int zero = 0, one = 1;
    thrd_t threads[WAITERS];
    CHECK_RESULT(mtx_init(&lock, mtx_plain), thrd_success);
    CHECK_RESULT(cnd_init(&turn_changed), thrd_success);
    CHECK_EQ(thrd_create(&threads[0], take_turns, &zero), thrd_success);
    CHECK_EQ(thrd_create(&threads[1], take_turns, &one), thrd_success);
    CHECK_EQ(thrd_join(threads[0], NULL), thrd_success);
    CHECK_EQ(thrd_join(threads[1], NULL), thrd_success);
    CHECK_EQ(turn, 2 * ROUNDS);

    opened = malloc(sizeof(*opened));
    CHECK(opened != NULL);
    CHECK_RESULT(cnd_init(opened), thrd_success);
    CHECK_RESULT(mtx_lock(&lock), thrd_success);
    for (int i = 0; i < WAITERS; i++)
        CHECK_EQ(thrd_create(&threads[i], pass, NULL), thrd_success);
    while (waiting < WAITERS)
        CHECK_RESULT(cnd_wait(&turn_changed, &lock), thrd_success);
    open_ = true;
    CHECK_RESULT(cnd_broadcast(opened), thrd_success);
    /* Nobody is blocked on it any more, so it may go, though they have not got the mutex yet. */
    CHECK_RESULT(mtx_unlock(&lock), thrd_success);
    cnd_destroy(opened);
    memset(opened, 0xa5, sizeof(*opened));
    for (int i = 0; i < WAITERS; i++)
        CHECK_EQ(thrd_join(threads[i], NULL), thrd_success);
    free(opened);
    CHECK_EQ(through, WAITERS);
    cnd_destroy(&turn_changed);
    mtx_destroy(&lock);
    return 0;
}
