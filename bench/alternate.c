/* Two threads that alternate through a condition variable. Prints ns a turn. */
#include "measure.h"
#include <pthread.h>
#include <stdio.h>

enum { TURNS = 100000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void *play(void *argument)
{
    int mine = argument != NULL;
    for (int i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&mutex);
        while (turn != mine)
            pthread_cond_wait(&changed, &mutex);
        turn = !mine;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    double start = real_ns();
    pthread_create(&threads[0], NULL, play, NULL);
    pthread_create(&threads[1], NULL, play, &turn);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%.1f\n", (real_ns() - start) / (2.0 * TURNS));
    return 0;
}
