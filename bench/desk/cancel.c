/* Jobs that may be cancelled while they run.
 *
 * Bug: a worker says in one section that the job runs and clears the wish to cancel it in the next: a wish that comes
 *   in between is lost.
 * Shows as: a failed assertion: a job that was cancelled has done all its work.
 * FIXED: the wish is cleared when the job is made. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum state { QUEUED, RUNNING, CANCELLED, DONE };
enum { PARTS = 3 };

struct job {
    pthread_mutex_t lock;
    enum state state;
    bool cancel;
    int parts;
};

static void job_set_state(struct job *j, enum state state)
{
    pthread_mutex_lock(&j->lock);
    j->state = state;
    pthread_mutex_unlock(&j->lock);
}

static bool job_begin(struct job *j)
{
    pthread_mutex_lock(&j->lock); /* culprit */
    bool begin = j->state == QUEUED;
    if (begin)
        j->state = RUNNING;
    pthread_mutex_unlock(&j->lock);
    if (!begin)
        return false;
#ifndef FIXED
    pthread_mutex_lock(&j->lock); /* culprit */
    j->cancel = false;
    pthread_mutex_unlock(&j->lock);
#endif
    return true;
}

static bool job_do_part(struct job *j)
{
    pthread_mutex_lock(&j->lock);
    bool go_on = !j->cancel;
    if (go_on)
        j->parts++;
    pthread_mutex_unlock(&j->lock);
    return go_on;
}

/* Returns true if the job was cancelled before all of it was done. */
static bool job_cancel(struct job *j)
{
    pthread_mutex_lock(&j->lock); /* culprit */
    bool in_time = j->state != DONE && j->parts < PARTS;
    if (j->state == QUEUED)
        j->state = CANCELLED;
    j->cancel = true;
    pthread_mutex_unlock(&j->lock);
    return in_time;
}

static void *worker(void *argument)
{
    struct job *j = argument;
    if (!job_begin(j))
        return NULL;
    for (int i = 0; i < PARTS; i++)
        if (!job_do_part(j)) {
            job_set_state(j, CANCELLED);
            return NULL;
        }
    job_set_state(j, DONE);
    return NULL;
}

int main(void)
{
    struct job jobs[2] = { { .lock = PTHREAD_MUTEX_INITIALIZER }, { .lock = PTHREAD_MUTEX_INITIALIZER } };
    pthread_t workers[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&workers[i], NULL, worker, &jobs[i]))
            return 3;
    bool cancelled = job_cancel(&jobs[0]);
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    assert(!cancelled || jobs[0].state == CANCELLED);
    printf("%d and %d parts\n", jobs[0].parts, jobs[1].parts);
    return 0;
}
