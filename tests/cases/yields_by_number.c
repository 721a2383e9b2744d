/* A thread that yields by syscall() until another one has written lets that one go first, as by sched_yield(). It made
 * no point: the watchdog had to find out that it spins, at a time of the machine's, and again each time it was chosen.
 *
 * RUN: %p
 * RUN: pct run -n 20 -s 1 -- %p > %t/out 2>&1; ! grep 'not controlled' %t/out
 * RUN: pct run -q -n 20 -s 1 -- %p
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int written;

static void *await(void *unused)
{
    while (!written)
        syscall(SYS_sched_yield);
    return unused;
}

static void *write_it(void *unused)
{
    written = 1;
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, await, NULL);
    pthread_create(&threads[1], NULL, write_it, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
