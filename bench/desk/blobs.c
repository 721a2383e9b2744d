/* Blobs in a table, counted references: the last one to put a blob takes it out of the table and frees it.
 *
 * Bug: a reader finds a blob in the table and counts itself later; the last reference is put in between. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 4
#define ALIVE 0x600df00d
#define DEAD 0xdeadbeef

struct blob {
    unsigned magic;
    pthread_mutex_t lock;
    int refs;
    int key;
    char data[32];
};

static struct {
    pthread_mutex_t lock;
    struct blob *slot[SLOTS];
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct blob arena[16]; /* blobs are never given back to malloc, as a debugging allocator would do */
static int arena_used;
static pthread_mutex_t arena_lock = PTHREAD_MUTEX_INITIALIZER;

static struct blob *blob_new(int key)
{
    pthread_mutex_lock(&arena_lock);
    assert(arena_used < 16);
    struct blob *b = &arena[arena_used++];
    pthread_mutex_unlock(&arena_lock);
    b->magic = ALIVE;
    b->refs = 1;
    b->key = key;
    pthread_mutex_init(&b->lock, NULL);
    snprintf(b->data, sizeof b->data, "blob %d", key);
    return b;
}

static void blob_free(struct blob *b)
{
    b->magic = DEAD;
    memset(b->data, 0x5a, sizeof b->data);
}

static struct blob *blob_get(int key)
{
    pthread_mutex_lock(&table.lock); /* culprit */
    struct blob *b = table.slot[key % SLOTS];
#ifndef FIXED
    pthread_mutex_unlock(&table.lock);
#endif
    if (b != NULL) {
        pthread_mutex_lock(&b->lock); /* culprit */
        b->refs++;
        pthread_mutex_unlock(&b->lock);
    }
#ifdef FIXED
    pthread_mutex_unlock(&table.lock);
#endif
    return b;
}

static void blob_put(struct blob *b)
{
#ifdef FIXED
    pthread_mutex_lock(&table.lock);
#endif
    pthread_mutex_lock(&b->lock); /* culprit */
    int left = --b->refs;
    pthread_mutex_unlock(&b->lock);
#ifdef FIXED
    if (left > 0)
        pthread_mutex_unlock(&table.lock);
#endif
    if (left > 0)
        return;
#ifndef FIXED
    pthread_mutex_lock(&table.lock); /* culprit */
#endif
    if (table.slot[b->key % SLOTS] == b)
        table.slot[b->key % SLOTS] = NULL;
    pthread_mutex_unlock(&table.lock);
    blob_free(b);
}

static void publish(int key)
{
    struct blob *b = blob_new(key);
    pthread_mutex_lock(&table.lock);
    table.slot[key % SLOTS] = b;
    pthread_mutex_unlock(&table.lock);
}

static void *reader(void *arg)
{
    (void)arg;
    for (int key = 0; key < 2; key++) {
        struct blob *b = blob_get(key);
        if (b == NULL)
            continue;
        assert(b->magic == ALIVE);
        blob_put(b);
    }
    return NULL;
}

static void *remover(void *arg)
{
    int key = (int)(long)arg;
    pthread_mutex_lock(&table.lock);
    struct blob *b = table.slot[key % SLOTS];
    pthread_mutex_unlock(&table.lock);
    blob_put(b); /* the table's own reference */
    return NULL;
}

int main(void)
{
    pthread_t r, m;
    publish(0);
    publish(1);
    pthread_create(&r, NULL, reader, NULL);
    pthread_create(&m, NULL, remover, (void *)1L);
    pthread_join(r, NULL);
    pthread_join(m, NULL);
    puts("ok");
    return 0;
}
