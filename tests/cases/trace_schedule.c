/* The schedule that `pct trace` writes of a run has the scheduling points of that run: with others, its switches would
 * lie elsewhere, and the run that fails would pass.
 *
 * RUN 1: pct run -q -n 50 -s 1 -S random-walk --memory=globals -t %t/run -- %p;
 *     pct trace %t/run -o %t/run.schedule && grep -q '^token .*,memory=globals,' %t/run.schedule &&
 *     pct replay -q %t/run.schedule -- %p
 */
#include <pthread.h>

static volatile int counter;

static void *count(void *unused)
{
    int seen = counter;
    counter = seen + 1;
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return counter != 2;
}
