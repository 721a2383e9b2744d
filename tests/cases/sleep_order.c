/* A sleep is no order: on a machine that keeps the worker from running for a millisecond, the flag is not set yet.
 *
 * Virtual time let the sleeper come last, under every strategy and seed, and the guarantee was that the bug is not
 * there. Found within the 100 first runs of the default, and of a campaign; said to be one of a deadline that came
 * early; not found without slack.
 *
 * RUN: ! pct run -q -n 100 -s 1 --state none -- %p 2> %t/log && grep -q "thread 0's sleep, .* ms early" %t/log &&
 *     grep -q "slack=0" %t/log
 * RUN: ! pct run -q -n 100 -s 1 --state none -S random-walk -- %p 2> %t/log && grep -q "assertion failed" %t/log
 * RUN: ! pct campaign --db %t/db -n 100 -s 1 -- %p > %t/log && grep -q "sleep, .* ms early" %t/log
 * RUN: pct run -n 300 -s 1 --state none --slack=0 --explore=0 -- %p 2> %t/log &&
 *     grep -q "one to end earlier is not among these" %t/log
 * RUN: pct run -n 300 -s 1 --state none --slack=0 -- %p 2> %t/log &&
 *     grep "verified.*, and no deadline comes early (--slack)" %t/log
 * RUN: token=$(pct run -n 100 -s 1 --state none -- %p 2>&1 | grep -o "pct1:[^']*" || :) &&
 *     ! pct replay "$token" -- %p > %t/log 2>&1 && grep -q "replayed identically" %t/log
 */
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
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
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    usleep(1000); /* long enough, one thinks */
    pthread_mutex_lock(&mutex);
    assert(flag);
    pthread_mutex_unlock(&mutex);
    pthread_join(worker, NULL);
    return 0;
}
