/* A pool of workers that can be stopped.
 *
 * Bug: pool_submit() looks whether the pool stops, and enters its task in another section: behind the last worker's
 *   last look nobody does it.
 * Shows as: a deadlock: who submitted it waits for its end.
 * FIXED: one section. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { WORKERS = 2 };

struct task {
    struct task *next;
    int input, output;
    bool done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
static struct task *tasks;
static bool stopping;

static void *worker(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (true) {
        while (!tasks && !stopping)
            pthread_cond_wait(&work, &lock);
        struct task *task = tasks;
        if (!task)
            break;
        tasks = task->next;
        pthread_mutex_unlock(&lock);
        task->output = task->input * task->input;
        pthread_mutex_lock(&lock);
        task->done = true;
        pthread_cond_broadcast(&finished);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void enter(struct task *task)
{
    task->next = tasks;
    tasks = task;
    pthread_cond_signal(&work);
}

static bool pool_submit(struct task *task)
{
    pthread_mutex_lock(&lock); /* culprit */
    bool stops = stopping;
#ifdef FIXED
    if (!stops)
        enter(task);
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_unlock(&lock);
    if (!stops) {
        pthread_mutex_lock(&lock); /* culprit */
        enter(task);
        pthread_mutex_unlock(&lock);
    }
#endif
    return !stops;
}

static void task_wait(struct task *task)
{
    pthread_mutex_lock(&lock);
    while (!task->done)
        pthread_cond_wait(&finished, &lock);
    pthread_mutex_unlock(&lock);
}

static void pool_stop(void)
{
    pthread_mutex_lock(&lock); /* culprit */
    stopping = true;
    pthread_cond_broadcast(&work);
    pthread_mutex_unlock(&lock);
}

static void *client(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        struct task task = { .input = i };
        if (!pool_submit(&task))
            break;
        task_wait(&task);
    }
    return NULL;
}

int main(void)
{
    pthread_t workers[WORKERS], clients[2];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&clients[i], NULL, client, NULL);
    pool_stop();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(clients[i], NULL);
    return 0;
}
