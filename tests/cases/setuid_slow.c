/* A call for which libc makes all threads take part (setuid and its like) is no sleep that lets others go on, however
 * long the machine takes to run them: pct's watchdog took the baton from the caller where the others got little CPU
 * time, and the run had another hash. Here they have the idle policy, beside processes that want all of the CPU.
 *
 * NEED: taskset -p $$ && chrt -i 0 true
 * RUN: cpu=$(taskset -cp $$ | grep -oE '[0-9]+' | sed -n 2p); for i in 1 2;
 *     do taskset -c $cpu sh -c 'while :; do :; done' & hogs="$hogs $!"; done; for s in 1 2 3;
 *     do taskset -c $cpu pct run -q -s $s -S pct --timeout 50 -t %t/trace -- %p && ! pct report %t/trace |
 *     grep 'slept in' || bad=1; done; kill $hogs; [ ! "$bad" ]
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 20, ROUNDS = 6 };

static sem_t go, there;

static void check(int fine)
{
    if (!fine)
        abort();
}

static void *wait_for_all(void *unused)
{
    check(!sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){ 0 }));
    check(!sem_post(&there) && !sem_wait(&go));
    return unused;
}

/* Whom the watchdog could give the baton. */
static void *sleep_long(void *unused)
{
    check(!sem_post(&there));
    usleep(900000); /* natively setuid() interrupts it */
    return unused;
}

int main(void)
{
    static pthread_t threads[THREADS];
    check(!sem_init(&go, 0, 0) && !sem_init(&there, 0, 0));
    for (int i = 0; i < THREADS; i++)
        check(!pthread_create(&threads[i], NULL, i ? wait_for_all : sleep_long, NULL) && !sem_wait(&there));
    for (int i = 0; i < ROUNDS; i++)
        check(!setuid(getuid()));
    for (int i = 0; i < THREADS; i++)
        check(!sem_post(&go));
    for (int i = 0; i < THREADS; i++)
        check(!pthread_join(threads[i], NULL));
    return 0;
}
