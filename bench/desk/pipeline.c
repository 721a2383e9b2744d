/* A pipeline: a reader hands items through a ring of slots, bounded by semaphores, to two stages that store them.
 *
 * Bug: a stage that finds the item's key stored already (the reader hands over some twice) goes on to the next one, and
 *   does not give its slot back. Whether the second is found depends on who stores first: each stage keeps what it has
 *   stored in a table of its own until it merges.
 * Shows as: deadlock; the reader waits for a slot for ever.
 * FIXED: it gives the slot back. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

enum { SLOTS = 2, STAGES = 2, ITEMS = 8, KEYS = 4, END = -1 };

static struct ring {
    sem_t free_slots, full_slots;
    pthread_mutex_t lock;
    int item[SLOTS + STAGES], in, out;
} ring = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int stored_total;

static void ring_put(struct ring *r, int item)
{
    sem_wait(&r->free_slots); /* culprit */
    pthread_mutex_lock(&r->lock);
    r->item[r->in++ % (SLOTS + STAGES)] = item;
    pthread_mutex_unlock(&r->lock);
    sem_post(&r->full_slots);
}

static int ring_take(struct ring *r)
{
    sem_wait(&r->full_slots);
    pthread_mutex_lock(&r->lock);
    int item = r->item[r->out++ % (SLOTS + STAGES)];
    pthread_mutex_unlock(&r->lock);
    return item;
}

static void ring_release(struct ring *r)
{
    sem_post(&r->free_slots); /* culprit */
}

static void *stage(void *unused)
{
    int stored[KEYS] = { 0 }, count = 0, item;
    (void)unused;
    while ((item = ring_take(&ring)) != END) {
        if (stored[item]) {
#ifdef FIXED
            ring_release(&ring);
#endif
            continue;
        }
        stored[item] = 1;
        count++;
        ring_release(&ring); /* culprit */
    }
    ring_release(&ring);
    pthread_mutex_lock(&ring.lock);
    stored_total += count;
    pthread_mutex_unlock(&ring.lock);
    return NULL;
}

int main(void)
{
    pthread_t stages[STAGES];
    sem_init(&ring.free_slots, 0, SLOTS);
    sem_init(&ring.full_slots, 0, 0);
    for (int i = 0; i < STAGES; i++)
        if (pthread_create(&stages[i], NULL, stage, NULL))
            return 3;
    for (int i = 0; i < ITEMS; i++)
        ring_put(&ring, i / 2);
    for (int i = 0; i < STAGES; i++)
        ring_put(&ring, END);
    for (int i = 0; i < STAGES; i++)
        pthread_join(stages[i], NULL);
    assert(stored_total >= KEYS);
    printf("%d stored\n", stored_total);
    return 0;
}
