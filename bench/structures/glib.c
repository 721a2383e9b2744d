/* GLib's queues and pools of threads (Debian's libglib2.0-dev), for `pct explore`: glib STRUCTURE THREADS. Thread 0
 * gets what the others put in. Built by bench/structures/run. */
#include <assert.h>
#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4 };
static int n, got[MOST], values[MOST];

static GAsyncQueue *async;
static void async_queue(int me)
{
    if (me) {
        g_async_queue_push(async, &values[me]);
        return;
    }
    for (int i = 1; i < n; i++)
        got[(int *)g_async_queue_pop(async) - values]++;
}

static void async_queue_try(int me)
{
    if (me) {
        g_async_queue_push(async, &values[me]);
        return;
    }
    for (int i = 1; i < n; i++) {
        const int *value = g_async_queue_try_pop(async);
        if (value)
            got[value - values]++;
    }
}

/* A queue in a lock, with a condition. */
static GQueue queue = G_QUEUE_INIT;
static GMutex mutex;
static GCond cond;
static void locked_queue(int me)
{
    g_mutex_lock(&mutex);
    if (me) {
        g_queue_push_tail(&queue, &values[me]);
        g_cond_signal(&cond);
    }
    for (int i = 1; !me && i < n; i++) {
        while (g_queue_is_empty(&queue))
            g_cond_wait(&cond, &mutex);
        got[(int *)g_queue_pop_head(&queue) - values]++;
    }
    g_mutex_unlock(&mutex);
}

static void take(void *value, void *unused)
{
    (void)unused;
    g_mutex_lock(&mutex);
    got[(int *)value - values]++;
    g_mutex_unlock(&mutex);
}

/* The other threads are the pool's, which is given up when all is done. */
static void thread_pool(int me)
{
    (void)me;
    g_thread_pool_set_max_unused_threads(0); /* none waits for the next pool */
    GThreadPool *pool = g_thread_pool_new(take, NULL, n - 1, TRUE, NULL);
    for (int i = 1; i < n; i++)
        g_thread_pool_push(pool, &values[i], NULL);
    g_thread_pool_free(pool, FALSE, TRUE);
}

static const struct {
    const char *name;
    void (*does)(int me);
    int least;  /* that each value comes so often, and at most once */
    bool alone; /* it makes its threads itself */
} structures[] = { { "async-queue", async_queue, 1 },
                   { "async-queue-try", async_queue_try, 0 },
                   { "queue", locked_queue, 1 },
                   { "thread-pool", thread_pool, 1, true } };
static unsigned which;

static void *run(void *me)
{
    structures[which].does((int)(long)me);
    return NULL;
}

int main(int argc, char **argv)
{
    GThread *threads[MOST];
    n = argc > 2 ? atoi(argv[2]) : 2;
    while (argc > 1 && which < G_N_ELEMENTS(structures) && strcmp(argv[1], structures[which].name) != 0)
        which++;
    if (argc < 2 || which == G_N_ELEMENTS(structures) || n < 2 || n > MOST)
        return 2;
    async = g_async_queue_new();
    int made = structures[which].alone ? 0 : n;
    if (!made)
        run(NULL);
    for (long i = 0; i < made; i++)
        threads[i] = g_thread_new(NULL, run, (void *)i);
    for (int i = 0; i < made; i++)
        g_thread_join(threads[i]);
    for (int i = 1; i < n; i++)
        assert(got[i] >= structures[which].least && got[i] <= 1);
    return 0;
}
