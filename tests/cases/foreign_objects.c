/* Threads that pct did not see start (made by libc's own pthread_create, found by its address, or by clone) wait for
 * threads of the schedule, and wake them, through each kind of object. As natively: no hang, no false verdict, whether
 * such a thread comes at once, computes or sleeps before, while all the others wait.
 *
 * RUN: %p
 * RUN: pct run -q -s 1 -n 2 --timeout 60 -- %p
 * RUN: pct run -q -s 1 -n 2 --timeout 60 --strategy=random-walk -- %p
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s: %s is false\n", now_testing, #condition);                                             \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

static char now_testing[100];
static pthread_mutex_t mutex;
static pthread_cond_t cond;
static pthread_rwlock_t rwlock;
static pthread_barrier_t barrier;
static pthread_once_t once;
static sem_t sem;
static int pipes[2], event;
static uint32_t word; /* a futex */
static int value;     /* under the mutex, the rwlock */
static pthread_t local;

/* What a thread does before it wakes others, so that these certainly wait, or certainly do not. */
static enum { AT_ONCE, COMPUTE, SLEEP } before;

static void delay(void)
{
    struct timespec start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    if (before == SLEEP)
        usleep(10000);
    while (before == COMPUTE) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        if ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec > 20000000)
            break;
    }
}

static long futex(uint32_t *at, int op, uint32_t argument)
{
    return syscall(SYS_futex, at, op, argument, NULL, NULL, 0);
}

/* Each object: one side waits, the other wakes it. */

static void wait_mutex(void) /* for what is set under it; it may find it held */
{
    for (;;) {
        pthread_mutex_lock(&mutex);
        int seen = value;
        pthread_mutex_unlock(&mutex);
        if (seen)
            return;
        sched_yield();
    }
}

static void wake_mutex(void)
{
    pthread_mutex_lock(&mutex);
    delay();
    value = 1;
    pthread_mutex_unlock(&mutex);
}

static void wait_cond(void)
{
    pthread_mutex_lock(&mutex);
    while (!value)
        pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void wake_cond(void)
{
    delay();
    pthread_mutex_lock(&mutex);
    value = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
}

static void wake_cond_all(void)
{
    delay();
    pthread_mutex_lock(&mutex);
    value = 1;
    pthread_mutex_unlock(&mutex);
    pthread_cond_broadcast(&cond);
}

static void wait_sem(void)
{
    while (sem_wait(&sem))
        CHECK(errno == EINTR);
}

static void wake_sem(void)
{
    delay();
    sem_post(&sem);
}

static void wait_rwlock(void)
{
    for (;;) {
        pthread_rwlock_rdlock(&rwlock);
        int seen = value;
        pthread_rwlock_unlock(&rwlock);
        if (seen)
            return;
        sched_yield();
    }
}

static void wake_rwlock(void)
{
    pthread_rwlock_wrlock(&rwlock);
    delay();
    value = 1;
    pthread_rwlock_unlock(&rwlock);
}

static void arrive(void)
{
    for (int i = 0; i < 2; i++) {
        delay();
        pthread_barrier_wait(&barrier);
    }
}

static void routine(void)
{
    delay();
    value++;
}

static void run_once(void)
{
    pthread_once(&once, routine);
    CHECK(value == 1);
}

static void wait_futex(void)
{
    while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
        futex(&word, FUTEX_WAIT_PRIVATE, 0);
}

static void wake_futex(void)
{
    delay();
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    futex(&word, FUTEX_WAKE_PRIVATE, 1);
}

static void wait_pipe(void)
{
    char c;
    CHECK(read(pipes[0], &c, 1) == 1);
}

static void wake_pipe(void)
{
    delay();
    CHECK(write(pipes[1], "x", 1) == 1);
}

static void wait_event(void)
{
    uint64_t count;
    CHECK(read(event, &count, sizeof count) == sizeof count);
}

static void wake_event(void)
{
    const uint64_t one = 1;
    delay();
    CHECK(write(event, &one, sizeof one) == sizeof one);
}

static void *end_late(void *unused)
{
    delay();
    return unused;
}

static void wait_join(void)
{
    pthread_join(local, NULL);
}

static void nothing(void)
{
}

/* For a thread made by clone, which has no libc: system calls alone. */

static long raw(long number, long a, long b, long c, long d)
{
    register long r10 __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return result;
}

static void raw_delay(void)
{
    struct timespec length = { 0, 10000000 };
    if (before == SLEEP)
        raw(SYS_nanosleep, (long)&length, 0, 0, 0);
    for (volatile long i = 0; before == COMPUTE && i < 20000000; i++)
        ;
}

static void raw_wait_futex(void)
{
    while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
        raw(SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, 0, 0);
}

static void raw_wake_futex(void)
{
    raw_delay();
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    raw(SYS_futex, (long)&word, FUTEX_WAKE_PRIVATE, 1, 0);
}

static void raw_wait_pipe(void)
{
    char c;
    raw(SYS_read, pipes[0], (long)&c, 1, 0);
}

static void raw_wake_pipe(void)
{
    raw_delay();
    raw(SYS_write, pipes[1], (long)"x", 1, 0);
}

static void raw_wait_event(void)
{
    uint64_t count;
    raw(SYS_read, event, (long)&count, sizeof count, 0);
}

static void raw_wake_event(void)
{
    const uint64_t one = 1;
    raw_delay();
    raw(SYS_write, event, (long)&one, sizeof one, 0);
}

/* One side is a thread of the schedule, the other one is not. */
static const struct {
    const char *name;
    void (*waits)(void), (*wakes)(void);
    void (*raw_waits)(void), (*raw_wakes)(void);
} objects[] = {
    { "mutex", wait_mutex, wake_mutex, NULL, NULL },
    { "condition variable, signal", wait_cond, wake_cond, NULL, NULL },
    { "condition variable, broadcast", wait_cond, wake_cond_all, NULL, NULL },
    { "semaphore", wait_sem, wake_sem, NULL, NULL },
    { "rwlock", wait_rwlock, wake_rwlock, NULL, NULL },
    { "barrier", arrive, arrive, NULL, NULL },
    { "once", run_once, run_once, NULL, NULL },
    { "join", wait_join, nothing, NULL, NULL },
    { "futex", wait_futex, wake_futex, raw_wait_futex, raw_wake_futex },
    { "pipe", wait_pipe, wake_pipe, raw_wait_pipe, raw_wake_pipe },
    { "eventfd", wait_event, wake_event, raw_wait_event, raw_wake_event },
};
enum { OBJECTS = sizeof objects / sizeof *objects };

static void *run(void *function)
{
    ((void (*)(void))function)();
    return NULL;
}

static void reset(void)
{
    pthread_mutex_init(&mutex, NULL);
    pthread_cond_init(&cond, NULL);
    pthread_rwlock_init(&rwlock, NULL);
    pthread_barrier_init(&barrier, NULL, 2);
    once = PTHREAD_ONCE_INIT;
    sem_init(&sem, 0, 0);
    word = 0;
    value = 0;
}

static void start_raw(void (*function)(void), uint32_t *alive)
{
    enum { SIZE = 65536 };
    char *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void **top = (void **)(stack + SIZE - 64);
    *top = (void *)function;
    *alive = 1;
    register void *child_tid __asm__("r10") = alive;
    long flags =
        CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
    long result = SYS_clone;
    __asm__ volatile("syscall\n\t"
                     "testq %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "popq %%rax\n\t"
                     "call *%%rax\n\t"
                     "movl $60, %%eax\n\t"
                     "xorl %%edi, %%edi\n\t"
                     "syscall\n"
                     "1:"
                     : "+a"(result)
                     : "D"(flags), "S"(top), "d"(0), "r"(child_tid)
                     : "rcx", "r11", "memory");
    CHECK(result > 0);
}

/* As libc waits for the end of a thread. */
static void join_raw(uint32_t *alive)
{
    while (__atomic_load_n(alive, __ATOMIC_SEQ_CST))
        futex(alive, FUTEX_WAIT, 1);
}

static void test(int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *), int i,
                 int stranger_wakes)
{
    void (*here)(void) = stranger_wakes ? objects[i].waits : objects[i].wakes;
    void (*there)(void) = stranger_wakes ? objects[i].wakes : objects[i].waits;
    pthread_t stranger, known;
    static uint32_t alive;
    const char *kind = create ? "libc" : "clone";
    snprintf(now_testing, sizeof now_testing, "%s: %s %s, %d", kind, objects[i].name,
             stranger_wakes ? "wakes" : "waits", before);
    reset();
    if (objects[i].waits == wait_join && stranger_wakes) { /* a stranger that is joined */
        create(&local, NULL, end_late, NULL);
        wait_join();
        return;
    }
    if (objects[i].waits == wait_join)
        pthread_create(&local, NULL, end_late, NULL);
    if (create)
        create(&stranger, NULL, run, (void *)there);
    else
        start_raw(stranger_wakes ? objects[i].raw_wakes : objects[i].raw_waits, &alive);
    pthread_create(&known, NULL, run, (void *)here);
    pthread_join(known, NULL);
    if (create)
        pthread_join(stranger, NULL);
    else
        join_raw(&alive);
}

int main(int argc, char **argv)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        dlsym(dlopen("libc.so.6", RTLD_NOW), "pthread_create");
    CHECK(!pipe(pipes));
    event = eventfd(0, 0);
    for (int i = 0; i < OBJECTS; i++) {
        if (argc > 1 && strcmp(argv[1], objects[i].name) != 0)
            continue;
        for (before = AT_ONCE; before <= SLEEP; before++)
            for (int wakes = 0; wakes < 2; wakes++) {
                test(create, i, wakes);
                if (objects[i].raw_waits)
                    test(NULL, i, wakes);
            }
    }
    return 0;
}
