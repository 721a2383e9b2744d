// A timer goes off also where every thread is in a call that pct has left to the world outside, so that nobody is there
// to see that time has come: a lone thread in system(), or two in waits for semaphores that processes share. It went
// off when one of them came back, or never.
//
// RUN: LD_PRELOAD=$LIBPCT timeout 60 %p system
// RUN: LD_PRELOAD=$LIBPCT timeout 60 %p shared
// RUN: LD_PRELOAD=$LIBPCT timeout 60 %p periodic
// RUN: pct run -q -n 20 -s 1 --timeout 30 -- %p system
// RUN: pct run -q -n 20 -s 1 --timeout 30 -- %p shared
// RUN 142: LD_PRELOAD=$LIBPCT timeout 60 %p killed
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static sem_t *shared; /* two of them */
static volatile sig_atomic_t rings;

static void ring(int signal)
{
    (void)signal;
    rings++;
}

static void post(int signal)
{
    (void)signal;
    rings++;
    sem_post(&shared[0]);
    sem_post(&shared[1]);
}

static void handle(void (*handler)(int))
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
    assert(!sigaction(SIGALRM, &action, NULL));
}

static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore))
        assert(errno == EINTR);
}

static void *wait_for_second(void *unused)
{
    (void)unused;
    await(&shared[1]);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    pthread_t thread;
    shared = mmap(NULL, 2 * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(!sem_init(&shared[0], 1, 0) && !sem_init(&shared[1], 1, 0));
    if (!strcmp(way, "system")) {
        /* The alarm comes first, by two seconds. */
        handle(ring);
        alarm(1);
        assert(!system("sleep 3") && rings == 1);
    } else if (!strcmp(way, "shared")) {
        handle(post);
        assert(!pthread_create(&thread, NULL, wait_for_second, NULL));
        alarm(1);
        await(&shared[0]);
        assert(rings == 1 && !pthread_join(thread, NULL));
    } else if (!strcmp(way, "periodic")) {
        /* Five times while the shell sleeps. */
        struct itimerval times = { .it_value.tv_usec = 500000, .it_interval.tv_usec = 500000 };
        handle(ring);
        assert(!setitimer(ITIMER_REAL, &times, NULL));
        assert(!system("sleep 2.8") && rings == 5);
    } else {
        alarm(1);
        system("sleep 1000");
        return 1;
    }
    return 0;
}
