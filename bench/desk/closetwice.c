/* Jobs that each count on an eventfd of their own; a janitor closes what is done.
 *
 * Bug: who is done closes it, too. By the second time the number may be another job's.
 * Shows as: a job that fails.
 * FIXED: the janitor alone closes it. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { WORKERS = 2, JOBS = 2, MESSAGES = 3, PLACES = WORKERS * JOBS };

struct job {
    int in, done, gone;
};

static struct job jobs[PLACES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int failed, left = PLACES;

static int run(struct job *j, uint64_t number)
{
    uint64_t got = 0;
    int ok = 1;
    j->in = eventfd(0, 0);
    for (int i = 0; i < MESSAGES && ok; i++)
        ok = write(j->in, &number, sizeof number) == sizeof number && /* culprit */
             read(j->in, &got, sizeof got) == sizeof got &&           /* culprit */
             got == number;
    return ok;
}

static void *work(void *arg)
{
    int first = (int)(long)arg * JOBS;
    for (int i = first; i < first + JOBS; i++) {
        int ok = run(&jobs[i], i + 1);
#ifndef FIXED
        close(jobs[i].in); /* culprit */
#endif
        pthread_mutex_lock(&lock);
        failed += !ok;
        jobs[i].done = 1;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *janitor(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    while (left) {
        int found = 0;
        for (int i = 0; i < PLACES; i++)
            if (jobs[i].done && !jobs[i].gone) {
                close(jobs[i].in); /* culprit */
                jobs[i].gone = found = 1;
                left--;
            }
        if (!found)
            pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t t[WORKERS], j;
    pthread_create(&j, NULL, janitor, NULL);
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&t[i], NULL, work, (void *)i);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(t[i], NULL);
    pthread_join(j, NULL);
    printf("%d failed\n", failed);
    return failed > 0;
}
