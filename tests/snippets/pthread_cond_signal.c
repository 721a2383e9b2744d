/* pthread_cond_signal: wakes at least one that waits, is not remembered if nobody does, needs no mutex. */
/* ops: COND_SIGNAL COND_WAIT COND_WAKE */
#define _GNU_SOURCE
#include "check.h"

enum { CONSUMERS = 4, ITEMS = 24 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t available = PTHREAD_COND_INITIALIZER, waiting_changed = PTHREAD_COND_INITIALIZER;
static int items, taken, waiting;
static bool closed;

static void *consume(void *unused)
{
    CHECK_OK(pthread_mutex_lock(&lock));
    for (;;) {
        while (items == 0 && !closed) {
            waiting++;
            CHECK_OK(pthread_cond_signal(&waiting_changed));
            CHECK_OK(pthread_cond_wait(&available, &lock));
            waiting--;
        }
        if (items == 0)
            break;
        items--;
        taken++;
    }
    CHECK_OK(pthread_mutex_unlock(&lock));
    return unused;
}

int main(void)
{
    pthread_t threads[CONSUMERS];

    CHECK_OK(pthread_cond_signal(&available)); /* nobody waits: no effect */
    struct timespec when = check_in_ms(CLOCK_REALTIME, 5);
    CHECK_OK(pthread_mutex_lock(&lock));
    int error;
    do
        error = pthread_cond_timedwait(&available, &lock, &when);
    while (error == 0);
    CHECK_EQ(error, ETIMEDOUT);

    for (int i = 0; i < CONSUMERS; i++)
        threads[i] = check_spawn(consume, NULL);
    while (waiting < CONSUMERS)
        CHECK_OK(pthread_cond_wait(&waiting_changed, &lock));
    /* All wait. One item and one signal at a time: each must reach somebody, with the mutex held and without. */
    for (int i = 0; i < ITEMS; i++) {
        items++;
        if (i % 2) {
            CHECK_OK(pthread_cond_signal(&available));
            CHECK_OK(pthread_mutex_unlock(&lock));
        } else {
            CHECK_OK(pthread_mutex_unlock(&lock));
            CHECK_OK(pthread_cond_signal(&available));
        }
        CHECK_OK(pthread_mutex_lock(&lock));
        while (i % 3 == 0 && (items > 0 || waiting < CONSUMERS))
            CHECK_OK(pthread_cond_wait(&waiting_changed, &lock));
    }
    /* As many signals as there are waiters reach all of them. */
    closed = true;
    for (int i = 0; i < CONSUMERS; i++)
        CHECK_OK(pthread_cond_signal(&available));
    CHECK_OK(pthread_mutex_unlock(&lock));
    for (int i = 0; i < CONSUMERS; i++)
        check_join(threads[i]);
    CHECK_EQ(taken, ITEMS);
    return 0;
}
