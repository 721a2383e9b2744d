/* A queue that is not linearizable: the head is looked at under one lock and moved under another one, so that two
 * threads may get the same item. Every result alone is a possible one; only the history shows that they do not go
 * together. pct campaign and pct explore find it, and print the history. -DFIXED: the mended one.
 *
 *     cc -g -pthread -I../../include -o queue queue.c
 *     pct explore -- ./queue */
#include <pct/history.h>

enum { ENQUEUE, DEQUEUE, ROOM = 8, EMPTY = -1 };

/* --- What is tested --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items[ROOM], head, tail;

static void enqueue(int item)
{
    pthread_mutex_lock(&lock);
    items[tail++] = item;
    pthread_mutex_unlock(&lock);
}

static int dequeue(void)
{
    pthread_mutex_lock(&lock);
    int item = head < tail ? items[head] : EMPTY;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    head += item != EMPTY;
    pthread_mutex_unlock(&lock);
    return item;
}

/* --- What it should be --- */

struct state {
    int head, tail, items[ROOM];
};

static bool step(void *memory, int operation, long argument, bool returned, long result)
{
    struct state *state = (struct state *)memory;
    if (operation == ENQUEUE) {
        state->items[state->tail++] = (int)argument;
        return true;
    }
    int item = state->head < state->tail ? state->items[state->head++] : EMPTY;
    return !returned || result == item;
}

static void format(char *text, size_t size, int operation, long argument, bool returned, long result)
{
    if (operation == ENQUEUE)
        snprintf(text, size, "enqueue %ld", argument);
    else if (returned)
        snprintf(text, size, "dequeue: %ld", result);
    else
        snprintf(text, size, "dequeue");
}

static const struct pct_model model = { "queue", sizeof(struct state), NULL, step, format };
static struct pct_history history = PCT_HISTORY(&model);

static void *use(void *item)
{
    int call = pct_call(&history, ENQUEUE, *(int *)item);
    enqueue(*(int *)item);
    pct_return(&history, call, 0);
    call = pct_call(&history, DEQUEUE, 0);
    pct_return(&history, call, dequeue());
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int item[2] = { 1, 2 };
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, use, &item[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pct_linearizable(&history);
    return 0;
}
