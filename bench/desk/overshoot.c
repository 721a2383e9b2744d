/* A mirror asks three servers and goes on with two answers.
 *
 * Bug: it waits until there are exactly two answers: when it looks, the third may have come.
 * Shows as: a deadlock, with more answers than it needs.
 * FIXED: at least two. */
#include <pthread.h>

enum { SERVERS = 3, QUORUM = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static int answers;

static void *server(void *argument)
{
    pthread_mutex_lock(&lock); /* culprit */
    answers++;
    pthread_cond_signal(&answered); /* culprit */
    pthread_mutex_unlock(&lock);
    return argument;
}

static void wait_for_quorum(void)
{
    pthread_mutex_lock(&lock); /* culprit */
#ifdef FIXED
    while (answers < QUORUM)
#else
    while (answers != QUORUM)
#endif
        pthread_cond_wait(&answered, &lock); /* culprit */
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    pthread_t servers[SERVERS];
    for (int i = 0; i < SERVERS; i++)
        pthread_create(&servers[i], NULL, server, NULL);
    wait_for_quorum();
    for (int i = 0; i < SERVERS; i++)
        pthread_join(servers[i], NULL);
    return 0;
}
