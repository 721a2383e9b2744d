/* A simulation in rounds: workers move their cells and meet at a barrier that is made by hand.
 *
 * Bug: the barrier counts who has come and lets all go when the last one has, but who is fast comes to the next round
 *   before a slow one has looked, and sets the count to zero under it: the barrier has no number of its round.
 * Shows as: deadlock.
 * FIXED: who waits waits for the round's number to change. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { WORKERS = 3, ROUNDS = 2 };

struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    int here, round;
};

static struct meeting meeting = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };
static int cells[WORKERS][ROUNDS];

static void meet(struct meeting *m)
{
    pthread_mutex_lock(&m->lock); /* culprit */
#ifdef FIXED
    int round = m->round;
#endif
    m->here++;
    if (m->here == WORKERS) {
        m->round++;
#ifdef FIXED
        m->here = 0;
#endif
        pthread_cond_broadcast(&m->all_here); /* culprit */
    }
#ifdef FIXED
    while (m->round == round)
        pthread_cond_wait(&m->all_here, &m->lock);
#else
    while (m->here != 0 && m->here < WORKERS)
        pthread_cond_wait(&m->all_here, &m->lock); /* culprit */
    if (m->here == WORKERS)
        m->here = 0;
#endif
    pthread_mutex_unlock(&m->lock);
}

static void *worker(void *argument)
{
    int *mine = argument;
    for (int round = 0; round < ROUNDS; round++) {
        mine[round] = round ? mine[round - 1] + 1 : 1;
        meet(&meeting);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&threads[i], NULL, worker, cells[i]))
            return 3;
    int sum = 0;
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
        sum += cells[i][ROUNDS - 1];
    }
    printf("sum %d\n", sum);
    return 0;
}
