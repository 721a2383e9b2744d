/* The clocks of CPU time of a thread and of the process, by their own numbers: virtual, like those that have names, and
 * the same in each run. They were the machine's, which nothing counted.
 *
 * RUN: %p
 * RUN: pct run -q -n 1 -s 1 --state none --slack 0 -- %p > %t/one;
 *      pct run -q -n 1 -s 1 --state none --slack 0 -- %p > %t/two; cmp %t/one %t/two && test -s %t/one
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void show(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now))
        puts("none");
    else
        printf("%ld.%09ld\n", (long)now.tv_sec, now.tv_nsec);
}

static void *work(void *unused)
{
    clockid_t clock;
    pthread_getcpuclockid(pthread_self(), &clock);
    show(clock);
    usleep(1000);
    return unused;
}

int main(void)
{
    pthread_t thread;
    clockid_t own, process;
    pthread_create(&thread, NULL, work, NULL);
    if (pthread_getcpuclockid(pthread_self(), &own) || clock_getcpuclockid(getpid(), &process))
        return 1;
    show(own);
    show(process);
    pthread_join(thread, NULL);
    show(own);
    return 0;
}
