/* A deadlock of three threads over three locks, no two of which disagree about an order. For the measurements of
 * bench/.
 *
 * Source: classic (ABBA, with a cycle of three).
 * Bug: an insert locks the cache and then the index, a checkpoint the index and then the journal, and an eviction
 *   the journal and then the cache. Any two of them can run together; the three form a cycle.
 * Depth 3: for each thread, (the next thread of the cycle takes its first lock) before (this one asks for its
 *   second, which is the same). As each thread must be held back once, fewer constraints do not do. PCT may still be
 *   lucky with one change point: a thread that is blocked is held back without one.
 * Shows as: a deadlock.
 * FIXED: the eviction locks the cache before the journal, so that all lock in the order cache, index, journal. */
#include "shared.h"

struct part {
    pthread_mutex_t lock;
    int changes; /* under lock */
};

static struct part cache = { PTHREAD_MUTEX_INITIALIZER, 0 };
static struct part index_ = { PTHREAD_MUTEX_INITIALIZER, 0 };
static struct part journal = { PTHREAD_MUTEX_INITIALIZER, 0 };

/* Changes two parts together. */
static void change(struct part *first, struct part *second)
{
    pthread_mutex_lock(&first->lock); /* culprit */
    first->changes++;
    pthread_mutex_lock(&second->lock); /* culprit */
    second->changes++;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
}

static void *insert(void *unused)
{
    (void)unused;
    change(&cache, &index_);
    return NULL;
}

static void *checkpoint(void *unused)
{
    (void)unused;
    change(&index_, &journal);
    return NULL;
}

static void *evict(void *unused)
{
    (void)unused;
#ifdef FIXED
    change(&cache, &journal);
#else
    change(&journal, &cache);
#endif
    return NULL;
}

int main(void)
{
    pthread_t inserting = thread_start(insert, NULL);
    pthread_t saving = thread_start(checkpoint, NULL);
    pthread_t evicting = thread_start(evict, NULL);
    thread_join(inserting);
    thread_join(saving);
    thread_join(evicting);
    assert(cache.changes == 2 && index_.changes == 2 && journal.changes == 2);
    return 0;
}
