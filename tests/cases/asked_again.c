/* One schedule may hide which memory accesses calls do not order: these are made only where the threads took turns at
 * the lock, and most runs do not show them. So whether some runs have points at memory accesses is asked again whenever
 * the number of runs has doubled, and a campaign in two parts has the same runs as one in one part.
 *
 * BUILD: gcc -O1 -g -pthread -o %p %s
 * RUN: pct run -g -s 1 -n 18 --state none -- %p > %t/out 2>&1; ! grep 'from now on' %t/out
 * RUN: pct run -g -s 1 -n 300 --state none -- %p > %t/out 2>&1; [ $(grep -c 'do not order: from now on' %t/out) = 1 ]
 * RUN: for j in 1 2; do for n in 70 100 300; do [ $j = 1 ] || [ $n = 300 ] || continue;
 *     pct campaign -q -s 3100 --epoch 1 -n $n -j $j --db %t/$j -- %p > /dev/null 2>&1; done;
 *     pct campaign report --format json %t/$j | grep -e token -e identical > %t/$j.out; done; grep memory= %t/1.out &&
 *     diff %t/1.out %t/2.out
 */
#include <assert.h>
#include <pthread.h>

enum { TIMES = 6, NEEDED = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long last, turns;
static volatile int sum;

static void *take_turns(void *self)
{
    long seen = 0;
    for (int i = 0; i < TIMES; i++) {
        pthread_mutex_lock(&lock);
        turns += last != (long)self;
        last = (long)self;
        seen = turns;
        pthread_mutex_unlock(&lock);
    }
    if (seen < NEEDED)
        return NULL;
    sum = sum + 1;
    return self;
}

int main(void)
{
    pthread_t threads[2];
    void *made[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, take_turns, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], &made[i]);
    assert(sum == !!made[0] + !!made[1]);
    return 0;
}
