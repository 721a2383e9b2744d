/* A constructor writes: of forked runs, all but the first lacked that, and were findings, as their output was not what
 * the run by exec has written.
 *
 * RUN: pct campaign -n 6 -s 1 --explore=0 --expect-same --db %t/db -- %p > %t/out 2>&1; status=$?; cat %t/out;
 *     [ $status = 0 ] && ! grep 'wrong output' %t/out
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void)
{
    fputs("begins\n", stderr);
}

static void *work(void *unused)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert(!pthread_create(&threads[i], NULL, work, NULL));
    for (int i = 0; i < 2; i++)
        assert(!pthread_join(threads[i], NULL));
    puts("ends");
    return 0;
}
