/* Steps that take items from a collection, of a client and a server.
 *
 * Source: the Maple paper, table 2, bug 12 ("CNC", Intel Concurrent Collections; not known before). The paper has
 *   neither code nor cause: an assertion of a client-server program failed when an iRoot of idiom 1 was forced. This is
 *   such a program with such a bug, which need not be that one.
 * Bug: the client prescribes the step before it has put the item that the step takes.
 * Idiom 1: (the server takes the item) right before (the client puts it).
 * Shows as: an assertion: the item is not there.
 * FIXED: the item first. */
#include "../bugs-memory/shared.h"

enum { STEPS = 2 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    int prescribed; /* under the lock */
} tags = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
static _Atomic int item[STEPS];

static void prescribe(void)
{
    pthread_mutex_lock(&tags.lock);
    tags.prescribed++;
    pthread_cond_signal(&tags.more);
    pthread_mutex_unlock(&tags.lock);
}

static void *client(void *unused)
{
    for (int i = 0; i < STEPS; i++) {
#ifdef FIXED
        item[i] = i + 1;
        prescribe();
#else
        prescribe();
        item[i] = i + 1; /* culprit */
#endif
    }
    return unused;
}

static void *server(void *unused)
{
    for (int i = 0; i < STEPS; i++) {
        pthread_mutex_lock(&tags.lock);
        while (tags.prescribed <= i)
            pthread_cond_wait(&tags.more, &tags.lock);
        pthread_mutex_unlock(&tags.lock);
        const int taken = item[i]; /* culprit */
        assert(taken == i + 1);
    }
    return unused;
}

int main(void)
{
    run_both(client, server);
    return 0;
}
