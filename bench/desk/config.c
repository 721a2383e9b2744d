/* A server's configuration, read by workers under a rwlock, replaced by a thread that reloads it.
 *
 * Bug: config_current() returns the pointer and lets go of the lock; the worker goes on using it, and locks its
 *   counter, after a reload may have destroyed and freed it.
 * Shows as: a failed assertion on the generation, or a crash.
 * FIXED: the worker holds the read lock for as long as it uses it. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 2, REQUESTS = 2, RELOADS = 2 };

struct config {
    pthread_mutex_t stats_lock;
    long hits;
    int generation, timeout;
    char name[64];
};

static pthread_rwlock_t config_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct config *config;

static struct config *config_new(int generation)
{
    struct config *c = calloc(1, sizeof *c);
    if (!c)
        exit(3);
    pthread_mutex_init(&c->stats_lock, NULL);
    c->generation = generation;
    c->timeout = 10 * generation;
    strcpy(c->name, "server");
    return c;
}

static void config_delete(struct config *c)
{
    pthread_mutex_destroy(&c->stats_lock); /* culprit */
    memset(c, 0, sizeof *c);
    free(c);
}

static void config_replace(struct config *new)
{
    pthread_rwlock_wrlock(&config_lock);
    struct config *old = config;
    config = new;
    pthread_rwlock_unlock(&config_lock);
    if (old)
        config_delete(old);
}

static struct config *config_current(void)
{
    pthread_rwlock_rdlock(&config_lock);
    struct config *c = config;
#ifndef FIXED
    pthread_rwlock_unlock(&config_lock); /* culprit */
#endif
    return c;
}

static void config_release(void)
{
#ifdef FIXED
    pthread_rwlock_unlock(&config_lock);
#endif
}

static void handle_request(void)
{
    struct config *c = config_current();
    pthread_mutex_lock(&c->stats_lock); /* culprit */
    c->hits++;
    pthread_mutex_unlock(&c->stats_lock);
    assert(c->timeout == 10 * c->generation);
    config_release();
}

static void *worker(void *unused)
{
    (void)unused;
    for (int i = 0; i < REQUESTS; i++)
        handle_request();
    return NULL;
}

static void *reloader(void *unused)
{
    (void)unused;
    for (int i = 0; i < RELOADS; i++)
        config_replace(config_new(i + 2));
    return NULL;
}

int main(void)
{
    pthread_t workers[WORKERS], reloads;
    config_replace(config_new(1));
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&workers[i], NULL, worker, NULL))
            return 3;
    if (pthread_create(&reloads, NULL, reloader, NULL))
        return 3;
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    pthread_join(reloads, NULL);
    config_delete(config);
    return 0;
}
