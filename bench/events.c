/* Eight threads that each take one of eight locks at random, change what is under it and give it back:
 *     events ROUNDS
 * rounds of each thread, 31,250 of which are a million events. Built by pct-cc. */
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 8, LOCKS = 8 };

static struct {
    pthread_mutex_t mutex;
    int value;
} shared[LOCKS];
static long rounds;

static void *change(void *number)
{
    unsigned random = *(unsigned *)number;
    for (long i = 0; i < rounds; i++) {
        random = random * 1103515245u + 12345u;
        unsigned which = random >> 20 & (LOCKS - 1);
        pthread_mutex_lock(&shared[which].mutex);
        shared[which].value += 1;
        pthread_mutex_unlock(&shared[which].mutex);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    unsigned numbers[THREADS];
    rounds = argc > 1 ? atol(argv[1]) : 31250;
    for (unsigned i = 0; i < LOCKS; i++)
        pthread_mutex_init(&shared[i].mutex, NULL);
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i + 1;
        if (pthread_create(&threads[i], NULL, change, &numbers[i]))
            return 1;
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
