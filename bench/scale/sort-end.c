/* A parallel merge of work: n threads take ranges from a pool, halve them, and sort the shortest.
 *
 * Source: the termination of a pool of workers; as the idle counter of the demonic testing paper (figure 3).
 * Bug: a worker that has taken a range says that it is at work after it has let the pool go. In between the pool is
 *   empty, and nobody is at work: another one takes that for the end, says so, and what was taken is not sorted yet.
 * Depth 2: (the taking of the last range) before (another one's look at the pool), and (that) before (the first one's
 *   word that it works).
 * Shows as: an assertion: when the end is said, the array is not sorted.
 * FIXED: the word is given before the pool is let go. */
#include "shared.h"

enum { LONGEST = 2 };

struct range {
    int from, to;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct range pool[2 * MOST_THREADS];
static int pooled, at_work, length;
static bool ended;
static int array[2 * MOST_THREADS];

static void put(int from, int to)
{
    pool[pooled++] = (struct range){ from, to };
}

static bool is_sorted(void)
{
    for (int i = 0; i < length; i += LONGEST)
        if (array[i] > array[i + 1])
            return false;
    return true;
}

/* Under the lock: a range, or false at the end, when whoever sees it first looks at the result. */
static bool take(struct range *range)
{
    while (!pooled && at_work)
        pthread_cond_wait(&changed, &lock);
    if (!pooled) {
        bool first = !ended;
        ended = true;
        assert(!first || is_sorted());
        return false;
    }
    *range = pool[--pooled];
#ifdef FIXED
    at_work++;
#endif
    return true;
}

/* Under the lock. */
static void finish(const struct range *range)
{
    int middle = (range->from + range->to) / 4 * 2;
    if (range->to - range->from > LONGEST) {
        put(range->from, middle);
        put(middle, range->to);
    } else if (array[range->from] > array[range->from + 1]) {
        int kept = array[range->from];
        array[range->from] = array[range->from + 1];
        array[range->from + 1] = kept;
    }
    at_work--;
    pthread_cond_broadcast(&changed);
}

static void *work(void *unused)
{
    (void)unused;
    struct range range;
    pthread_mutex_lock(&lock);
    while (take(&range)) {
        pthread_mutex_unlock(&lock); /* culprit */
        pthread_mutex_lock(&lock);
#ifndef FIXED
        at_work++; /* culprit */
#endif
        finish(&range);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv)
{
    int count = thread_count(argc, argv);
    length = 2 * count;
    for (int i = 0; i < length; i++)
        array[i] = i ^ 1;
    put(0, length);
    run_threads(count, work, work);
    return 0;
}
