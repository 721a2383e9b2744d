/* The list of idle workers' pools, onto which one is put twice.
 *
 * Source: the Concurrit paper, table 1, "apache-httpd": RADBench has Apache's bug 44402, in fdqueue.c of the worker MPM
 *   (ap_queue_info_set_idle() and ap_queue_info_wait_for_idler()), and the paper's row has two functions and three
 *   threads; it does not name the bug. Debian's apache2 is newer, and mended.
 * Bug: a worker puts its pool onto the list by compare-and-swap, and looks whether it has by comparing with the pool's
 *   own link, which is another one's as soon as the pool is on the list.
 * Shows as: a failed assertion: the same pool is taken twice.
 * FIXED: the link is kept in a variable of its own. */
#include "../bugs/shared.h"
#include <pct/script.h>
#include <stdatomic.h>

enum { WORKERS = 2 };

static struct pool {
    struct pool *volatile next;
    int in_use;
} pools[WORKERS] = { { NULL, 1 }, { NULL, 1 } };
static struct pool *_Atomic recycled;

static struct pool *swap(struct pool *with, struct pool *expected)
{
    atomic_compare_exchange_strong(&recycled, &expected, with);
    return expected;
}

static void set_idle(struct pool *pool)
{
    pool->in_use = 0;
    for (;;) {
        struct pool *next = atomic_load(&recycled);
        pool->next = next;
        pct_point("link");
#ifdef FIXED
        if (swap(pool, next) == next)
            return;
#else
        struct pool *found = swap(pool, pool->next);
        pct_point("on the list");
        if (found == pool->next)
            return;
#endif
    }
}

static struct pool *wait_for_idler(void)
{
    struct pool *first;
    do {
        first = atomic_load(&recycled);
        pct_point("take");
    } while (first && swap(first->next, first) != first);
    if (first) {
        assert(!first->in_use);
        first->in_use = 1;
        first->next = NULL;
    }
    return first;
}

static void *worker(void *pool)
{
    set_idle(pool);
    return NULL;
}

static void *listener(void *unused)
{
    for (int i = 0; i < WORKERS; i++)
        wait_for_idler();
    return unused;
}

int main(void)
{
    pthread_t thread[] = { thread_start(worker, &pools[0]), thread_start(worker, &pools[1]),
                           thread_start(listener, NULL) };
    for (size_t i = 0; i < sizeof thread / sizeof *thread; i++)
        thread_join(thread[i]);
    int left = 0;
    for (struct pool *pool = recycled; pool; pool = pool->next)
        assert(!pool->in_use && ++left <= WORKERS);
    return 0;
}
