/* Threads that write their parts of a report one after the other.
 *
 * Bug: all wait on one condition variable for their own turn, and who is done signals one of them: it may be the wrong
 * one.
 * Shows as: a deadlock.
 * FIXED: it wakes all. */
#include <pthread.h>
#include <stdio.h>

enum { WRITERS = 3, ROUNDS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, lines;

static void await_turn(int number)
{
    pthread_mutex_lock(&lock);
    while (turn != number)
        pthread_cond_wait(&changed, &lock); /* culprit */
    pthread_mutex_unlock(&lock);
}

static void end_turn(void)
{
    pthread_mutex_lock(&lock);
    turn = (turn + 1) % WRITERS;
#ifdef FIXED
    pthread_cond_broadcast(&changed);
#else
    pthread_cond_signal(&changed); /* culprit */
#endif
    pthread_mutex_unlock(&lock);
}

static void *writer(void *argument)
{
    int number = *(int *)argument;
    for (int i = 0; i < ROUNDS; i++) {
        await_turn(number);
        lines++;
        end_turn();
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[WRITERS];
    int numbers[WRITERS] = { 0, 1, 2 };
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, writer, &numbers[i]);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", lines);
    return 0;
}
