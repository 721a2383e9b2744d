/* Two threads and two locks, for tests of runs that force cycles of locks. Called "cycle": taken in different orders;
 * "gate": the same, under a third lock; "join": the same, one thread behind the end of the other; "try": the second
 * lock only if it is free. */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER;
static bool gated, tries;

static void take_both(pthread_mutex_t *first, pthread_mutex_t *second)
{
    if (gated)
        pthread_mutex_lock(&gate);
    pthread_mutex_lock(first);
    if (!tries || !pthread_mutex_trylock(second)) {
        if (!tries)
            pthread_mutex_lock(second);
        pthread_mutex_unlock(second);
    }
    pthread_mutex_unlock(first);
    if (gated)
        pthread_mutex_unlock(&gate);
}

static void *forwards(void *unused)
{
    take_both(&a, &b);
    return unused;
}

static void *backwards(void *unused)
{
    take_both(&b, &a);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t one, two;
    gated = argc > 1 && !strcmp(argv[1], "gate");
    tries = argc > 1 && !strcmp(argv[1], "try");
    pthread_create(&one, NULL, forwards, NULL);
    if (argc > 1 && !strcmp(argv[1], "join")) {
        pthread_join(one, NULL);
        pthread_create(&one, NULL, forwards, NULL);
        pthread_join(one, NULL);
        take_both(&b, &a);
        return 0;
    }
    pthread_create(&two, NULL, backwards, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
