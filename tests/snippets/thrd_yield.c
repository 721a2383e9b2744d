/* thrd_yield: lets others go on, so that a loop around it ends; leaves errno alone. */
/* ops: YIELD */
#define _GNU_SOURCE
#include "check.h"
#include <stdatomic.h>
#include <threads.h>

static atomic_int turn;

static int take_turns(void *me)
{
    int mine = *(int *)me;
    for (int i = 0; i < 5; i++) {
        while (atomic_load(&turn) % 2 != mine)
            thrd_yield();
        atomic_fetch_add(&turn, 1);
    }
    return 0;
}

int main(void)
{
    int zero = 0, one = 1;
    thrd_t a, b;
    errno = CHECK_ERRNO;
    thrd_yield();
    CHECK_EQ(errno, CHECK_ERRNO);
    CHECK_EQ(thrd_create(&a, take_turns, &zero), thrd_success);
    CHECK_EQ(thrd_create(&b, take_turns, &one), thrd_success);
    CHECK_EQ(thrd_join(a, NULL), thrd_success);
    CHECK_EQ(thrd_join(b, NULL), thrd_success);
    CHECK_EQ(atomic_load(&turn), 10);
    return 0;
}
