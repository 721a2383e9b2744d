/* A connection pool: who finds no free connection opens one, up to a limit, else waits for one that is given back. One
 * that has broken is thrown away.
 *
 * Bug: who throws one away tells nobody that another one may be opened.
 * Shows as: a deadlock.
 * FIXED: it signals, too. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { LIMIT = 1, CLIENTS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t free_one = PTHREAD_COND_INITIALIZER;
static int open_now, idle, opened;

static void borrow(void)
{
    pthread_mutex_lock(&lock);
    while (idle == 0 && open_now == LIMIT)
        pthread_cond_wait(&free_one, &lock); /* culprit */
    if (idle > 0) {
        idle--;
    } else {
        open_now++;
        opened++;
    }
    pthread_mutex_unlock(&lock);
}

static void give_back(bool broken)
{
    pthread_mutex_lock(&lock); /* culprit */
    if (broken) {
        open_now--;
#ifdef FIXED
        pthread_cond_signal(&free_one);
#endif
    } else {
        idle++;
        pthread_cond_signal(&free_one);
    }
    pthread_mutex_unlock(&lock);
}

static void *client(void *arg)
{
    int number = *(int *)arg;
    borrow();
    give_back(number == 1);
    return NULL;
}

int main(void)
{
    pthread_t threads[CLIENTS];
    int numbers[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, client, &numbers[i]);
    }
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    printf("%d opened\n", opened);
    return 0;
}
