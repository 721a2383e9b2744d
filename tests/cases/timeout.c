// Processes that descend from one another share one virtual time: `timeout` must not go off while its child lives, nor
// may the child sleep for longer than that; a shell's `sleep 1` is over before that of the other child is. Each process
// had a time of its own.
//
// The program computes a little in two threads, and sleeps for 100 ms; with an argument, for this many seconds.
//
// RUN: LD_PRELOAD=$LIBPCT timeout 20 true
// RUN: LD_PRELOAD=$LIBPCT timeout 20 %p
// RUN: LD_PRELOAD=$LIBPCT timeout 20 %p 15
// RUN 124: LD_PRELOAD=$LIBPCT timeout 1 sleep 3
// RUN 124: LD_PRELOAD=$LIBPCT timeout 20 %p 25
// RUN 143: LD_PRELOAD=$LIBPCT sh -c 'sleep 3 & p=$!; sleep 1; kill $p; wait $p'
// RUN: LD_PRELOAD=$LIBPCT sh -c 'sleep 1 & p=$!; sleep 2; wait $p'
// RUN 143: LD_PRELOAD=$LIBPCT bash -c 'sleep 3 & p=$!; sleep 1; kill $p; wait $p'
// RUN: pct run -q -s 1 -n 20 -- timeout 5 %p
// RUN: pct run -q -s 1 -n 20 -j 2 -- timeout 5 %p 4
// RUN: pct run -q -s 1 -n 5 -S random-walk -- sh -c 'timeout 5 %p 6; test $? = 124'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *work(void *unused)
{
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&lock);
        n++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    if (argc > 1)
        sleep((unsigned)atoi(argv[1]));
    else
        usleep(100000);
    return n != 200;
}
