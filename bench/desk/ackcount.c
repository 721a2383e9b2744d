/* A transaction over two shards: the one whose answer is the last commits it.
 *
 * Bug: an answer is counted in one section, and whether it is the last is looked at in another.
 * Shows as: a failed assertion: it is committed twice.
 * FIXED: both in one. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

enum { SHARDS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, log_lock = PTHREAD_MUTEX_INITIALIZER;
static int answers, commits;

static bool count_answer(void)
{
    pthread_mutex_lock(&lock); /* culprit */
    bool last = ++answers == SHARDS;
    pthread_mutex_unlock(&lock);
#ifndef FIXED
    pthread_mutex_lock(&lock); /* culprit */
    last = answers == SHARDS;
    pthread_mutex_unlock(&lock);
#endif
    return last;
}

static void commit(void)
{
    pthread_mutex_lock(&log_lock);
    commits++;
    pthread_mutex_unlock(&log_lock);
}

static void *shard(void *argument)
{
    if (count_answer())
        commit();
    return argument;
}

int main(void)
{
    pthread_t shards[SHARDS];
    for (int i = 0; i < SHARDS; i++)
        pthread_create(&shards[i], NULL, shard, NULL);
    for (int i = 0; i < SHARDS; i++)
        pthread_join(shards[i], NULL);
    assert(commits == 1);
    return 0;
}
