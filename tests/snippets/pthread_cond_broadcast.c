/* pthread_cond_broadcast: wakes all that wait, and none that begins to wait afterwards. */
/* ops: COND_BROADCAST COND_WAIT COND_WAKE */
#define _GNU_SOURCE
#include "check.h"

enum { WAITERS = 5, ROUNDS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t generation_changed = PTHREAD_COND_INITIALIZER, waiting_changed = PTHREAD_COND_INITIALIZER;
static int generation, waiting;

static void *wait_each(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&lock));
    for (int i = 0; i < ROUNDS; i++) {
        int mine = generation;
        waiting++;
        CHECK_OK(pthread_cond_signal(&waiting_changed));
        while (generation == mine)
            CHECK_OK(pthread_cond_wait(&generation_changed, &lock));
        CHECK_EQ(generation, mine + 1);
    }
    CHECK_OK(pthread_mutex_unlock(&lock));
    return unused;
}

int main(void)
{
    pthread_t threads[WAITERS];
    CHECK_OK(pthread_cond_broadcast(&generation_changed)); /* nobody waits: no effect */
    for (int i = 0; i < WAITERS; i++)
        threads[i] = check_spawn(wait_each, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(pthread_mutex_lock(&lock));
        while (waiting < WAITERS)
            CHECK_OK(pthread_cond_wait(&waiting_changed, &lock));
        waiting = 0;
        generation++;
        if (i % 2)
            CHECK_OK(pthread_cond_broadcast(&generation_changed));
        CHECK_OK(pthread_mutex_unlock(&lock));
        if (i % 2 == 0)
            CHECK_OK(pthread_cond_broadcast(&generation_changed));
    }
    for (int i = 0; i < WAITERS; i++)
        check_join(threads[i]);
    return 0;
}
