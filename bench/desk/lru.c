/* A least recently used cache of two entries, whose users hold a value only while they are under the lock.
 *
 * Bug: cache_get() finds the entry under the lock, lets go of it, and takes it again to move the entry to the front.
 *   Between the two another thread may evict the entry: it is moved after it was freed.
 * Shows as: a failed assertion on the entry's state, or a crash.
 * FIXED: one section. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { CAPACITY = 2, KEYS = 3, ROUNDS = 3 };

enum state { LIVE = 0x11fe, DEAD = 0xdead };

struct entry {
    struct entry *next, *previous;
    int key, value;
    enum state state;
};

static struct cache {
    pthread_mutex_t lock;
    struct entry head; /* head.next: the one used last */
    int count;
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER, .head = { .next = &cache.head, .previous = &cache.head } };

static struct entry *graveyard; /* entries are kept for reuse */

static void unlink_entry(struct entry *e)
{
    e->previous->next = e->next;
    e->next->previous = e->previous;
}

static void push_front(struct entry *e)
{
    e->next = cache.head.next;
    e->previous = &cache.head;
    e->next->previous = e;
    cache.head.next = e;
}

static struct entry *find(int key)
{
    for (struct entry *e = cache.head.next; e != &cache.head; e = e->next)
        if (e->key == key)
            return e;
    return NULL;
}

static void evict_oldest(void)
{
    struct entry *oldest = cache.head.previous;
    unlink_entry(oldest);
    oldest->state = DEAD;
    oldest->next = graveyard;
    graveyard = oldest;
    cache.count--;
}

/* The value in *value; 0 if it is not there. */
static int cache_get(int key, int *value)
{
    pthread_mutex_lock(&cache.lock); /* culprit */
    struct entry *e = find(key);
    if (!e) {
        pthread_mutex_unlock(&cache.lock);
        return 0;
    }
    *value = e->value;
#ifndef FIXED
    pthread_mutex_unlock(&cache.lock);
    pthread_mutex_lock(&cache.lock); /* culprit */
#endif
    assert(e->state == LIVE);
    unlink_entry(e);
    push_front(e);
    pthread_mutex_unlock(&cache.lock);
    return 1;
}

static void cache_put(int key, int value)
{
    pthread_mutex_lock(&cache.lock);
    struct entry *e = find(key);
    if (!e) {
        if (cache.count == CAPACITY)
            evict_oldest();
        e = malloc(sizeof *e);
        if (!e)
            exit(3);
        *e = (struct entry){ .key = key, .state = LIVE };
        push_front(e);
        cache.count++;
    }
    e->value = value;
    pthread_mutex_unlock(&cache.lock);
}

static void *user(void *argument)
{
    int first = *(int *)argument, value;
    for (int i = 0; i < ROUNDS; i++) {
        int key = (first + i) % KEYS;
        if (!cache_get(key, &value))
            cache_put(key, key * key);
        else
            assert(value == key * key);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    int first[2] = { 0, 1 };
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, user, &first[i]))
            return 3;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
