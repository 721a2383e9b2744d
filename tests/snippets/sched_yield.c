/* sched_yield, pthread_yield: return 0; let others go on, so that loops around them end. */
/* tests: sched_yield pthread_yield */
/* ops: YIELD */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>
#include <stdatomic.h>

/* <pthread.h> makes sched_yield of the old name; programs linked before glibc 2.34 refer to it. */
int old_yield(void);
__asm__(".symver old_yield, pthread_yield@GLIBC_2.2.5");

enum { ROUNDS = 5 };

static atomic_int turn;

static void *take_turns(void *me)
{
    int mine = *(int *)me;
    for (int i = 0; i < ROUNDS; i++) {
        while (atomic_load(&turn) % 2 != mine)
            CHECK_OK(mine ? sched_yield() : old_yield());
        atomic_fetch_add(&turn, 1);
    }
    return NULL;
}

int main(void)
{
    int zero = 0, one = 1;
    CHECK_OK(sched_yield());
    CHECK_OK(old_yield());
    pthread_t a = check_spawn(take_turns, &zero), b = check_spawn(take_turns, &one);
    check_join(a);
    check_join(b);
    CHECK_EQ(atomic_load(&turn), 2 * ROUNDS);
    return 0;
}
