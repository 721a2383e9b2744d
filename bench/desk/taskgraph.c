/* Tasks that depend on others: each has a count of those that it waits for; who finishes the last one makes it ready.
 *
 * Bug: the count is lowered, and read again to see whether it is zero.
 * Shows as: a failed assertion: a task runs twice.
 * FIXED: what the lowering returns is looked at. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { TASKS = 5, WORKERS = 2, EDGES = 3 };

struct task {
    const char *name;
    atomic_int missing, runs;
    int count, successor[EDGES];
};

/*      parse ---> check ---> link
 *      scan  ---> build ----^       */
static struct task tasks[TASKS] = {
    { .name = "parse", .count = 2, .successor = { 2, 3 } },
    { .name = "scan", .count = 1, .successor = { 3 } },
    { .name = "check", .missing = 1, .count = 1, .successor = { 4 } },
    { .name = "build", .missing = 2, .count = 1, .successor = { 4 } },
    { .name = "link", .missing = 2 },
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static int ready[4 * TASKS], head, tail, finished;

static void submit(int task)
{
    pthread_mutex_lock(&lock);
    ready[tail++] = task;
    pthread_cond_signal(&work);
    pthread_mutex_unlock(&lock);
}

static int take(void)
{
    pthread_mutex_lock(&lock);
    while (head == tail && finished < TASKS)
        pthread_cond_wait(&work, &lock);
    int task = head < tail ? ready[head++] : -1;
    pthread_mutex_unlock(&lock);
    return task;
}

static void complete(struct task *t)
{
    for (int i = 0; i < t->count; i++) {
        struct task *next = &tasks[t->successor[i]];
#ifdef FIXED
        if (atomic_fetch_sub(&next->missing, 1) == 1)
            submit(t->successor[i]);
#else
        atomic_fetch_sub(&next->missing, 1);  /* culprit */
        if (atomic_load(&next->missing) == 0) /* culprit */
            submit(t->successor[i]);
#endif
    }
    pthread_mutex_lock(&lock);
    if (++finished == TASKS)
        pthread_cond_broadcast(&work);
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    (void)arg;
    for (int task; (task = take()) >= 0;) {
        struct task *t = &tasks[task];
        int runs = atomic_fetch_add(&t->runs, 1);
        assert(runs == 0);
        complete(t);
    }
    return NULL;
}

int main(void)
{
    pthread_t workers[WORKERS];
    submit(0);
    submit(1);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("%d tasks\n", finished);
    return 0;
}
