/* A pool that makes threads when none is idle; who is idle for long enough goes.
 *
 * Bug: a thread whose time is up goes without a look at the queue, though a task was given to it as an idle one.
 * Shows as: a deadlock: a task is never done.
 * FIXED: it looks once more. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t added = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
static int queued, idle, done;

static void *worker(void *argument)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 2000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        int late = 0;
        idle++;
        while (queued == 0 && !late)
            late = pthread_cond_timedwait(&added, &lock, &until); /* culprit */
        idle--;
#ifdef FIXED
        if (late && queued == 0)
#else
        if (late)
#endif
            break;
        queued--;
        done++;
        pthread_cond_broadcast(&finished);
    }
    pthread_mutex_unlock(&lock);
    return argument;
}

static void submit(void)
{
    pthread_mutex_lock(&lock); /* culprit */
    queued++;
    if (idle > 0) {
        pthread_cond_signal(&added); /* culprit */
    } else {
        pthread_t thread;
        if (pthread_create(&thread, NULL, worker, NULL))
            abort();
        pthread_detach(thread);
    }
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    for (int task = 1; task <= 3; task++) {
        submit();
        pthread_mutex_lock(&lock);
        while (done < task)
            pthread_cond_wait(&finished, &lock); /* culprit */
        pthread_mutex_unlock(&lock);
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    return 0;
}
