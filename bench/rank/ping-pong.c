/* Players hit one ball, and the first that ends takes it away. Stands for: PingPong (ConTest).
 * Bug: a player looks whether there is a ball, and then hits it, without a lock.
 * Shows as: a crash: the ball is no more. FIXED: a lock. */
#include "shared.h"

enum { PLAYERS = 3 };
static int hits, *volatile ball = &hits;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *play(void *number)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    if (ball) /* culprit */
        (*(volatile int *)ball)++;
    if (!number)
        ball = NULL;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

int main(void)
{
    (void)lock;
    run_threads(PLAYERS, play);
    return 0;
}
