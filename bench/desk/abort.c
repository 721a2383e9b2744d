/* Downloads that may be cancelled while they run, by pthread_cancel().
 *
 * Bug: who is cancelled in the wait for a place holds the lock again when it ends, and no handler gives it back.
 * Shows as: deadlock: the next one waits for the lock.
 * FIXED: a handler that unlocks. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { JOBS = 3 };

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t free;
    int places;
};

static struct gate gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 1 };
static int fetched;

#ifdef FIXED
static void give_back(void *argument)
{
    pthread_mutex_unlock(argument);
}
#endif

static void gate_enter(struct gate *g)
{
    pthread_mutex_lock(&g->lock); /* culprit */
#ifdef FIXED
    pthread_cleanup_push(give_back, &g->lock);
#endif
    while (g->places == 0)
        pthread_cond_wait(&g->free, &g->lock); /* culprit */
    g->places--;
#ifdef FIXED
    pthread_cleanup_pop(0);
#endif
    pthread_mutex_unlock(&g->lock);
}

static void gate_leave(struct gate *g)
{
    pthread_mutex_lock(&g->lock); /* culprit */
    g->places++;
    fetched++;
    pthread_cond_signal(&g->free);
    pthread_mutex_unlock(&g->lock);
}

static void *download(void *unused)
{
    int old;
    (void)unused;
    gate_enter(&gate);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    gate_leave(&gate);
    return NULL;
}

int main(void)
{
    pthread_t threads[JOBS];
    for (int i = 0; i < JOBS; i++)
        if (pthread_create(&threads[i], NULL, download, NULL))
            return 3;
    pthread_cancel(threads[JOBS - 1]); /* culprit */
    int cancelled = 0;
    for (int i = 0; i < JOBS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    printf("%d fetched, %d cancelled\n", fetched, cancelled);
    return 0;
}
