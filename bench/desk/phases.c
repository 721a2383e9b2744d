/* A simulation in phases: each worker computes its cell from its neighbour's, phase after phase.
 *
 * Bug: there is one barrier in a phase, between reading and the next phase, and none between reading and writing: a
 *   fast worker writes the new value before its neighbour has read the old one.
 * Shows as: a failed assertion on the result.
 * FIXED: a barrier between reading and writing. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { WORKERS = 3, PHASES = 2 };

struct cell {
    pthread_mutex_t lock;
    int value;
};

static struct cell cells[WORKERS];
static pthread_barrier_t step;

static int cell_get(struct cell *c)
{
    pthread_mutex_lock(&c->lock);
    int value = c->value;
    pthread_mutex_unlock(&c->lock);
    return value;
}

static void cell_set(struct cell *c, int value)
{
    pthread_mutex_lock(&c->lock);
    c->value = value;
    pthread_mutex_unlock(&c->lock);
}

static void *simulate(void *argument)
{
    int me = *(int *)argument;
    for (int phase = 0; phase < PHASES; phase++) {
        int left = cell_get(&cells[(me + WORKERS - 1) % WORKERS]); /* culprit */
        int own = cell_get(&cells[me]);
#ifdef FIXED
        pthread_barrier_wait(&step);
#endif
        cell_set(&cells[me], own + left); /* culprit */
        pthread_barrier_wait(&step);
    }
    return NULL;
}

static int expected(int cell)
{
    int now[WORKERS], next[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        now[i] = i + 1;
    for (int phase = 0; phase < PHASES; phase++) {
        for (int i = 0; i < WORKERS; i++)
            next[i] = now[i] + now[(i + WORKERS - 1) % WORKERS];
        for (int i = 0; i < WORKERS; i++)
            now[i] = next[i];
    }
    return now[cell];
}

int main(void)
{
    pthread_t threads[WORKERS];
    int number[WORKERS];
    pthread_barrier_init(&step, NULL, WORKERS);
    for (int i = 0; i < WORKERS; i++) {
        number[i] = i;
        pthread_mutex_init(&cells[i].lock, NULL);
        cells[i].value = i + 1;
    }
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&threads[i], NULL, simulate, &number[i]))
            return 3;
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < WORKERS; i++)
        assert(cells[i].value == expected(i));
    pthread_barrier_destroy(&step);
    return 0;
}
