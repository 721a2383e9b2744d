/* A table of sessions that grows: who looks one up counts the hit in its slot.
 *
 * Bug: the slot is found with the lock, and counted up by its pointer behind it: the table may have moved.
 * Shows as: an exit status of 1: hits are missing.
 * FIXED: it is counted with the lock. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slot {
    int key, hits;
    pthread_mutex_t *stripe;
};

enum { KEYS = 4, LOOKUPS = 3 };

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER, stripe = PTHREAD_MUTEX_INITIALIZER;
static struct slot *slots, *old_slots;
static int size = 2, used;

static struct slot *find(int key)
{
    for (int i = 0; i < used; i++)
        if (slots[i].key == key)
            return &slots[i];
    return NULL;
}

static void grow(void)
{
    struct slot *more = calloc(2 * (size_t)size, sizeof *more);
    pthread_mutex_lock(&stripe); /* culprit */
    memcpy(more, slots, (size_t)size * sizeof *more);
    old_slots = slots; /* who is still there finds it */
    slots = more;
    size *= 2;
    pthread_mutex_unlock(&stripe);
}

static void insert(int key)
{
    pthread_mutex_lock(&table_lock); /* culprit */
    if (used == size)
        grow();
    slots[used++] = (struct slot){ key, 0, &stripe };
    pthread_mutex_unlock(&table_lock);
}

static int hit(int key)
{
    pthread_mutex_lock(&table_lock); /* culprit */
    struct slot *slot = find(key);
#ifndef FIXED
    pthread_mutex_unlock(&table_lock);
#endif
    if (slot) {
        pthread_mutex_lock(slot->stripe); /* culprit */
        slot->hits++;
        pthread_mutex_unlock(slot->stripe);
    }
#ifdef FIXED
    pthread_mutex_unlock(&table_lock);
#endif
    return slot != NULL;
}

static int found;

static void *look_up(void *arg)
{
    for (int i = 0; i < LOOKUPS; i++)
        found += hit(1);
    return arg;
}

static void *open_sessions(void *arg)
{
    for (int key = 2; key <= KEYS; key++)
        insert(key);
    return arg;
}

int main(void)
{
    pthread_t reader, writer;
    slots = calloc((size_t)size, sizeof *slots);
    insert(1);
    pthread_create(&reader, NULL, look_up, NULL);
    pthread_create(&writer, NULL, open_sessions, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    printf("%d found, %d counted\n", found, find(1)->hits);
    return find(1)->hits == found ? 0 : 1;
}
