/* A lock for readers and writers, made by hand, and a cache under it: who does not find becomes a writer.
 *
 * Bug: two readers who become writers at the same time wait for each other to leave.
 * Shows as: a deadlock.
 * FIXED: who does not find leaves, comes back as a writer, and looks again. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t left;
    int readers;
    bool writer;
} gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .left = PTHREAD_COND_INITIALIZER };

static int table[4];

static void gate_read(void)
{
    pthread_mutex_lock(&gate.lock); /* culprit */
    while (gate.writer)
        pthread_cond_wait(&gate.left, &gate.lock);
    gate.readers++;
    pthread_mutex_unlock(&gate.lock);
}

static void gate_leave(void)
{
    pthread_mutex_lock(&gate.lock);
    gate.readers--;
    pthread_cond_broadcast(&gate.left);
    pthread_mutex_unlock(&gate.lock);
}

#ifdef FIXED
static void gate_write(void)
{
    pthread_mutex_lock(&gate.lock);
    while (gate.writer || gate.readers > 0)
        pthread_cond_wait(&gate.left, &gate.lock);
    gate.writer = true;
    pthread_mutex_unlock(&gate.lock);
}
#else
static void gate_upgrade(void)
{
    pthread_mutex_lock(&gate.lock);
    while (gate.writer || gate.readers > 1)
        pthread_cond_wait(&gate.left, &gate.lock); /* culprit */
    gate.readers = 0;
    gate.writer = true;
    pthread_mutex_unlock(&gate.lock);
}
#endif

static void gate_written(void)
{
    pthread_mutex_lock(&gate.lock);
    gate.writer = false;
    pthread_cond_broadcast(&gate.left);
    pthread_mutex_unlock(&gate.lock);
}

static int cache_get(int key)
{
    gate_read();
    int value = table[key];
    if (value != 0) {
        gate_leave();
        return value;
    }
#ifdef FIXED
    gate_leave();
    gate_write();
#else
    gate_upgrade();
#endif
    if (table[key] == 0)
        table[key] = key * key + 1;
    value = table[key];
    gate_written();
    return value;
}

static void *client(void *argument)
{
    int sum = 0, first = *(int *)argument;
    for (int i = 0; i < 2; i++)
        sum += cache_get((first + i) % 4);
    return sum > 0 ? argument : NULL;
}

int main(void)
{
    pthread_t threads[3];
    int numbers[3] = { 0, 1, 2 };
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, client, &numbers[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
