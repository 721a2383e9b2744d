/* A signal of another process is pending when a thread comes to sigwait(): none waited for it, so it was not counted,
 * and a guarantee given.
 *
 * RUN: { until [ -s %t/id ]; do sleep 0.1; done; while sleep 0.05; do kill -USR1 $(cat %t/id); done; } 2> /dev/null &
 *      sender=$!; pct run -n 3 -s 1 -S pct --state none -- %p %t/id > %t/out 2>&1; kill $sender;
 *      grep '3 signals that came from outside' %t/out && grep 'no guarantee' %t/out
 * RUN: pct run -n 20 -s 1 -S pct -d 1 --explore=0 --state none -- %p > %t/out 2>&1 &&
 *      ! grep 'not controlled\|no guarantee' %t/out
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static sigset_t one;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *waits(void *unused)
{
    int taken;
    assert(!sigwait(&one, &taken) && taken == SIGUSR1);
    return unused;
}

/* Argument: where to say who it is; without, it sends the signal itself. */
int main(int count, char **arguments)
{
    pthread_t thread;
    sigset_t pending;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    assert(!pthread_sigmask(SIG_BLOCK, &one, NULL));
    if (count > 1) {
        FILE *file = fopen(arguments[1], "w");
        assert(file && fprintf(file, "%d", (int)getpid()) > 0 && !fclose(file));
    } else {
        assert(!kill(getpid(), SIGUSR1));
    }
    do /* alone, and in real time */
        assert(!sigpending(&pending));
    while (!sigismember(&pending, SIGUSR1));
    pthread_create(&thread, NULL, waits, NULL);
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    pthread_join(thread, NULL);
    return 0;
}
