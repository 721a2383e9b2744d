/* A target for runs that are restored, whose threads are contexts of one kernel thread: what belongs to a thread it has
 * again when it goes on, whoever ran meanwhile. Prints what it finds wrong, and sums. What its argument says:
 *
 *     own          masks of signals, modes and registers of the processor, GS, errno, what stands in its own memory
 *     numbers      gettid() of all threads: each has another, and libc has the same
 *     holds, cancels, overflows, exits, leaves
 *                  a thread ends with a robust mutex locked, by cancellation, where its stack ends, with the
 *                  process, or main does before it
 *     CALL         asks the kernel for what only a kernel thread has: see main(); runs are those of kernel threads */
#define _GNU_SOURCE
#include "gs_base.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 5 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static int turn, tids[THREADS];
static __thread int own;

static void wait_for(int number)
{
    pthread_mutex_lock(&mutex);
    while (turn % THREADS != number)
        pthread_cond_wait(&turned, &mutex);
    turn++;
    pthread_cond_broadcast(&turned);
    pthread_mutex_unlock(&mutex);
}

static void *keep(void *argument)
{
    const int number = (int)(intptr_t)argument;
    const uint16_t control = (uint16_t)(0x037f | number << 10); /* rounding */
    uint64_t set = UINT64_C(1) << (SIGUSR1 - 1 + number), mask, flags;
    const unsigned modes = 0x1f80u | (unsigned)number << 13;
    struct rseq *rseq = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &set, NULL, sizeof set);
    __asm__ volatile("fldcw %0" : : "m"(control));
    __builtin_ia32_ldmxcsr(modes);
    write_gs(0x1000u * (unsigned)(number + 1));
    own = number + 50;
    for (int i = 0; i < ROUNDS; i++) {
        uint16_t now;
        errno = 100 * number + i;
        wait_for(number);
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
        __asm__ volatile("fnstcw %0" : "=m"(now));
        __asm__ volatile("pushfq; pop %0" : "=r"(flags));
        bool right = mask == set && now == control && (__builtin_ia32_stmxcsr() & 0xffc0) == modes &&
                     (!(getauxval(AT_HWCAP2) & FSGSBASE) || read_gs() == 0x1000u * (unsigned)(number + 1)) &&
                     errno == 100 * number + i && own == number + 50 && !(flags & 0x400) &&
                     (!__rseq_size || (int)rseq->cpu_id >= 0) && sched_getcpu() >= 0;
        printf("%d %s\n", number, right ? "has its own" : "HAS ANOTHER'S");
    }
    write_gs(0);
    return NULL;
}

static void *number(void *argument)
{
    const int number = (int)(intptr_t)argument;
    pthread_mutexattr_t kind;
    pthread_mutex_t checked;
    tids[number] = (int)syscall(SYS_gettid);
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checked, &kind);
    pthread_mutex_lock(&checked);
    pthread_barrier_wait(&barrier); /* all are there at once */
    printf("%d: %s, locked again: %d\n", number,
           checked.__data.__owner == tids[number] && gettid() == tids[number] ? "libc says so, too" : "ANOTHER NUMBER",
           pthread_mutex_lock(&checked));
    pthread_mutex_unlock(&checked);
    return NULL;
}

static const char *call;
static pthread_mutex_t robust;

static void *lock(void *unused)
{
    pthread_mutex_lock(&robust);
    return unused;
}

static void *sleep_long(void *unused)
{
    sleep(1000);
    return unused;
}

static int descend(volatile char *above)
{
    volatile char frame[4096];
    frame[0] = above[0];
    return above[0] ? 0 : descend(frame) + frame[0]; /* it never is */
}

static void *overflow(void *unused)
{
    char none = 0;
    printf("%d\n", descend(&none));
    return unused;
}

static void *end(void *unused)
{
    puts("the process ends");
    exit(0);
    return unused;
}

static void *stay(void *unused)
{
    pthread_barrier_wait(&barrier);
    puts("the last thread ends");
    return unused;
}

static void handle(int signal)
{
    (void)signal;
    _exit(7);
}

/* How threads end. */
static void ends(const char *what)
{
    static char place[1 << 16];
    const stack_t alternate = { .ss_sp = place, .ss_size = sizeof place };
    const struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
    pthread_mutexattr_t kind;
    pthread_t thread;
    void *result = NULL;
    if (!strcmp(what, "holds")) {
        pthread_mutexattr_init(&kind);
        pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(&robust, &kind);
        assert(!pthread_create(&thread, NULL, lock, NULL) && !pthread_join(thread, NULL));
        printf("%d\n", pthread_mutex_lock(&robust));
    } else if (!strcmp(what, "cancels")) {
        assert(!pthread_create(&thread, NULL, sleep_long, NULL) && !pthread_cancel(thread));
        pthread_join(thread, &result);
        puts(result == PTHREAD_CANCELED ? "cancelled" : "NOT CANCELLED");
    } else if (!strcmp(what, "overflows")) { /* main alone handles that */
        sigaltstack(&alternate, NULL);
        sigaction(SIGSEGV, &action, NULL);
        assert(!pthread_create(&thread, NULL, overflow, NULL));
        pthread_join(thread, NULL);
    } else if (!strcmp(what, "exits")) {
        assert(!pthread_create(&thread, NULL, end, NULL));
        pthread_join(thread, NULL);
    } else {
        pthread_barrier_init(&barrier, NULL, 2);
        assert(!pthread_create(&thread, NULL, stay, NULL));
        pthread_barrier_wait(&barrier);
        pthread_exit(NULL);
    }
}

static pthread_t others;

static void *ask(void *unused)
{
    struct timespec time;
    struct rusage used;
    uint32_t word = 0;
    char name[16] = "", path[64];
    stack_t alternate = { .ss_flags = 0 };
    clockid_t clock;
    uintptr_t *head;
    size_t size;
    int result = -1, self = (int)syscall(SYS_gettid);
    struct stat status;
    pthread_barrier_wait(&barrier);
    if (!strcmp(call, "clock"))
        result = (int)syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time);
    else if (!strcmp(call, "clock-of"))
        result = pthread_getcpuclockid(others, &clock) ? -1 : (int)syscall(SYS_clock_gettime, clock, &time);
    else if (!strcmp(call, "usage"))
        result = getrusage(RUSAGE_THREAD, &used);
    else if (!strcmp(call, "robust"))
        result = (int)syscall(SYS_get_robust_list, self, &head, &size);
    else if (!strcmp(call, "alternate"))
        result = sigaltstack(NULL, &alternate) ? -1 : alternate.ss_flags;
    else if (!strcmp(call, "policy"))
        result = (int)syscall(SYS_sched_getscheduler, self);
    else if (!strcmp(call, "session"))
        result = syscall(SYS_getsid, self) > 0;
    else if (!strcmp(call, "inheriting"))
        result = (int)syscall(SYS_futex, &word, FUTEX_LOCK_PI, 0, NULL) ? -1 : (int)word == self;
    else if (!strcmp(call, "signal"))
        result = (int)syscall(SYS_tgkill, getpid(), self, 0);
    else if (!strcmp(call, "kill"))
        result = pthread_kill(others, 0);
    else if (!strcmp(call, "name"))
        result = pthread_getname_np(others, name, sizeof name);
    else if (!strcmp(call, "folder")) {
        snprintf(path, sizeof path, "/proc/self/task/%d/", self);
        result = access(path, F_OK);
    } else if (!strcmp(call, "file")) {
        snprintf(path, sizeof path, "/proc/%d/task/%d/comm", getpid(), self);
        result = stat(path, &status);
    } else if (!strcmp(call, "cpus")) {
        cpu_set_t cpus;
        result = pthread_getaffinity_np(others, sizeof cpus, &cpus);
    }
    printf("%s: %d\n", call, result);
    pthread_barrier_wait(&barrier);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    const char *what = argc > 1 ? argv[1] : "own";
    const char *const kinds[] = { "holds", "cancels", "overflows", "exits", "leaves" };
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(what, kinds[i])) {
            ends(what);
            return 0;
        }
    void *(*start)(void *) = !strcmp(what, "own") ? keep : !strcmp(what, "numbers") ? number : ask;
    call = what;
    pthread_barrier_init(&barrier, NULL, start == ask ? 2 : THREADS);
    for (intptr_t i = start == keep; i < (start == ask ? 1 : THREADS); i++)
        assert(!pthread_create(&threads[i], NULL, start, (void *)i));
    others = threads[0];
    if (start == keep)
        keep(NULL);
    if (start == ask) {
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
    }
    for (int i = start == keep; i < (start == ask ? 1 : THREADS); i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; start == number && i < THREADS; i++)
        for (int j = 0; j <= i; j++)
            if (tids[i] == (i == j ? getpid() : tids[j]))
                puts("TWO OF ONE NUMBER");
    return 0;
}
