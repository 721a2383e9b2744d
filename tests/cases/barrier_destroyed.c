/* GLIBC: destroying a barrier at which a thread waits blocks until it has left, and so, here, for ever. pct let it go
 * on, and the program end well. Behind a round that is over nobody waits, whoever has run since.
 * RUN: pct run -q -n 20 -s 1 -- %p over
 * RUN 120: pct run -n 20 -s 1 -- %p > %t/out 2>&1
 * RUN: ! pct run -n 20 -s 1 -- %p > %t/out 2>&1; grep -q 'waits for barrier .*(barrier destroy)' %t/out
 */
#include <pthread.h>
#include <unistd.h>

static pthread_barrier_t barrier;

static void *arrive(void *unused)
{
    pthread_barrier_wait(&barrier);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argv;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, arrive, NULL);
    if (argc > 1)
        pthread_barrier_wait(&barrier);
    usleep(1000);
    pthread_barrier_destroy(&barrier);
    if (argc > 1)
        pthread_join(thread, NULL);
    return 0;
}
