/* A rate limiter: at most two calls in a window; who asks looks at the window, calls, and counts the call.
 *
 * Bug: the look and the count are two sections.
 * Shows as: an exit status of 1: more calls than may be.
 * FIXED: counted where it is looked at. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { MOST = 2, CALLERS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, log_lock = PTHREAD_MUTEX_INITIALIZER;
static int in_window, logged;

static bool may_call(void)
{
    pthread_mutex_lock(&lock); /* culprit */
    bool may = in_window < MOST;
#ifdef FIXED
    in_window += may;
#endif
    pthread_mutex_unlock(&lock);
    return may;
}

static void count_call(void)
{
#ifndef FIXED
    pthread_mutex_lock(&lock); /* culprit */
    in_window++;
    pthread_mutex_unlock(&lock);
#endif
}

static void write_log(void)
{
    pthread_mutex_lock(&log_lock);
    logged++;
    pthread_mutex_unlock(&log_lock);
}

static void *caller(void *arg)
{
    if (may_call()) {
        write_log();
        count_call();
    }
    return arg;
}

int main(void)
{
    pthread_t threads[CALLERS];
    for (int i = 0; i < CALLERS; i++)
        pthread_create(&threads[i], NULL, caller, NULL);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(threads[i], NULL);
    printf("%d calls\n", logged);
    return logged > MOST;
}
