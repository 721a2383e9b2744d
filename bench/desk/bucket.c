/* A rate limiter: a bucket of tokens, which a thread fills up.
 *
 * Bug: the refiller reads how many there are in one section and writes the sum in another: what is taken meanwhile
 *   comes back.
 * Shows as: a failed assertion: more was let through than there were tokens.
 * FIXED: one section. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

enum { FULL = 4, REFILLS = 2, RATE = 1, CLIENTS = 2 };

struct bucket {
    pthread_mutex_t lock;
    int tokens;
};

static struct bucket bucket = { PTHREAD_MUTEX_INITIALIZER, 2 };
static pthread_mutex_t counts = PTHREAD_MUTEX_INITIALIZER;
static int passed;

static int clamp(int tokens)
{
    return tokens > FULL ? FULL : tokens;
}

#ifndef FIXED
static int bucket_level(struct bucket *b)
{
    pthread_mutex_lock(&b->lock); /* culprit */
    int tokens = b->tokens;
    pthread_mutex_unlock(&b->lock);
    return tokens;
}

static void bucket_set(struct bucket *b, int tokens)
{
    pthread_mutex_lock(&b->lock); /* culprit */
    b->tokens = clamp(tokens);
    pthread_mutex_unlock(&b->lock);
}
#endif

static bool bucket_take(struct bucket *b)
{
    pthread_mutex_lock(&b->lock); /* culprit */
    bool taken = b->tokens > 0;
    b->tokens -= taken;
    pthread_mutex_unlock(&b->lock);
    return taken;
}

static void bucket_fill(struct bucket *b)
{
#ifdef FIXED
    pthread_mutex_lock(&b->lock);
    b->tokens = clamp(b->tokens + RATE);
    pthread_mutex_unlock(&b->lock);
#else
    bucket_set(b, bucket_level(b) + RATE);
#endif
}

static void *refiller(void *unused)
{
    (void)unused;
    for (int i = 0; i < REFILLS; i++) {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        bucket_fill(&bucket);
    }
    return NULL;
}

static void *client(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        if (bucket_take(&bucket)) {
            pthread_mutex_lock(&counts);
            passed++;
            pthread_mutex_unlock(&counts);
        }
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    return NULL;
}

int main(void)
{
    pthread_t filler, clients[CLIENTS];
    pthread_create(&filler, NULL, refiller, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client, NULL);
    pthread_join(filler, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    assert(passed <= 2 + REFILLS * RATE);
    return 0;
}
