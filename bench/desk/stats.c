/* Workers count what they have done; a reporter prints when a target is reached.
 *
 * Bug: the reporter waits with the reporter's mutex, the workers count and signal under the counters' mutex. The
 *   last signal may come between the reporter's look and its wait.
 * Shows as: deadlock.
 * FIXED: the reporter waits with the counters' mutex. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { WORKERS = 2, EACH = 2, TARGET = WORKERS * EACH };

static struct stats {
    pthread_mutex_t counters, reporter;
    pthread_cond_t reached;
    int done, reports;
} stats = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };

static int stats_done(void)
{
    pthread_mutex_lock(&stats.counters);
    int done = stats.done;
    pthread_mutex_unlock(&stats.counters);
    return done;
}

static void stats_add(int n)
{
    pthread_mutex_lock(&stats.counters);
    stats.done += n;
    if (stats.done >= TARGET)
        pthread_cond_signal(&stats.reached); /* culprit */
    pthread_mutex_unlock(&stats.counters);
}

static void *worker(void *unused)
{
    (void)unused;
    for (int i = 0; i < EACH; i++)
        stats_add(1);
    return NULL;
}

static void *reporter(void *unused)
{
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&stats.counters);
    while (stats.done < TARGET)
        pthread_cond_wait(&stats.reached, &stats.counters);
    pthread_mutex_unlock(&stats.counters);
    pthread_mutex_lock(&stats.reporter);
#else
    pthread_mutex_lock(&stats.reporter);
    while (stats_done() < TARGET)
        pthread_cond_wait(&stats.reached, &stats.reporter); /* culprit */
#endif
    stats.reports++;
    pthread_mutex_unlock(&stats.reporter);
    return NULL;
}

int main(void)
{
    pthread_t workers[WORKERS], reporting;
    if (pthread_create(&reporting, NULL, reporter, NULL))
        return 3;
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&workers[i], NULL, worker, NULL))
            return 3;
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    pthread_join(reporting, NULL);
    assert(stats_done() == TARGET && stats.reports == 1);
    printf("%d done\n", stats.done);
    return 0;
}
