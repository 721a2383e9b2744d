/* A rate limiter: uploads wait until there are as many tokens as they need, a clock adds some every ten milliseconds,
 * for as long as tokens are owed.
 *
 * Bug: the clock wakes one who waits, though what it adds may do for another one, or for several.
 * Shows as: a deadlock: tokens are there, and uploads wait.
 * FIXED: it wakes all. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

enum { UPLOADS = 3, FILL = 5 };

struct bucket {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    int tokens, level; /* level: the most that it holds */
    int owed;          /* until the clock stops */
    long taken;
};

static void bucket_init(struct bucket *b, int level, int owed)
{
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->filled, NULL);
    b->tokens = 0;
    b->level = level;
    b->owed = owed;
    b->taken = 0;
}

static void bucket_take(struct bucket *b, int tokens)
{
    pthread_mutex_lock(&b->lock);
    while (b->tokens < tokens)
        pthread_cond_wait(&b->filled, &b->lock); /* culprit */
    b->tokens -= tokens;
    b->taken += tokens;
    pthread_mutex_unlock(&b->lock);
}

static bool bucket_fill(struct bucket *b, int tokens)
{
    pthread_mutex_lock(&b->lock);
    if (tokens > b->owed)
        tokens = b->owed;
    b->owed -= tokens;
    b->tokens += tokens;
#ifdef FIXED
    pthread_cond_broadcast(&b->filled);
#else
    pthread_cond_signal(&b->filled); /* culprit */
#endif
    bool more = b->owed > 0;
    pthread_mutex_unlock(&b->lock);
    return more;
}

static void *clock_ticks(void *arg)
{
    struct bucket *b = arg;
    const struct timespec tick = { 0, 10000000 };
    do
        nanosleep(&tick, NULL);
    while (bucket_fill(b, FILL));
    return NULL;
}

struct upload {
    struct bucket *bucket;
    int parts, size; /* size: of a part, in tokens */
    int sent;
};

static void *upload(void *arg)
{
    struct upload *u = arg;
    for (int i = 0; i < u->parts; i++) {
        bucket_take(u->bucket, u->size);
        u->sent += u->size;
    }
    return NULL;
}

int main(void)
{
    struct bucket bucket;
    struct upload uploads[UPLOADS] = { { &bucket, 2, 1, 0 }, { &bucket, 1, 4, 0 }, { &bucket, 2, 2, 0 } };
    pthread_t threads[UPLOADS], ticking;
    int all = 0, sent = 0;
    for (int i = 0; i < UPLOADS; i++)
        all += uploads[i].parts * uploads[i].size;
    bucket_init(&bucket, all, all);
    pthread_create(&ticking, NULL, clock_ticks, &bucket);
    for (int i = 0; i < UPLOADS; i++)
        pthread_create(&threads[i], NULL, upload, &uploads[i]);
    for (int i = 0; i < UPLOADS; i++) {
        pthread_join(threads[i], NULL);
        sent += uploads[i].sent;
    }
    pthread_join(ticking, NULL);
    printf("%d of %d sent\n", sent, all);
    return sent != all;
}
