/* The counter of idle workers in Apache: it is decremented below zero. For the measurements of bench/.
 *
 * Source: the demonic testing paper, figure 3 (the class IDLE_COUNTER) and figure 6
 *   (ap_queue_info_wait_for_idler()); Apache bug 45605.
 * Bug: wait_for_idle() waits under a mutex until there is an idle worker, but decrements their number after it has
 *   let the mutex go. Whoever else removes idle workers (the paper's "extra call to decrement"; here a thread that
 *   ends workers of which there are too many, with the same test and the same decrement) can have taken the last one
 *   by then.
 * Depth 2: (the reaper tests the number) before (the listener decrements), and that before (the reaper decrements).
 *   Main adds a worker only when the reaper has finished, so that no third constraint is needed to keep it away. PCT
 *   needs the listener below the reaper and its change point between the reaper's test and decrement. (The bug also
 *   shows with the two exchanged, but then only if the listener decrements before main adds the worker.)
 * Shows as: a failed assertion, the precondition of decrement().
 * FIXED: test and decrement are done under one hold of the mutex, and the wait is repeated while there is none. */
#include "shared.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t non_zero = PTHREAD_COND_INITIALIZER;
static struct shared_int idlers = SHARED_INT(1);

/* Requires: there is an idle worker. An atomic instruction in Apache. */
static void decrement(void)
{
    int left = shared_add(&idlers, -1);
    assert(left >= 0);
}

static void increment(void)
{
#ifdef FIXED
    pthread_mutex_lock(&mutex);
    shared_add(&idlers, 1);
    pthread_cond_signal(&non_zero);
    pthread_mutex_unlock(&mutex);
#else
    if (shared_add(&idlers, 1) == 1) {
        pthread_mutex_lock(&mutex);
        pthread_cond_signal(&non_zero);
        pthread_mutex_unlock(&mutex);
    }
#endif
}

static void wait_for_idle(void)
{
#ifdef FIXED
    pthread_mutex_lock(&mutex);
    while (shared_read(&idlers) == 0)
        pthread_cond_wait(&non_zero, &mutex);
    decrement();
    pthread_mutex_unlock(&mutex);
#else
    if (shared_read(&idlers) == 0) {
        pthread_mutex_lock(&mutex);
        if (shared_read(&idlers) == 0)
            pthread_cond_wait(&non_zero, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    decrement();
#endif
}

static void *listener(void *unused)
{
    (void)unused;
    wait_for_idle();
    return NULL;
}

static void *reaper(void *unused)
{
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&mutex);
#endif
    if (shared_read(&idlers) > 0) /* culprit */
        decrement();              /* culprit */
#ifdef FIXED
    pthread_mutex_unlock(&mutex);
#endif
    return NULL;
}

int main(void)
{
    pthread_t listening = thread_start(listener, NULL);
    pthread_t reaping = thread_start(reaper, NULL);
    thread_join(reaping);
    increment();
    thread_join(listening);
    return 0;
}
