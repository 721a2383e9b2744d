/* TMPDIR has little space: what runs wrote went there all the same, and that it was full was a failure of the program.
 *
 * NEED: unshare -m mount -t tmpfs none %t
 * RUN: unshare -m sh -c 'mount -t tmpfs -o size=1m none %t && export TMPDIR=%t &&
 *     exec pct run -n 12 -s 1 --explore=0 --state none -- %p'
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { LINES = 2000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert(!pthread_create(&threads[i], NULL, work, NULL));
    for (int i = 0; i < 2; i++)
        assert(!pthread_join(threads[i], NULL));
    for (int i = 0; i < LINES; i++)
        if (printf("%1000d\n", i) < 0)
            return 3;
    return fflush(stdout) ? 3 : 0;
}
