/* Everything before a barrier is ordered before everything behind it, also for the thread that arrives last, and in
 * each of many rounds. pct once reported a race in nearly every run. libtsan is silent.
 *
 * BUILD: pct-cc -O1 -g -pthread -o %p %s
 * RUN: pct run -n 100 -s 1 --races=fail -- %p
 * RUN: pct run -n 20 -s 1 -S random-walk --races=fail -- %p
 * RUN: pct run -n 100 -s 1 --races=fail -- %p two
 */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 3 };

static pthread_barrier_t barrier, pair;
static int given[THREADS], sum[THREADS], once;

static void *add(void *argument)
{
    long me = (long)argument;
    for (int round = 0; round < ROUNDS; round++) {
        given[me] = round;
        pthread_barrier_wait(&barrier);
        int total = 0;
        for (int i = 0; i < THREADS; i++)
            total += given[i];
        sum[me] = total;
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void *give(void *unused)
{
    once = 42;
    pthread_barrier_wait(&pair);
    return unused;
}

static int meet_once(void)
{
    pthread_t thread;
    pthread_barrier_init(&pair, NULL, 2);
    pthread_create(&thread, NULL, give, NULL);
    pthread_barrier_wait(&pair);
    int seen = once;
    pthread_join(thread, NULL);
    return seen != 42;
}

int main(int argc, char **arguments)
{
    (void)arguments;
    if (argc > 1)
        return meet_once();
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, add, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", sum[0]);
    return 0;
}
