/* A target for runs that are restored, whose threads' stacks stay mapped: what is mapped where, and what stands there,
 * is what a process of its own would find. Prints addresses and sums. What its argument says:
 *
 *     fresh        what stands in new stacks, and in those that libc gives to a second thread
 *     between      mappings come and go between two threads
 *     early        nothing is there before a thread has it: who reads or writes there crashes
 *     fewer        some runs have more stacks than the next: a thread may have that of one that has ended; one may
 *                  be left at the end, which is for contexts alone
 *     many         more than libc keeps: it unmaps them
 *     mine         threads change their stacks: rights, and what becomes of them
 *     faults       handlers of signals in which other threads run, and the masks behind them */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* USED: of a stack, by what was called before; nobody repeats what is left there. */
enum { DEEP = 300 << 10, USED = 64 << 10, PAGE = 4096 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t over; /* GLIBC: zeros, as sem_init() leaves it */
static uintptr_t places;
static sigjmp_buf back;

__attribute__((noinline)) static unsigned long sum(void)
{
    volatile unsigned char room[DEEP + USED];
    volatile unsigned char *found; /* as it is */
    __asm__("" : "=r"(found) : "0"(room));
    unsigned long all = 0;
    for (unsigned i = 0; i < DEEP; i++)
        all = 31 * all + found[i];
    for (unsigned i = 0; i < DEEP; i += 512)
        found[i] = (unsigned char)(i >> 9 | 1);
    return all;
}

static void *work(void *argument)
{
    int here;
    unsigned long found = argument ? sum() : 0;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&mutex);
        places += (uintptr_t)&here + found;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static pthread_t begin(int deep)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, deep ? &mutex : NULL))
        abort();
    return thread;
}

static void *map(size_t size)
{
    char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        abort();
    places += (uintptr_t)at + (unsigned char)at[size / 2];
    at[size / 2] = 7;
    return at;
}

static void between(void)
{
    pthread_t first = begin(1);
    void *one = map(1 << 20), *two = map(3 << 20);
    pthread_t second = begin(1);
    munmap(one, 1 << 20);
    pthread_join(first, NULL);
    void *three = map(512 << 10);
    pthread_t third = begin(0);
    two = mremap(two, 3 << 20, 5 << 20, MREMAP_MAYMOVE);
    places += (uintptr_t)two;
    pthread_join(second, NULL);
    pthread_join(third, NULL);
    munmap(two, 5 << 20);
    munmap(three, 512 << 10);
}

static void crash(int signal)
{
    (void)signal;
    siglongjmp(back, 1);
}

/* Whether a thread's stack, of the usual size, can be read or written below this one. */
static void early(void)
{
    const size_t size = 8 << 20;
    volatile int ways = 0, crashed = 0;
    struct sigaction action = { .sa_handler = crash };
    sigaction(SIGSEGV, &action, NULL);
    pthread_t first = begin(0);
    pthread_attr_t attr;
    void *base = NULL;
    size_t whole;
    if (pthread_getattr_np(first, &attr) || pthread_attr_getstack(&attr, &base, &whole))
        abort();
    volatile char *below = (char *)base - size / 2;
    for (ways = 0; ways < 2; ways++)
        if (sigsetjmp(back, 1))
            crashed++;
        else if (ways)
            *below = 1;
        else
            places += (uintptr_t)*below;
    pthread_t second = begin(1);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("%d crashes\n", crashed);
}

static void *work_alone(void *argument)
{
    work(argument);
    sem_post(&over);
    return NULL;
}

static void fewer(void)
{
    pthread_t thread;
    for (int i = 0; i < 3; i++) {
        if (pthread_create(&thread, NULL, work_alone, &mutex))
            abort();
        pthread_detach(thread);
    }
    for (int i = 0; i < 2; i++)
        sem_wait(&over);
}

static void many(void)
{
    pthread_t threads[9];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 9; i++)
            threads[i] = begin(i & 1);
        for (int i = 0; i < 9; i++)
            pthread_join(threads[i], NULL);
    }
}

static void *change(void *argument)
{
    pthread_attr_t attr;
    void *base;
    size_t size;
    char *page = NULL;
    if (pthread_getattr_np(pthread_self(), &attr) || pthread_attr_getstack(&attr, &base, &size))
        abort();
    page = (char *)base + (size / 2 & ~(size_t)(PAGE - 1));
    *page = 1;
    if (argument) {
        mprotect(page, PAGE, PROT_READ);
        madvise(page + PAGE, PAGE, MADV_DONTNEED);
    } else {
        madvise(page, PAGE, MADV_DONTNEED);
    }
    work(NULL);
    pthread_mutex_lock(&mutex);
    places += (uintptr_t)*page;
    pthread_mutex_unlock(&mutex);
    pthread_attr_destroy(&attr);
    return NULL;
}

static void mine(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, change, NULL);
    pthread_create(&two, NULL, change, &mutex);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}

static void pass(int signal)
{
    (void)signal;
    pthread_mutex_lock(&mutex); /* others may run here */
    places++;
    pthread_mutex_unlock(&mutex);
    usleep(1);
}

static void *trap(void *argument)
{
    sigset_t set, now;
    sigemptyset(&set);
    sigaddset(&set, argument ? SIGUSR1 : SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &set, NULL);
    for (int i = 0; i < 3; i++) {
        __asm__ volatile("int3");
        pthread_mutex_lock(&mutex);
        pthread_sigmask(SIG_BLOCK, NULL, &now);
        if (memcmp(&now, &set, 8) != 0)
            printf("another mask\n");
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void faults(void)
{
    struct sigaction action = { .sa_handler = pass };
    pthread_t one, two;
    sigaddset(&action.sa_mask, SIGHUP);
    sigaction(SIGTRAP, &action, NULL);
    pthread_create(&one, NULL, trap, NULL);
    pthread_create(&two, NULL, trap, &mutex);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}

int main(int argc, char *argv[])
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "fresh")) {
        for (int round = 0; round < 2; round++) {
            pthread_t one = begin(1), two = begin(1);
            pthread_join(one, NULL);
            pthread_join(two, NULL);
        }
    } else if (!strcmp(what, "between")) {
        between();
    } else if (!strcmp(what, "early")) {
        early();
    } else if (!strcmp(what, "fewer")) {
        fewer();
    } else if (!strcmp(what, "many")) {
        many();
    } else if (!strcmp(what, "mine")) {
        mine();
    } else if (!strcmp(what, "faults")) {
        faults();
    } else {
        return 1;
    }
    printf("%lx\n", (unsigned long)places);
    return 0;
}
