/* A thread may end by the kernel's call, syscall(SYS_exit): then no destructor runs, and it is joined as any other. pct
 * took it for one that computes, with the baton, until the run was over its time. Where the last thread ends so, or has
 * counted those that did, the process ends with it. A thread of a raw clone, which has the variables of the one that
 * made it, ends alone.
 *
 * RUN: %p
 * RUN: pct run -q --timeout 30 -n 20 -s 1 -- %p
 * RUN: %p last
 * RUN: pct run -q --timeout 30 -n 20 -s 1 -- %p last
 * RUN 4: %p alone
 * RUN 4: LD_PRELOAD=$LIBPCT timeout 30 %p alone
 * RUN: %p counted
 * RUN: pct run -q --timeout 30 -n 20 -s 1 -- %p counted
 * RUN: %p clone
 * RUN: pct run -q --timeout 30 -n 5 -s 1 -- %p clone
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *leave(void *unused)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&mutex);
        done++;
        pthread_mutex_unlock(&mutex);
    }
    usleep(1000);
    syscall(SYS_exit, 0);
    return unused;
}

static int leave_clone(void *word)
{
    __atomic_store_n((int *)word, 1, __ATOMIC_SEQ_CST);
    return (int)syscall(SYS_exit, 0);
}

static void fail(void)
{
    _exit(1);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t threads[2];
    if (!strcmp(what, "alone"))
        syscall(SYS_exit, 4);
    for (int i = 0; i < 2; i++)
        assert(!pthread_create(&threads[i], NULL, leave, NULL));
    if (!strcmp(what, "last"))
        syscall(SYS_exit, 0);
    for (int i = 0; i < 2; i++)
        assert(!pthread_join(threads[i], NULL));
    assert(done == 6);
    if (!strcmp(what, "counted")) {
        atexit(fail);
        pthread_exit(NULL);
    }
    if (!strcmp(what, "clone")) {
        static char stack[64 << 10] __attribute__((aligned(16)));
        static int word;
        const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
        assert(clone(leave_clone, stack + sizeof stack, flags, &word) > 0);
        while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
            usleep(1000);
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return 0;
}
