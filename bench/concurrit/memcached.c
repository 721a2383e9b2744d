/* Two increments of a cached number, of which one is lost.
 *
 * Source: the Concurrit paper, table 1 and appendix A, "memcached": RADBench's bug 8, memcached 1.4.4 (issue 127):
 *   complete_incr_bin() and process_arithmetic_command(). Debian's memcached is newer, and mended.
 * Bug: the item is looked up under the cache's lock, but incremented without one.
 * Shows as: a failed assertion: the value is too small.
 * FIXED: the lock is held from the look to the store. */
#include "../bugs/shared.h"
#include <pct/script.h>

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static struct item {
    int references, value;
} the_item = { .value = 10 };

static struct item *item_get(void)
{
    pthread_mutex_lock(&cache_lock);
    the_item.references++;
    pthread_mutex_unlock(&cache_lock);
    return &the_item;
}

static void add_delta(struct item *item)
{
#ifdef FIXED
    pthread_mutex_lock(&cache_lock);
#endif
    pct_point("read");
    int value = item->value;
    pct_point("write");
    item->value = value + 1;
#ifdef FIXED
    pthread_mutex_unlock(&cache_lock);
#endif
}

static void *process_arithmetic_command(void *unused)
{
    add_delta(item_get());
    return unused;
}

static void *complete_incr_bin(void *unused)
{
    add_delta(item_get());
    return unused;
}

int main(void)
{
    pthread_t a = thread_start(process_arithmetic_command, NULL), b = thread_start(complete_incr_bin, NULL);
    thread_join(a);
    thread_join(b);
    assert(the_item.value == 12);
    return 0;
}
