/* Three threads share a table; two of them write to it 60,000 times each, by one instruction, and lose an update beside
 * it. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { WORDS = 60, ROUNDS = 1000 };

static volatile long table[WORDS];
static volatile int counter;
static pthread_barrier_t barrier;

static void *body(void *unused)
{
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < WORDS * ROUNDS; i++)
        table[i % WORDS] = i;
    int seen = counter;
    counter = seen + 1;
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_barrier_init(&barrier, NULL, 3);
    pthread_create(&a, NULL, body, NULL);
    pthread_create(&b, NULL, body, NULL);
    for (int i = 0; i < WORDS; i++)
        table[i] = 0;
    pthread_barrier_wait(&barrier);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
