/* A server process with a latch: who has work for it adds it and sets the latch; it takes the work, and waits.
 *
 * Bug: the latch is reset after the work was looked at, so that what is set between the two is forgotten.
 * Shows as: a deadlock: work is there, and its server waits.
 * FIXED: it is reset before. */
#include <pthread.h>
#include <stdbool.h>

enum { CLIENTS = 2 };

static pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER, latch_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t latch_set = PTHREAD_COND_INITIALIZER;
static bool latch;
static int work, served;

static void set_latch(void)
{
    pthread_mutex_lock(&latch_lock); /* culprit */
    latch = true;
    pthread_cond_signal(&latch_set); /* culprit */
    pthread_mutex_unlock(&latch_lock);
}

static void reset_latch(void)
{
    pthread_mutex_lock(&latch_lock); /* culprit */
    latch = false;
    pthread_mutex_unlock(&latch_lock);
}

static void wait_latch(void)
{
    pthread_mutex_lock(&latch_lock); /* culprit */
    while (!latch)
        pthread_cond_wait(&latch_set, &latch_lock); /* culprit */
    pthread_mutex_unlock(&latch_lock);
}

static void serve(void)
{
    pthread_mutex_lock(&work_lock); /* culprit */
    served += work;
    work = 0;
    pthread_mutex_unlock(&work_lock);
}

static void *client(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&work_lock); /* culprit */
    work++;
    pthread_mutex_unlock(&work_lock);
    set_latch();
    return NULL;
}

int main(void)
{
    pthread_t clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client, NULL);
    for (;;) {
#ifdef FIXED
        reset_latch();
        serve();
#else
        serve();
#endif
        if (served == CLIENTS)
            break;
#ifndef FIXED
        reset_latch();
#endif
        wait_latch();
    }
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    return 0;
}
