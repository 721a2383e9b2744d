/* Workers that sum up a range: a large one is split, and one half handed to the others.
 *
 * Bug: who has handed over a half waits for it, and does nothing else meanwhile. With all workers waiting, the halves
 *   stay in the queue.
 * Shows as: deadlock.
 * FIXED: it does both halves itself. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { WORKERS = 2, ROOM = 16, SMALL = 2 };

struct task {
    int from, to, sum, done, leaf;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
static struct task *queue[ROOM];
static int first, last, closed;

static void submit(struct task *task)
{
    pthread_mutex_lock(&lock);
    queue[last++ % ROOM] = task;
    pthread_cond_signal(&work); /* culprit */
    pthread_mutex_unlock(&lock);
}

static int wait_for(struct task *task)
{
    pthread_mutex_lock(&lock);
    while (!task->done)
        pthread_cond_wait(&finished, &lock); /* culprit */
    pthread_mutex_unlock(&lock);
    return task->sum;
}

static int sum_up(int from, int to)
{
    int sum = 0;
    for (int i = from; i < to; i++)
        sum += i;
    return sum;
}

static void run(struct task *task)
{
    int sum;
#ifndef FIXED
    if (task->to - task->from > SMALL) {
        struct task half = { .from = (task->from + task->to) / 2, .to = task->to };
        submit(&half);
        sum = sum_up(task->from, half.from) + wait_for(&half);
    } else
#endif
        sum = sum_up(task->from, task->to);
    pthread_mutex_lock(&lock);
    task->sum = sum;
    task->done = 1;
    pthread_cond_broadcast(&finished);
    pthread_mutex_unlock(&lock);
}

static void *worker(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (first == last && !closed)
            pthread_cond_wait(&work, &lock);
        struct task *task = first == last ? NULL : queue[first++ % ROOM];
        pthread_mutex_unlock(&lock);
        if (!task)
            return NULL;
        run(task);
    }
}

int main(void)
{
    pthread_t workers[WORKERS];
    struct task tasks[2] = { { .from = 0, .to = 4 }, { .from = 4, .to = 8 } };
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&workers[i], NULL, worker, NULL))
            return 3;
    for (int i = 0; i < 2; i++)
        submit(&tasks[i]);
    int sum = wait_for(&tasks[0]) + wait_for(&tasks[1]);
    pthread_mutex_lock(&lock);
    closed = 1;
    pthread_cond_broadcast(&work);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    assert(sum == 28);
    return 0;
}
