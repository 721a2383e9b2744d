/* A crawler with a group of threads to wait for, as Go has it.
 *
 * Bug: each thread counts itself when it begins, so that who waits before that waits for none.
 * Shows as: a failed assertion: pages are missing.
 * FIXED: it is counted before it is made. */
#include <assert.h>
#include <pthread.h>

enum { PAGES = 2 };

struct group {
    pthread_mutex_t lock;
    pthread_cond_t none;
    int count;
};

static struct group group = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
static pthread_mutex_t pages_lock = PTHREAD_MUTEX_INITIALIZER;
static int pages;

static void group_add(struct group *g)
{
    pthread_mutex_lock(&g->lock); /* culprit */
    g->count++;
    pthread_mutex_unlock(&g->lock);
}

static void group_done(struct group *g)
{
    pthread_mutex_lock(&g->lock);
    if (--g->count == 0)
        pthread_cond_broadcast(&g->none);
    pthread_mutex_unlock(&g->lock);
}

static void group_wait(struct group *g)
{
    pthread_mutex_lock(&g->lock); /* culprit */
    while (g->count > 0)
        pthread_cond_wait(&g->none, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static void *fetch(void *argument)
{
#ifndef FIXED
    group_add(&group);
#endif
    pthread_mutex_lock(&pages_lock); /* culprit */
    pages++;
    pthread_mutex_unlock(&pages_lock);
    group_done(&group);
    return argument;
}

static int count_pages(void)
{
    pthread_mutex_lock(&pages_lock); /* culprit */
    int count = pages;
    pthread_mutex_unlock(&pages_lock);
    return count;
}

int main(void)
{
    pthread_t threads[PAGES];
    for (int i = 0; i < PAGES; i++) {
#ifdef FIXED
        group_add(&group);
#endif
        pthread_create(&threads[i], NULL, fetch, NULL);
    }
    group_wait(&group);
    assert(count_pages() == PAGES);
    for (int i = 0; i < PAGES; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
