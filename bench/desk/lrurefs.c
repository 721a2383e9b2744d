/* An LRU of one page with a count of users: who gives it back last closes it.
 *
 * Bug: it is closed in another section than that in which the count has come to zero; who looks it up in between has a
 * page that is closed under it.
 * Shows as: a failed assertion.
 * FIXED: one section. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

enum { USERS = 2, ROUNDS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, stat_lock = PTHREAD_MUTEX_INITIALIZER;
static int users, closed;
static bool is_open;

static void acquire(void)
{
    pthread_mutex_lock(&lock); /* culprit */
    is_open = is_open || users == 0;
    users++;
    pthread_mutex_unlock(&lock);
}

static void use(void)
{
    pthread_mutex_lock(&lock);
    assert(is_open);
    pthread_mutex_unlock(&lock);
}

static void count_closed(void)
{
    pthread_mutex_lock(&stat_lock);
    closed++;
    pthread_mutex_unlock(&stat_lock);
}

static void release(void)
{
    pthread_mutex_lock(&lock); /* culprit */
    bool last = --users == 0;
#ifdef FIXED
    if (last)
        is_open = false;
#endif
    pthread_mutex_unlock(&lock);
    if (!last)
        return;
    count_closed();
#ifndef FIXED
    pthread_mutex_lock(&lock); /* culprit */
    is_open = false;
    pthread_mutex_unlock(&lock);
#endif
}

static void *user(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        acquire();
        use();
        release();
    }
    return arg;
}

int main(void)
{
    pthread_t threads[USERS];
    for (int i = 0; i < USERS; i++)
        pthread_create(&threads[i], NULL, user, NULL);
    for (int i = 0; i < USERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
