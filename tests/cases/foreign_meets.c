/* A thread that pct has not made wakes one that has said that it waits, and does not stand in the queue yet: the wake
 * is not lost, also in a child, where a lost one was a hang. One that ends without a wake leaves a deadlock, in a child
 * too.
 *
 * RUN: pct run -q -s 1 -n 2 --timeout 30 -- %p barrier
 * RUN: pct run -q -s 1 -n 2 --timeout 30 -- %p cond
 * RUN: pct run -q -s 1 -n 2 --timeout 30 -- %p futex
 * RUN 120: pct run -q -s 1 --timeout 30 -- %p leave
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 1000 };

static pthread_barrier_t both;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static unsigned turn; /* of the condition variable: under the mutex; of the futex: atomic */
static sem_t never;

static void check(int fine)
{
    if (!fine)
        abort();
}

/* On another CPU than the one that it was made on, where there is one: it comes in between two instructions. */
static void go_elsewhere(void)
{
    cpu_set_t set;
    long count = sysconf(_SC_NPROCESSORS_CONF);
    int here = sched_getcpu();
    CPU_ZERO(&set);
    for (int cpu = 0; cpu < count && cpu < CPU_SETSIZE; cpu++)
        if (cpu != here)
            CPU_SET(cpu, &set);
    syscall(SYS_sched_setaffinity, 0, sizeof set, &set);
}

static void meet(void)
{
    for (int i = 0; i < ROUNDS; i++)
        pthread_barrier_wait(&both);
}

static void wait_for_turns(void)
{
    check(!pthread_mutex_lock(&mutex));
    for (unsigned i = 1; i < 2 * ROUNDS; i += 2) {
        turn = i;
        while (turn == i)
            check(!pthread_cond_wait(&cond, &mutex));
    }
    check(!pthread_mutex_unlock(&mutex));
}

static void give_turns(void)
{
    for (unsigned i = 1; i < 2 * ROUNDS; i += 2)
        for (int given = 0; !given;) {
            while (pthread_mutex_trylock(&mutex))
                ;
            given = turn == i;
            turn += (unsigned)given;
            if (given)
                check(!pthread_cond_signal(&cond));
            check(!pthread_mutex_unlock(&mutex));
        }
}

static void wait_for_words(void)
{
    for (unsigned i = 1; i < 2 * ROUNDS; i += 2) {
        __atomic_store_n(&turn, i, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) == i)
            syscall(SYS_futex, &turn, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, i, NULL, NULL, 0);
    }
}

static void change_words(void)
{
    for (unsigned i = 1; i < 2 * ROUNDS; i += 2) {
        while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) != i)
            ;
        __atomic_store_n(&turn, i + 1, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &turn, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
    }
}

static void wait_in_vain(void)
{
    check(!sem_wait(&never));
}

static void leave(void)
{
    usleep(20000);
}

static const struct way {
    const char *name;
    void (*known)(void), (*foreign)(void);
} ways[] = { { "barrier", meet, meet },
             { "cond", wait_for_turns, give_turns },
             { "futex", wait_for_words, change_words },
             { "leave", wait_in_vain, leave } };

static void *run_foreign(void *way)
{
    go_elsewhere();
    ((const struct way *)way)->foreign();
    return NULL;
}

int main(int argc, char **argv)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = NULL, status;
    const struct way *way = ways;
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    pthread_t thread;
    check(libc && (create = (__typeof__(create))dlsym(libc, "pthread_create")));
    while (strcmp(way->name, argc > 1 ? argv[1] : ""))
        check(++way < ways + sizeof ways / sizeof *ways);
    check(!pthread_barrier_init(&both, NULL, 2) && !sem_init(&never, 0, 0));
    pid_t child = fork();
    if (!child) {
        check(!create(&thread, NULL, run_foreign, (void *)way));
        way->known();
        _exit(0);
    }
    check(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}
