/* A cache that keeps threads from computing the same value at the same time: the first marks the entry, others wait.
 *
 * Bug: where the computation fails (the backend refuses the second query at a time), the mark is taken away and nobody
 *   is told; those who wait stay.
 * Shows as: deadlock.
 * FIXED: they are woken. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { ENTRIES = 2, THREADS = 4 };

enum state { EMPTY, COMPUTING, PRESENT };

struct entry {
    enum state state;
    int value;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct entry entry[ENTRIES];
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static struct {
    pthread_mutex_t lock;
    int queries;
} backend = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int backend_begin(void)
{
    pthread_mutex_lock(&backend.lock);
    int accepted = backend.queries == 0;
    if (accepted)
        backend.queries++;
    pthread_mutex_unlock(&backend.lock);
    return accepted;
}

static void backend_end(void)
{
    pthread_mutex_lock(&backend.lock);
    backend.queries--;
    pthread_mutex_unlock(&backend.lock);
}

/* The value, or -1. */
static int compute(int key)
{
    if (!backend_begin())
        return -1;
    int value = 7 * key;
    backend_end();
    return value;
}

static int lookup(int key)
{
    struct entry *e = &cache.entry[key];
    pthread_mutex_lock(&cache.lock);
    while (e->state == COMPUTING)
        pthread_cond_wait(&cache.changed, &cache.lock); /* culprit */
    if (e->state == PRESENT) {
        int value = e->value;
        pthread_mutex_unlock(&cache.lock);
        return value;
    }
    e->state = COMPUTING;
    pthread_mutex_unlock(&cache.lock);

    int value = compute(key);

    pthread_mutex_lock(&cache.lock); /* culprit */
    if (value < 0) {
        e->state = EMPTY;
#ifdef FIXED
        pthread_cond_broadcast(&cache.changed);
#endif
    } else {
        e->value = value;
        e->state = PRESENT;
        pthread_cond_broadcast(&cache.changed); /* culprit */
    }
    pthread_mutex_unlock(&cache.lock);
    return value;
}

static void *client(void *argument)
{
    int key = *(int *)argument, value = lookup(key);
    assert(value == -1 || value == 7 * key);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int key[THREADS];
    for (int i = 0; i < THREADS; i++) {
        key[i] = i % ENTRIES;
        if (pthread_create(&threads[i], NULL, client, &key[i]))
            return 3;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("done\n");
    return 0;
}
