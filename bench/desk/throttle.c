/* A rate limiter: a bucket of tokens, refilled by a thread.
 *
 * Bug: its level is looked at under one lock, and the token taken under the next. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define BURST 2
#define WORKERS 3
#define REQUESTS 3

struct bucket {
    pthread_mutex_t lock;
    int tokens;
    int granted;
    int refused;
    int refills;
};

static struct bucket bucket = { PTHREAD_MUTEX_INITIALIZER, BURST, 0, 0, 0 };

static int bucket_level(struct bucket *b)
{
    int n;

    pthread_mutex_lock(&b->lock); /* culprit */
    n = b->tokens;
    pthread_mutex_unlock(&b->lock);
    return n;
}

static bool bucket_take(struct bucket *b)
{
    bool taken = true;

    pthread_mutex_lock(&b->lock); /* culprit */
#ifdef FIXED
    taken = b->tokens > 0;
#endif
    if (taken) {
        b->tokens--;
        b->granted++;
    }
    pthread_mutex_unlock(&b->lock);
    return taken;
}

static void bucket_refuse(struct bucket *b)
{
    pthread_mutex_lock(&b->lock);
    b->refused++;
    pthread_mutex_unlock(&b->lock);
}

static void bucket_refill(struct bucket *b)
{
    pthread_mutex_lock(&b->lock);
    if (b->tokens < BURST)
        b->tokens++;
    b->refills++;
    pthread_mutex_unlock(&b->lock);
}

static bool allow(struct bucket *b)
{
    if (bucket_level(b) <= 0) {
        bucket_refuse(b);
        return false;
    }
    return bucket_take(b);
}

static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static int served, rejected;

static void serve(bool allowed)
{
    pthread_mutex_lock(&stats_lock);
    if (allowed)
        served++;
    else
        rejected++;
    pthread_mutex_unlock(&stats_lock);
}

static void *worker(void *arg)
{
    (void)arg;
    for (int i = 0; i < REQUESTS; i++)
        serve(allow(&bucket));
    return NULL;
}

static void *refiller(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++)
        bucket_refill(&bucket);
    return NULL;
}

int main(void)
{
    pthread_t t[WORKERS], r;

    pthread_create(&r, NULL, refiller, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(t[i], NULL);
    pthread_join(r, NULL);
    printf("%d served, %d rejected, %d tokens left\n", served, rejected, bucket.tokens);
    if (bucket.tokens < 0) {
        fprintf(stderr, "more served than the rate allows\n");
        abort();
    }
    return 0;
}
