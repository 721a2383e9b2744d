/* A value that is written in two stages, each under a lock of its own, by n-1 threads, and read by one.
 *
 * Source: twostage_N of SCTBench (Thomson, Donaldson, Betts, PPoPP 2014).
 * Bug: between the stages the value is half written, and no lock says so.
 * Depth 2: (the first stage of a writer) before (the reader's first lock), and (its second lock) before the second
 *   stage of any writer.
 * Shows as: an assertion.
 * FIXED: the second stage is inside the first one's lock, for the writers and the reader. */
#include "shared.h"

static pthread_mutex_t stage1 = PTHREAD_MUTEX_INITIALIZER, stage2 = PTHREAD_MUTEX_INITIALIZER;
static int one, two;

/* Between the stages. */
static void leave_first(void)
{
#ifndef FIXED
    pthread_mutex_unlock(&stage1); /* culprit */
#endif
}

static void leave_second(void)
{
    pthread_mutex_unlock(&stage2);
#ifdef FIXED
    pthread_mutex_unlock(&stage1);
#endif
}

static void *write_both(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&stage1);
    one = 1;
    leave_first();
    pthread_mutex_lock(&stage2);
    two = one + 1;
    leave_second();
    return NULL;
}

static void *read_both(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&stage1);
    int seen = one;
    if (!seen) {
        pthread_mutex_unlock(&stage1);
        return NULL;
    }
    leave_first();
    pthread_mutex_lock(&stage2);
    int then = two;
    leave_second();
    assert(then == seen + 1);
    return NULL;
}

int main(int argc, char **argv)
{
    run_threads(thread_count(argc, argv), write_both, read_both);
    return 0;
}
