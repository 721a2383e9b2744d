/* A time-out of 2 ms is no order, either: the waiter may give up before the worker has come to its few steps.
 *
 * Never found, as sleep_order.c. The smallest schedule and the ordering that explain it are found with the failing
 * run's slack. (From a run in which the worker begins between the deadline and its waiter, as that of seed 4, minimize
 * keeps one preemption.)
 *
 * RUN: ! pct run -q -n 100 -s 1 --state none -- %p 2> %t/log && grep -q "thread 0's cond wait 2, .* ms early" %t/log
 * RUN: token=$(pct run -n 100 -s 5 --state none -- %p 2>&1 | grep -o "pct1:[^']*" || :) &&
 *     pct minimize "$token" -- %p > %t/log 2>&1 && grep -q "1 switch, 0 preemptions" %t/log &&
 *     grep -q "cond wake 2 (timed out)" %t/log
 * RUN: ! pct run -q -t %t/trace -n 100 -s 1 --state none -- %p 2> %t/log &&
 *     ! pct replay %t/trace -- %p > %t/replay 2>&1 && ! grep -q "left the recorded schedule" %t/replay &&
 *     pct trace %t/trace | grep -q "deadline (.* ms early)"
 * RUN: pct run -n 300 -s 1 --state none --slack=1ms -- %p
 */
#include <assert.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int flag;

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    pthread_mutex_lock(&mutex);
    flag = 1;
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    pthread_t worker;
    struct timespec when;
    pthread_create(&worker, NULL, work, NULL);
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_nsec += 2000000;
    when.tv_sec += when.tv_nsec / 1000000000;
    when.tv_nsec %= 1000000000;
    pthread_mutex_lock(&mutex);
    while (!flag && !pthread_cond_timedwait(&done, &mutex, &when))
        ;
    assert(flag);
    pthread_mutex_unlock(&mutex);
    pthread_join(worker, NULL);
    return 0;
}
