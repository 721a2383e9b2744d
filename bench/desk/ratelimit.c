/* A rate limiter: callers take a token from a bucket that a thread refills.
 *
 * Bug: a caller waits for a token with `if`. Another caller may come first and take the token between the wake-up and
 *   the caller's going on.
 * Shows as: a failed assertion: the bucket is overdrawn.
 * FIXED: `while`. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { CALLERS = 3, CALLS = 2 };

struct bucket {
    pthread_mutex_t mutex;
    pthread_cond_t refilled;
    int tokens, capacity;
    int granted;
};

static struct bucket bucket = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .refilled = PTHREAD_COND_INITIALIZER,
    .tokens = 1,
    .capacity = CALLERS * CALLS,
};

static void bucket_take(struct bucket *b)
{
    pthread_mutex_lock(&b->mutex);
#ifdef FIXED
    while (b->tokens == 0)
#else
    if (b->tokens == 0)
#endif
        pthread_cond_wait(&b->refilled, &b->mutex); /* culprit */
    b->tokens--;
    b->granted++;
    assert(b->tokens >= 0);
    pthread_mutex_unlock(&b->mutex);
}

static void bucket_refill(struct bucket *b)
{
    pthread_mutex_lock(&b->mutex);
    if (b->tokens < b->capacity)
        b->tokens++;
    pthread_cond_signal(&b->refilled);
    pthread_mutex_unlock(&b->mutex);
}

static void *caller(void *unused)
{
    (void)unused;
    for (int i = 0; i < CALLS; i++)
        bucket_take(&bucket);
    return NULL;
}

static void *refiller(void *unused)
{
    (void)unused;
    for (int i = 0; i < CALLERS * CALLS; i++)
        bucket_refill(&bucket);
    return NULL;
}

int main(void)
{
    pthread_t callers[CALLERS], refills;
    for (int i = 0; i < CALLERS; i++)
        if (pthread_create(&callers[i], NULL, caller, NULL))
            return 3;
    if (pthread_create(&refills, NULL, refiller, NULL))
        return 3;
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
    pthread_join(refills, NULL);
    printf("%d granted\n", bucket.granted);
    return 0;
}
