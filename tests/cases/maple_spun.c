// A thread at maple's low priority polls by plain loads, which without --memory=all are no points, for a bit that
// another one is to clear; that one is held, as it would come in between. The first one was let go 4,096 times,
// milliseconds each, and the run killed for its time.
//
// RUN: pct run -q -s 1 -n 12 -S maple --memory=atomics --timeout 10 --state none -- %p
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_uint *word; /* not by a name, or its reads in a loop are patched, too */
static sem_t added;

static void *poll(void *unused)
{
    *word += 2;
    sem_post(&added);
    while (atomic_load_explicit(word, memory_order_relaxed) & 1)
        __builtin_ia32_pause();
    return unused;
}

static void *clear(void *unused)
{
    sem_wait(&added);
    *word -= 1;
    *word |= 4;
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    word = calloc(1, sizeof *word);
    *word = 1;
    sem_init(&added, 0, 0);
    pthread_create(&threads[0], NULL, poll, NULL);
    pthread_create(&threads[1], NULL, clear, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return *word != 6;
}
