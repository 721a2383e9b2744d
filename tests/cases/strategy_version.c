/* A strategy that was built for an earlier version of the interface still runs, and is told of each thread on its own
 * (7), of no roles (8), of no places (9), and not asked whom it would pick (10); one of an older or a newer version is
 * refused.
 *
 * RUN: sed 's/PCT_STRATEGY_ABI,/7,/' tests/cli/lowest.c > %t/7.c &&
 *     gcc -std=gnu17 -shared -fPIC -Iinclude -o %t/7.so %t/7.c && pct run -q -n 5 -S %t/7.so -- %p
 * RUN: sed 's/PCT_STRATEGY_ABI,/8,/' tests/cli/lowest.c > %t/8.c &&
 *     gcc -std=gnu17 -shared -fPIC -Iinclude -o %t/8.so %t/8.c && pct run -q -n 5 -S %t/8.so -- %p
 * RUN: sed 's/PCT_STRATEGY_ABI,/9,/' tests/cli/lowest.c > %t/9.c &&
 *     gcc -std=gnu17 -shared -fPIC -Iinclude -o %t/9.so %t/9.c && pct run -q -n 5 -S %t/9.so -- %p
 * RUN: sed 's/PCT_STRATEGY_ABI,/10,/' tests/cli/lowest.c > %t/10.c &&
 *     gcc -std=gnu17 -shared -fPIC -Iinclude -o %t/10.so %t/10.c && pct run -q -n 5 -S %t/10.so -- %p
 * RUN: gcc -std=gnu17 -shared -fPIC -Iinclude -o %t/11.so tests/cli/lowest.c && pct run -q -n 5 -S %t/11.so -- %p
 * RUN 2: sed 's/PCT_STRATEGY_ABI,/6,/' tests/cli/lowest.c > %t/6.c &&
 *     gcc -std=gnu17 -shared -fPIC -Iinclude -o %t/6.so %t/6.c && pct run -q -S %t/6.so -- %p
 * RUN 2: sed 's/PCT_STRATEGY_ABI,/12,/' tests/cli/lowest.c > %t/12.c &&
 *     gcc -std=gnu17 -shared -fPIC -Iinclude -o %t/12.so %t/12.c && pct run -q -S %t/12.so -- %p
 */
#include <pthread.h>

enum { THREADS = 40 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *take_turns(void *unused)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, take_turns, NULL);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
