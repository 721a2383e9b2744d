/* A test harness: workers wait at a gate until all are ready; the controller opens it, and closes it for the next
 * round.
 *
 * Bug: the gate is closed again before all who were woken have looked: they wait for ever. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define WORKERS 3

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    pthread_cond_t all_here;
    bool open;
    int here;
    int round;
};

static struct gate gate = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0, 0
};
static int laps[WORKERS];

static void gate_wait(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    if (++g->here == WORKERS)
        pthread_cond_signal(&g->all_here);
#ifdef FIXED
    int round = g->round;
    while (!g->open && round == g->round)
#else
    while (!g->open)
#endif
        pthread_cond_wait(&g->opened, &g->lock); /* culprit */
    pthread_mutex_unlock(&g->lock);
}

static void gate_await(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    while (g->here < WORKERS)
        pthread_cond_wait(&g->all_here, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static void gate_open(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->open = true;
    pthread_cond_broadcast(&g->opened);
    pthread_mutex_unlock(&g->lock);
}

static void gate_close(struct gate *g)
{
    pthread_mutex_lock(&g->lock); /* culprit */
    g->round++;
    g->open = false;
    g->here = 0;
    pthread_mutex_unlock(&g->lock);
}

static pthread_mutex_t done_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done_changed = PTHREAD_COND_INITIALIZER;
static int done;

static void lap_done(int *lap)
{
    pthread_mutex_lock(&done_lock);
    ++*lap;
    done++;
    pthread_cond_signal(&done_changed);
    pthread_mutex_unlock(&done_lock);
}

static void await_first(void)
{
    pthread_mutex_lock(&done_lock);
    while (done == 0)
        pthread_cond_wait(&done_changed, &done_lock);
    pthread_mutex_unlock(&done_lock);
}

static void *worker(void *arg)
{
    gate_wait(&gate);
    lap_done(arg);
    return NULL;
}

int main(void)
{
    pthread_t t[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&t[i], NULL, worker, &laps[i]);
    gate_await(&gate);
    gate_open(&gate);
    await_first(); /* the race has begun */
    gate_close(&gate);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(t[i], NULL);
    printf("%d %d %d\n", laps[0], laps[1], laps[2]);
    return 0;
}
