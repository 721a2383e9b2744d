/* Two threads take two locks in opposite orders, among 40 other lockings: a deadlock of which nothing is known but that
 * the program has some 57 steps. Change points that are spread over 1,000 steps meet it in none of 300 runs; what pct
 * does without options finds it.
 *
 * RUN 120: pct run -q -n 200 -s 1 --state none -- %p
 * RUN: for seed in $(seq 1 120); do PCT_LOG=quiet PCT_SEED=$seed LD_PRELOAD=$LIBPCT %p > %t/out; [ $? != 120 ] ||
 *     exit 0; done; exit 1
 * RUN: PCT_SEED=1 LD_PRELOAD=$LIBPCT %p 2>&1 >/dev/null | grep -q 'PCT_TOKEN=pct1:[a-z-]*,' &&
 *     ! PCT_SEED=1 LD_PRELOAD=$LIBPCT %p 2>&1 | grep mixture
 */
#include <pthread.h>

enum { OTHERS = 10 };

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void work(pthread_mutex_t *first, pthread_mutex_t *second)
{
    for (int i = 0; i < OTHERS; i++) {
        pthread_mutex_lock(&other);
        count++;
        pthread_mutex_unlock(&other);
    }
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    count++;
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *forwards(void *unused)
{
    work(&a, &b);
    return unused;
}

static void *backwards(void *unused)
{
    work(&b, &a);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, forwards, NULL) || pthread_create(&threads[1], NULL, backwards, NULL))
        return 2;
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
