/* Players and a referee: the referee starts a game when both are ready; the players report their scores by a signal.
 *
 * Bug: players and the referee wait on one condition variable, and a signal wakes one of them. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready, scores;
static bool started;

static void be_ready(void)
{
    pthread_mutex_lock(&lock);
    ready++;
#ifdef FIXED
    pthread_cond_broadcast(&changed);
#else
    pthread_cond_signal(&changed); /* culprit */
#endif
    while (!started)
        pthread_cond_wait(&changed, &lock); /* culprit */
    pthread_mutex_unlock(&lock);
}

static void report(int score)
{
    pthread_mutex_lock(&lock);
    scores += score;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void *player(void *arg)
{
    be_ready();
    report((int)(long)arg);
    return NULL;
}

static void start_game(void)
{
    pthread_mutex_lock(&lock);
    while (ready < 2)
        pthread_cond_wait(&changed, &lock); /* culprit */
    started = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static int final_score(int wanted)
{
    pthread_mutex_lock(&lock);
    while (scores < wanted)
        pthread_cond_wait(&changed, &lock);
    int score = scores;
    pthread_mutex_unlock(&lock);
    return score;
}

int main(void)
{
    pthread_t p[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&p[i], NULL, player, (void *)(i + 1));
    start_game();
    printf("%d\n", final_score(3));
    pthread_join(p[0], NULL);
    pthread_join(p[1], NULL);
    return 0;
}
