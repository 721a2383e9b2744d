/* Rounds of a tournament, with a barrier between them.
 *
 * Bug: who has lost in a round goes home, without coming to the barrier.
 * Shows as: a deadlock: the others wait there.
 * FIXED: the losers come to the barrier, too. */
#include <pthread.h>
#include <stdbool.h>

enum { PLAYERS = 3, ROUNDS = 2 };

static pthread_barrier_t round_over;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int winners[ROUNDS];

/* The first two win. */
static bool play(int round)
{
    pthread_mutex_lock(&lock); /* culprit */
    bool wins = winners[round]++ < 2 || PLAYERS == 2;
    pthread_mutex_unlock(&lock);
    return wins;
}

static void *player(void *argument)
{
    int late = *(int *)argument;
    for (int round = 0; round < ROUNDS; round++) {
        bool wins = play(round);
#ifdef FIXED
        (void)(wins && late);
#else
        if (!wins && late) /* the seeded ones stay and watch */
            return NULL;
#endif
        pthread_barrier_wait(&round_over); /* culprit */
    }
    return NULL;
}

int main(void)
{
    pthread_t players[PLAYERS];
    int late[PLAYERS] = { 0, 0, 1 };
    pthread_barrier_init(&round_over, NULL, PLAYERS);
    for (int i = 0; i < PLAYERS; i++)
        pthread_create(&players[i], NULL, player, &late[i]);
    for (int i = 0; i < PLAYERS; i++)
        pthread_join(players[i], NULL);
    return 0;
}
