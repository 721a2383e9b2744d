// daemon() is fork, and the end of the parent: two steps that replay, and a child that has a schedule of its own.
// Inside libc it was neither, and the process "went on after the last step".
//
// RUN: pct run -s 1 --state none -t %t/trace -- %p 2>&1 | grep "n=1, k=2"
// RUN: pct run -s 1 --state none -t %t/trace -- %p; pct replay %t/trace -- %p 2>&1 | grep "replayed identically"
// RUN: pct run -n 2 -s 1 --state none -- %p 2>&1 | grep "no guarantee.*child processes"
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static void *work(void *unused)
{
    for (int i = 0; i < 10; i++)
        sched_yield();
    return unused;
}

int main(void)
{
    pthread_t threads[4];
    if (daemon(1, 1))
        return 1;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
