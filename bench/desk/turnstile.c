/* A simulation in steps: all cells come to a turnstile of two semaphores between two steps.
 *
 * Bug: there is one semaphore only, so that a fast cell goes through it again in the next step and takes the place of
 * one that has yet to leave.
 * Shows as: a failed assertion: a neighbour is two steps away; or a deadlock.
 * FIXED: a second semaphore, by which all leave. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

enum { CELLS = 3, STEPS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t in, out;
static int come;
static int step_of[CELLS];

static void meet(void)
{
    pthread_mutex_lock(&lock);
    if (++come == CELLS) {
        for (int i = 0; i < CELLS; i++)
            sem_post(&in); /* culprit */
#ifndef FIXED
        come = 0;
#endif
    }
    pthread_mutex_unlock(&lock);
    sem_wait(&in); /* culprit */
#ifdef FIXED
    pthread_mutex_lock(&lock);
    if (--come == 0)
        for (int i = 0; i < CELLS; i++)
            sem_post(&out);
    pthread_mutex_unlock(&lock);
    sem_wait(&out);
#endif
}

static void *live(void *arg)
{
    int cell = *(int *)arg;
    for (int i = 0; i < STEPS; i++) {
        pthread_mutex_lock(&lock);
        step_of[cell] = i;
        pthread_mutex_unlock(&lock);
        meet();
        pthread_mutex_lock(&lock);
        for (int other = 0; other < CELLS; other++)
            assert(step_of[other] >= i);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[CELLS];
    int cells[CELLS];
    sem_init(&in, 0, 0);
    sem_init(&out, 0, 0);
    for (int i = 0; i < CELLS; i++) {
        cells[i] = i;
        pthread_create(&threads[i], NULL, live, &cells[i]);
    }
    for (int i = 0; i < CELLS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
