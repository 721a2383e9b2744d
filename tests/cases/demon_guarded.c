/* A contract guards a member by its pointer, `entry != null and entry.size > 0`, and another thread takes the entry
 * away. Once the pointer was null, the whole condition was taken for one that says nothing: the program's failure was
 * "not the contract's", and where it did not fail no interference was found.
 *
 * NEED: [ -x "$(dirname "$(command -v pct)")/pct-demon" ]
 * BUILD: gcc -g -O0 -pthread -o %p %s && gcc -g -O0 -pthread -DCARELESS -o %p-careless %s
 * RUN 1: cd %t && pct demon --points=calls -- %p > out; s=$?; grep 'of use does not hold' out || exit 9; exit $s
 * RUN 3: cd %t && pct demon --points=calls -- %p-careless > out; s=$?;
 *     grep '^only the contract is broken' out || exit 9; exit $s
 */
#include <assert.h>
#include <stddef.h>

struct entry {
    int size;
};
struct cache {
    struct entry *entry;
};

/*@demon
 * require there: cache->entry != null and cache->entry->size > 0
 */
void use(struct cache *cache)
{
#ifndef CARELESS
    assert(cache->entry != NULL && cache->entry->size > 0);
#else
    (void)cache;
#endif
}

/*@demon
 * ensure gone: cache->entry = null
 */
void eject(struct cache *cache)
{
    cache->entry = NULL;
}

/*@demon test */
void store(struct cache *cache)
{
    use(cache);
}

int main(void)
{
    static struct entry entry = { .size = 1 };
    static struct cache cache = { .entry = &entry };
    store(&cache);
    return 0;
}
