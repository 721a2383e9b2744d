/* A test of cache_alloc() of memcached's cache of objects (cache.c), which has one on its list, or (with an argument)
 * none, and may make one. -DUNLOCKED: of do_cache_alloc(), by a caller that has not locked it. */
#include <cache.c>

/* Others: as the queues of connections do, from any thread. */
__attribute__((used)) static void take(cache_t *cache)
{
    cache_alloc(cache);
}

__attribute__((used)) static void make(cache_t *cache)
{
    cache_alloc(cache);
}

static void get_one(cache_t *cache)
{
#ifdef UNLOCKED
    do_cache_alloc(cache);
#else
    cache_alloc(cache);
#endif
}

int main(int count, char **arguments)
{
    cache_t *cache = cache_create("objects", 32, sizeof(void *));
    (void)arguments;
    if (count == 1)
        cache_free(cache, cache_alloc(cache));
    else
        cache_set_limit(cache, 1);
    get_one(cache);
    assert(count == 1 || cache->total <= cache->limit);
    return 0;
}
