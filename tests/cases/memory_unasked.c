/* A bug between two plain accesses, in a program that nobody has rebuilt and without any option: after 16 runs with
 * scheduling points at calls, one run in four is patched, because calls do not order these accesses. Where a lock
 * orders them (`locked`), none is.
 *
 * BUILD: gcc -O1 -g -pthread -o %p %s
 * RUN: pct run -q -s 1 -n 16 --state none -- %p
 * RUN 134: pct run -q -s 1 -n 400 --state none -- %p
 * RUN: pct run -s 1 -n 400 --explore=0 --state none -- %p > %t/out 2>&1;
 *     [ $(grep -c 'memory that calls do not order' %t/out) = 1 ] && grep 'pct replay .*,memory=globals' %t/out
 * RUN: pct run -s 1 -n 400 --state none --memory=off -- %p > %t/out 2>&1; ! grep 'do not order' %t/out
 * RUN: pct run -s 1 -n 200 --state none -- %p locked > %t/out 2>&1;
 *     ! grep -e 'do not order' -e 'other scheduling points' %t/out
 * RUN: pct run -s 1 -n 400 --state none --strategy=surw -- %p > %t/out 2>&1; ! grep 'do not order' %t/out
 *
 * A campaign in two parts has the same runs as one in one part; and its guarantee counts only those with points at
 * calls.
 * RUN: for x in --explore=0 ${FULL:+-q}; do for j in 1 2; do for n in 140 250; do [ $j$n = 2140 ] ||
 *     pct campaign -q -s 1 --epoch 1 -n $n -j $j $x --db %t/$j$x -- %p > /dev/null 2>&1; done;
 *     pct campaign report --format json %t/$j$x | grep -e token -e identical > %t/$j$x.out; done;
 *     diff %t/1$x.out %t/2$x.out || exit 1; done; grep memory=globals %t/1--explore=0.out &&
 *     { [ -z "${FULL:-}" ] || grep token %t/1-q.out; }
 * RUN: pct campaign -q --explore=0 -s 1 -n 200 --db %t/c -- %p waits > /dev/null 2>&1;
 *     pct campaign report %t/c > %t/out; grep -q 'of these runs had other scheduling points' %t/out
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int locked, waits;
static volatile int balance;

static void *pay(void *unused)
{
    if (locked)
        pthread_mutex_lock(&lock);
    balance = balance + 1;
    if (locked)
        pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    locked = argc > 1 && !strcmp(argv[1], "locked");
    waits = argc > 1 && !strcmp(argv[1], "waits");
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, pay, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(balance == 2 || waits);
    return 0;
}
