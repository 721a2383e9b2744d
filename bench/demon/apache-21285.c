/* Apache 2.0.46, bug 21285 (mod_mem_cache.c: create_entity, write_body): an object is put into the cache, and put in
 * again once its size is known. Between the two another thread may have ejected it. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct object {
    unsigned size;
};

struct cache {
    pthread_mutex_t lock;
    struct object *entry;
    unsigned size;
};

static struct object *create_entity(struct cache *cache)
{
    struct object *object = calloc(1, sizeof *object);
    assert(object);
    pthread_mutex_lock(&cache->lock);
    cache->entry = object;
    pthread_mutex_unlock(&cache->lock);
    return object;
}

static void insert_again(struct cache *cache, struct object *object, unsigned size)
{
    assert(cache->entry == object);
    cache->size += size - object->size;
    object->size = size;
}

static void write_body(struct cache *cache, struct object *object, unsigned size)
{
    pthread_mutex_lock(&cache->lock);
#ifdef FIXED
    if (cache->entry == object)
#endif
        insert_again(cache, object, size);
    pthread_mutex_unlock(&cache->lock);
}

/* Others: the cache is full. */
__attribute__((used)) static void eject(struct cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    if (cache->entry)
        cache->size -= cache->entry->size;
    cache->entry = NULL;
    pthread_mutex_unlock(&cache->lock);
}

static void store(struct cache *cache, unsigned size)
{
    struct object *object = create_entity(cache);
    write_body(cache, object, size);
}

#ifdef THREADS
static void *others(void *cache)
{
    eject(cache);
    return NULL;
}
#endif

int main(void)
{
    static struct cache cache = { .lock = PTHREAD_MUTEX_INITIALIZER };
#ifdef THREADS
    pthread_t thread;
    pthread_create(&thread, NULL, others, &cache);
#endif
    store(&cache, 100);
#ifdef THREADS
    pthread_join(thread, NULL);
#endif
    return 0;
}
