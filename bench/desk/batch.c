/* A pool that works off batches: submit() adds tasks, wait_all() returns when none is pending, then results are read.
 *
 * Bug: a worker takes a task out and counts it as done in one section, before it has stored the result in another.
 * Shows as: a failed assertion: a result is missing.
 * FIXED: it is counted behind that. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { WORKERS = 2, TASKS = 4 };

struct task {
    int input;
    int index;
};

static struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    struct task tasks[TASKS];
    int first, count, pending;
    bool stopping;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER };

static struct results {
    pthread_mutex_t lock;
    int value[TASKS];
    bool there[TASKS];
} results = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void submit(int index, int input)
{
    pthread_mutex_lock(&pool.lock);
    pool.tasks[pool.count++] = (struct task){ .input = input, .index = index };
    pool.pending++;
    pthread_cond_signal(&pool.work);
    pthread_mutex_unlock(&pool.lock);
}

static void count_done(void)
{
    if (--pool.pending == 0)
        pthread_cond_broadcast(&pool.done);
}

static bool take(struct task *task)
{
    pthread_mutex_lock(&pool.lock); /* culprit */
    while (pool.first == pool.count && !pool.stopping)
        pthread_cond_wait(&pool.work, &pool.lock); /* culprit */
    bool taken = pool.first < pool.count;
    if (taken) {
        *task = pool.tasks[pool.first++];
#ifndef FIXED
        count_done(); /* culprit */
#endif
    }
    pthread_mutex_unlock(&pool.lock);
    return taken;
}

static int compute(int input)
{
    return input * input + 1;
}

static void store(int index, int value)
{
    pthread_mutex_lock(&results.lock); /* culprit */
    results.value[index] = value;
    results.there[index] = true;
    pthread_mutex_unlock(&results.lock);
}

static void *worker(void *unused)
{
    (void)unused;
    struct task task;
    while (take(&task)) {
        store(task.index, compute(task.input));
#ifdef FIXED
        pthread_mutex_lock(&pool.lock);
        count_done();
        pthread_mutex_unlock(&pool.lock);
#endif
    }
    return NULL;
}

static void wait_all(void)
{
    pthread_mutex_lock(&pool.lock); /* culprit */
    while (pool.pending > 0)
        pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

static int read_result(int index)
{
    pthread_mutex_lock(&results.lock); /* culprit */
    assert(results.there[index]);
    int value = results.value[index];
    pthread_mutex_unlock(&results.lock);
    return value;
}

static void stop(void)
{
    pthread_mutex_lock(&pool.lock);
    pool.stopping = true;
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
}

int main(void)
{
    pthread_t workers[WORKERS];
    int sum = 0;
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int i = 0; i < TASKS; i++)
        submit(i, i);
    wait_all(); /* culprit */
    for (int i = 0; i < TASKS; i++)
        sum += read_result(i);
    stop();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("%d\n", sum);
    return 0;
}
