/* Players hit one ball, and the first that ends takes it away. Stands for: PingPong (ConTest).
 * Bug: a player looks whether there is a ball, and then hits it, without a lock.
 * Shows as: a crash: the ball is no more. FIXED: a lock. */
#include "shared.h"

enum { PLAYERS = 3 };
static int hits, *volatile ball = &hits;

static void *play(void *number)
{
    fix_lock();
    if (ball) /* culprit */
        (*(volatile int *)ball)++;
    if (!number)
        ball = NULL;
    fix_unlock();
    return NULL;
}

int main(void)
{
    run_threads(PLAYERS, play);
    return 0;
}
