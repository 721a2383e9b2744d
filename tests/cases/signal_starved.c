/* A signal to the own process group is for the kernel to give to a thread. Where that waits, it comes only when the
 * machine gives the thread some time; with nobody else left to go on, it was called a deadlock until then. Here the
 * thread has the idle policy, beside processes that want all of the CPU.
 *
 * NEED: taskset -p $$ && chrt -i 0 true
 * RUN: cpu=$(taskset -cp $$ | grep -oE '[0-9]+' | sed -n 2p); for i in 1 2;
 *     do taskset -c $cpu sh -c 'while :; do :; done' & hogs="$hogs $!"; done; for s in 1 2 3;
 *     do taskset -c $cpu pct run -q -s $s -S pct --state none -- %p || bad=1; done; kill $hogs; [ ! "$bad" ]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

static sem_t gate;

static void handle(int signal)
{
    (void)signal;
    sem_post(&gate);
}

static void *send(void *unused)
{
    killpg(0, SIGUSR1);
    return unused;
}

int main(void)
{
    const struct sched_param idle = { 0 };
    pthread_t thread;
    if (getpgrp() != getpid() && setpgid(0, 0))
        return 2;
    sem_init(&gate, 0, 0);
    signal(SIGUSR1, handle);
    pthread_create(&thread, NULL, send, NULL);
    if (sched_setscheduler(0, SCHED_IDLE, &idle))
        return 4;
    while (sem_wait(&gate))
        if (errno != EINTR)
            return 3;
    return pthread_join(thread, NULL);
}
