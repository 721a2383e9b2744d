/* A process in which threads run that pct has not made forks: its child has none of them, and nothing that they have
 * told.
 *
 * RUN: pct run -q -s 1 -n 3 --timeout 30 -- %p barrier
 * RUN: pct run -q -s 1 -n 3 --timeout 30 -- %p watchdog
 * RUN 120: pct run -q -s 1 --slack=0 --timeout 30 -- %p futex
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

enum { FOREIGN = 80 }; /* more than pct has places for what they tell */

static pthread_barrier_t all, two;
static unsigned there; /* atomic */
static unsigned word;
static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static void check(int fine)
{
    if (!fine)
        abort();
}

static void *arrive(void *barrier)
{
    __atomic_add_fetch(&there, 1, __ATOMIC_SEQ_CST);
    pthread_barrier_wait(barrier);
    return NULL;
}

/* One that pct's pthread_create() knows nothing of, and that has come to its barrier. */
static void start_foreign(pthread_barrier_t *barrier)
{
    pthread_t thread;
    unsigned before = there;
    check(!create(&thread, NULL, arrive, barrier));
    while (__atomic_load_n(&there, __ATOMIC_SEQ_CST) == before)
        sched_yield();
    usleep(1000); /* virtual time stands still as long as it can run */
}

/* The child's own thread, which pct has not made either, finds a place to tell that it has come. */
static void meet_one(void)
{
    check(!pthread_barrier_init(&two, NULL, 2));
    start_foreign(&two);
    pthread_barrier_wait(&two);
}

static void *change(void *unused)
{
    usleep(1000);
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST); /* and wakes nobody */
    return unused;
}

/* A wake is lost. That could be a stranger's, but the child has none. */
static void lose_wake(void)
{
    pthread_t thread;
    check(!pthread_create(&thread, NULL, change, NULL));
    syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
    check(!pthread_join(thread, NULL));
}

static volatile int flag;
static sem_t told;

static void *spin(void *unused)
{
    while (!flag)
        ;
    return unused;
}

/* From here on the process has a watchdog. */
static void let_spin(void)
{
    pthread_t thread;
    check(!pthread_create(&thread, NULL, spin, NULL));
    usleep(1000);
    flag = 1;
    check(!pthread_join(thread, NULL));
}

static void *post_late(void *unused)
{
    usleep(50000);
    check(!sem_post(&told));
    return unused;
}

/* The child has no watchdog yet, and its second thread is one that may still act. */
static void wait_for_foreign(void)
{
    pthread_t thread;
    check(!sem_init(&told, 0, 0) && !create(&thread, NULL, post_late, NULL) && !sem_wait(&told));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int status, count = !strcmp(what, "barrier") ? FOREIGN : !strcmp(what, "futex");
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    check(libc && (create = (__typeof__(create))dlsym(libc, "pthread_create")));
    check(!pthread_barrier_init(&all, NULL, (unsigned)count + 1));
    for (int i = 0; i < count; i++)
        start_foreign(&all);
    if (!count)
        let_spin();
    pid_t child = fork();
    if (!child) {
        count > 1 ? meet_one() : count ? lose_wake() : wait_for_foreign();
        _exit(0);
    }
    check(waitpid(child, &status, 0) == child && WIFEXITED(status));
    pthread_barrier_wait(&all);
    return WEXITSTATUS(status);
}
