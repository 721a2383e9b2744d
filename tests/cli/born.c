/* A target for runs that are restored, whose kernel threads stay: its threads print what they find, and leave all that
 * the next one might find of them. What its argument says:
 *
 *     all          threads of all kinds, that run one behind the other, and beside each other
 *     many N       N threads in a row
 *     beside N     N threads at once
 *     pending      one ends with a signal pending, which it has blocked
 *     gone, policy, folder, file  asks the kernel for a thread that has ended
 *     others       asks for one that has not
 *     spins        waits in a loop for what a thread does
 *     switches N   ends with status 1 where a thread begins that has had more than N switches */
#define _GNU_SOURCE
#include "gs_base.h"
#include <assert.h>
#include <errno.h>
#include <linux/rseq.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

enum { MARK = 0x626f726e, MOST = 100, STACK = 1 << 18 };

static __thread int own = 3;
static __thread char *kept;
static pthread_key_t key;
static pthread_mutex_t robust, recursive, plain = PTHREAD_MUTEX_INITIALIZER;
static sem_t begun, ended;
static int tids[MOST], made, most_switches = 1 << 30, switched;
static volatile int flag;

static void destroy(void *value)
{
    own += (int)(intptr_t)value;
    if (value)
        pthread_setspecific(key, (char *)value - 1);
    else
        abort();
    if (value == (void *)1)
        pthread_setspecific(key, NULL);
}

static void note(int signal)
{
    own += signal;
}

/* How much of what earlier threads have left on this stack is still there. */
static int look_down(void)
{
    volatile int frame[6000];
    int found = 0;
    for (unsigned i = 0; i < sizeof frame / sizeof *frame; i++) {
        __asm__ volatile("" : "=m"(frame[i]));
        found += frame[i] == MARK;
        frame[i] = MARK;
    }
    return found;
}

static void look(const char *name)
{
    uint64_t mask = 0, pending = 0;
    stack_t alternate;
    char comm[16];
    uintptr_t *head = NULL;
    size_t size = 0, guard = 0;
    pthread_attr_t attr;
    void *stack = NULL;
    cpu_set_t cpus;
    struct rusage used;
    uint16_t control;
    int old = 0, tid = (int)syscall(SYS_gettid);
    struct rseq *rseq = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
    getrusage(RUSAGE_THREAD, &used);
    switched |= used.ru_nvcsw > most_switches;
    for (int i = 0; i < made; i++)
        old |= tids[i] == tid;
    tids[made++ % MOST] = tid;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
    syscall(SYS_rt_sigpending, &pending, sizeof pending);
    syscall(SYS_sigaltstack, NULL, &alternate);
    syscall(SYS_get_robust_list, 0, &head, &size);
    prctl(PR_GET_NAME, comm);
    if (tid != getpid()) { /* of the first one, it is read in /proc */
        pthread_getattr_np(pthread_self(), &attr);
        pthread_attr_getstack(&attr, &stack, &size);
        pthread_attr_getguardsize(&attr, &guard);
        pthread_attr_destroy(&attr);
    }
    CPU_ZERO(&cpus);
    sched_getaffinity(0, sizeof cpus, &cpus);
    __asm__ volatile("fnstcw %0" : "=m"(control));
    printf("%s: %p %p %zx %zx: mask %lx, pending %lx, alternate %d, robust %d %ld, rseq %d, %s, policy %d, nice %d, "
           "%d CPUs, %x %x, gs %lx, %s, own %d %p %p, errno %d, %d\n",
           name, (void *)pthread_self(), stack, size, guard, (unsigned long)mask, (unsigned long)pending,
           alternate.ss_flags, head && *head == (uintptr_t)head, head ? (char *)head - (char *)pthread_self() : 0,
           __rseq_size ? (int)rseq->cpu_id >= 0 : 0, comm, sched_getscheduler(0), getpriority(PRIO_PROCESS, 0),
           CPU_COUNT(&cpus), (unsigned)__builtin_ia32_stmxcsr() & 0xffc0u, control, (unsigned long)read_gs(),
           old ? "a number that was there" : "a new number", own, (void *)kept, pthread_getspecific(key), errno,
           look_down() > 3000);
}

/* All that a thread can leave in its kernel thread. */
static void leave(void)
{
    const stack_t alternate = { .ss_sp = malloc(STACK), .ss_size = STACK };
    sigset_t mask;
    sigfillset(&mask);
    sigdelset(&mask, SIGUSR2);
    sigdelset(&mask, SIGSYS); /* by which a host looks at calls */
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    assert(!sigaltstack(&alternate, NULL));
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x6000);
    __asm__ volatile("fldcw %0" : : "m"((uint16_t){ 0x0f7f }));
    write_gs(0x1234000);
    own++;
    kept = malloc(100);
    errno = 77;
    pthread_setspecific(key, (void *)3);
}

static void *work(void *name)
{
    look(name);
    pthread_mutex_lock(&plain);
    leave();
    pthread_mutex_unlock(&plain);
    return &own;
}

static void *exits(void *name)
{
    work(name);
    pthread_exit(NULL);
}

static void *posts(void *name)
{
    work(name);
    sem_post(&ended);
    return NULL;
}

static void *holds(void *name)
{
    work(name);
    printf("robust %d, recursive %d\n", pthread_mutex_lock(&robust), pthread_mutex_trylock(&recursive));
    return NULL;
}

static void *sleeps(void *name)
{
    work(name);
    sem_wait(&ended);
    return NULL;
}

static int c11(void *name)
{
    work(name);
    return 5;
}

static void *quiet(void *unused)
{
    struct rusage used;
    getrusage(RUSAGE_THREAD, &used);
    pthread_mutex_lock(&plain);
    switched |= used.ru_nvcsw > most_switches;
    pthread_mutex_unlock(&plain);
    return unused;
}

static void *number(void *tid)
{
    *(int *)tid = (int)syscall(SYS_gettid);
    return NULL;
}

static void *posts_number(void *tid)
{
    number(tid);
    sem_post(&begun);
    sem_wait(&ended);
    return NULL;
}

static void *waits(void *unused)
{
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &mask, NULL);
    pthread_kill(pthread_self(), SIGUSR1);
    look("pending");
    return unused;
}

static void *raises(void *unused)
{
    flag = 1;
    return unused;
}

static void join(pthread_t thread, const char *name)
{
    void *result;
    int error = pthread_join(thread, &result);
    printf("%s joined: %d %p\n", name, error, result);
}

static void all(void)
{
    static char place[STACK] __attribute__((aligned(4096)));
    pthread_mutexattr_t kind;
    pthread_attr_t attr;
    pthread_t a, b, c;
    thrd_t t;
    int result;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_STALLED);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &kind);
    look("main");
    pthread_create(&a, NULL, work, "first");
    join(a, "first");
    leave();
    pthread_create(&a, NULL, work, "behind");
    pthread_create(&b, NULL, exits, "exits");
    join(b, "exits");
    join(a, "behind");
    for (int i = 0; i < 3; i++) {
        pthread_create(&c, NULL, holds, "holds");
        join(c, "holds");
    }
    pthread_create(&c, NULL, sleeps, "cancelled");
    pthread_cancel(c);
    join(c, "cancelled");
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK);
    for (int i = 0; i < 2; i++) {
        pthread_create(&c, &attr, posts, "detached");
        sem_wait(&ended);
    }
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_JOINABLE);
    pthread_attr_setstack(&attr, place, sizeof place);
    pthread_create(&c, &attr, work, "placed");
    join(c, "placed");
    thrd_create(&t, c11, "c11");
    thrd_join(t, &result);
    pthread_create(&a, NULL, work, "last");
    join(a, "last");
    printf("%d\n", result);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "all";
    const int count = argc > 2 ? atoi(argv[2]) : 0;
    pthread_t threads[MOST + 1];
    int tid = 0;
    pthread_key_create(&key, destroy);
    signal(SIGUSR1, note);
    if (!strcmp(what, "all"))
        all();
    for (int i = 0; i < count && !strcmp(what, "many"); i++)
        assert(!pthread_create(threads, NULL, quiet, NULL) && !pthread_join(threads[0], NULL));
    for (int i = 0; i < count && !strcmp(what, "beside"); i++)
        assert(!pthread_create(&threads[i], NULL, quiet, NULL));
    for (int i = 0; i < count && !strcmp(what, "beside"); i++)
        assert(!pthread_join(threads[i], NULL));
    if (!strcmp(what, "gone")) {
        assert(!pthread_create(threads, NULL, number, &tid) && !pthread_join(threads[0], NULL));
        printf("%d\n", tgkill(getpid(), tid, 0));
    }
    if (!strcmp(what, "policy")) {
        assert(!pthread_create(threads, NULL, number, &tid) && !pthread_join(threads[0], NULL));
        printf("%d\n", sched_getscheduler(tid));
    }
    if (!strcmp(what, "folder") || !strcmp(what, "file")) {
        char path[64] = "/proc/self/task";
        struct stat status;
        bool folder = !strcmp(what, "folder"), there = true;
        assert(!pthread_create(threads, NULL, number, &tid) && !pthread_join(threads[0], NULL));
        if (!folder)
            snprintf(path, sizeof path, "/proc/self/task/%d", tid);
        for (int i = 0; i < 1000 && there; i++) { /* the kernel may need a moment */
            there = !(folder ? stat(path, &status) : access(path, F_OK));
            there = there && (!folder || status.st_nlink != 3);
        }
        printf("%d\n", there);
    }
    if (!strcmp(what, "others")) {
        assert(!pthread_create(threads, NULL, posts_number, &tid));
        sem_wait(&begun);
        printf("%d %d\n", sched_getscheduler(tid), getpriority(PRIO_PROCESS, (id_t)tid));
        sem_post(&ended);
        pthread_join(threads[0], NULL);
    }
    if (!strcmp(what, "pending"))
        for (int i = 0; i < 2; i++)
            assert(!pthread_create(threads, NULL, waits, NULL) && !pthread_join(threads[0], NULL));
    if (!strcmp(what, "spins")) {
        assert(!pthread_create(threads, NULL, raises, NULL));
        while (!flag)
            ;
        pthread_join(threads[0], NULL);
    }
    if (!strcmp(what, "switches")) {
        most_switches = count;
        assert(!pthread_create(threads, NULL, quiet, NULL) && !pthread_join(threads[0], NULL));
    }
    return switched;
}
