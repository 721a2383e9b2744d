/* A meeting of three threads, made for once: who comes last frees it.
 *
 * Bug: the others may still be inside.
 * Shows as: what is done with a mutex that has been destroyed.
 * FIXED: who leaves last does. */
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 3 };

struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    int here, gone;
};

static void end_meeting(struct meeting *m)
{
    pthread_cond_destroy(&m->all_here); /* culprit */
    pthread_mutex_destroy(&m->lock);    /* culprit */
    free(m);
}

static void meet(struct meeting *m)
{
    pthread_mutex_lock(&m->lock);
    int place = ++m->here;
    if (place == THREADS)
        pthread_cond_broadcast(&m->all_here); /* culprit */
    while (m->here < THREADS)
        pthread_cond_wait(&m->all_here, &m->lock); /* culprit */
    int left = THREADS - ++m->gone;
    pthread_mutex_unlock(&m->lock); /* culprit */
#ifdef FIXED
    if (left == 0)
#else
    (void)left;
    if (place == THREADS)
#endif
        end_meeting(m);
}

static void *thread(void *argument)
{
    meet(argument);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct meeting *m = calloc(1, sizeof *m);
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->all_here, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread, m);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
