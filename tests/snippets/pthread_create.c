/* pthread_create: the argument arrives, attributes are obeyed, failures are reported. */
/* ops: THREAD_CREATE THREAD_JOIN */
#define _GNU_SOURCE
#include "check.h"
#include <limits.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { THREADS = 16 };

static int values[THREADS];
static _Thread_local int local = 7;

static void *square(void *argument)
{
    int *value = argument;
    CHECK_EQ(local, 7); /* a fresh copy of what its creator has changed */
    local = 9;
    *value *= *value;
    return value;
}

static void test_many(void)
{
    pthread_t threads[THREADS];
    local = 8;
    for (int i = 0; i < THREADS; i++) {
        values[i] = i;
        CHECK_OK(pthread_create(&threads[i], NULL, square, &values[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(check_join(threads[i]) == &values[i]);
        CHECK_EQ(values[i], i * i);
    }
    CHECK_EQ(local, 8);
}

static void *nested(void *argument)
{
    int depth = *(int *)argument;
    if (depth == 0)
        return argument;
    depth--;
    CHECK(check_join(check_spawn(nested, &depth)) == &depth);
    return argument;
}

static pthread_t self_seen;
static sem_t stored;

static void *compare_self(void *unused)
{
    (void)unused;
    /* The creator's variable may be written after the new thread has begun to run, so ask for it only then. */
    CHECK_EQ(sem_wait(&stored), 0);
    CHECK(pthread_equal(pthread_self(), self_seen));
    return NULL;
}

static void *inherit_mask(void *expected)
{
    sigset_t now;
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, NULL, &now), 0);
    CHECK_EQ(sigismember(&now, SIGUSR2), *(int *)expected);
    return NULL;
}

static void test_mask(void)
{
    sigset_t set, old;
    int yes = 1, no = 0;
    CHECK_EQ(sigemptyset(&set), 0);
    CHECK_EQ(sigaddset(&set, SIGUSR2), 0);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, &old), 0);
    check_join(check_spawn(inherit_mask, &yes));

    pthread_attr_t attr;
    pthread_t thread;
    CHECK_EQ(pthread_attr_init(&attr), 0);
    CHECK_EQ(pthread_attr_setsigmask_np(&attr, &old), 0);
    CHECK_OK(pthread_create(&thread, &attr, inherit_mask, &no));
    check_join(thread);
    /* The default attributes, too. */
    CHECK_EQ(pthread_setattr_default_np(&attr), 0);
    check_join(check_spawn(inherit_mask, &no));
    CHECK_EQ(pthread_attr_setsigmask_np(&attr, NULL), 0);
    CHECK_EQ(pthread_setattr_default_np(&attr), 0);
    check_join(check_spawn(inherit_mask, &yes));
    CHECK_EQ(pthread_attr_destroy(&attr), 0);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
}

static void *on_stack(void *range)
{
    char here;
    char **bounds = range;
    CHECK((uintptr_t)&here >= (uintptr_t)bounds[0]);
    CHECK((uintptr_t)&here < (uintptr_t)bounds[1]);
    return NULL;
}

static void *stack_of_size(void *size)
{
    pthread_attr_t attr;
    size_t actual;
    CHECK_EQ(pthread_getattr_np(pthread_self(), &attr), 0);
    CHECK_EQ(pthread_attr_getstacksize(&attr, &actual), 0);
    CHECK(actual >= *(size_t *)size);
    CHECK_EQ(pthread_attr_destroy(&attr), 0);
    return NULL;
}

static void test_stacks(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    CHECK_EQ(pthread_attr_init(&attr), 0);

    size_t size = 1 << 20;
    CHECK_EQ(pthread_attr_setstacksize(&attr, size), 0);
    CHECK_OK(pthread_create(&thread, &attr, stack_of_size, &size));
    check_join(thread);

    size = 256 * 1024;
    char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(stack != MAP_FAILED);
    char *bounds[2] = { stack, stack + size };
    CHECK_EQ(pthread_attr_setstack(&attr, stack, size), 0);
    CHECK_OK(pthread_create(&thread, &attr, on_stack, bounds));
    check_join(thread);
    CHECK_EQ(munmap(stack, size), 0);
    CHECK_EQ(pthread_attr_destroy(&attr), 0);

    /* More than any address space: the creator is told so, and goes on. */
    CHECK_EQ(pthread_attr_init(&attr), 0);
    CHECK_EQ(pthread_attr_setstacksize(&attr, (size_t)1 << 60), 0);
    CHECK_EQ(pthread_create(&thread, &attr, on_stack, NULL), EAGAIN);
    CHECK_EQ(pthread_attr_destroy(&attr), 0);
}

static sem_t ran;

static void *detached(void *unused)
{
    (void)unused;
    CHECK_EQ(sem_post(&ran), 0);
    return NULL;
}

static void test_detached(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    CHECK_EQ(sem_init(&ran, 0, 0), 0);
    CHECK_EQ(pthread_attr_init(&attr), 0);
    CHECK_EQ(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED), 0);
    CHECK_OK(pthread_create(&thread, &attr, detached, NULL));
    CHECK_OK(pthread_create(&thread, &attr, detached, NULL));
    CHECK_EQ(sem_wait(&ran), 0);
    CHECK_EQ(sem_wait(&ran), 0);
    CHECK_EQ(pthread_attr_destroy(&attr), 0);
}

static void *on_cpu(void *expected)
{
    cpu_set_t now;
    CHECK_EQ(pthread_getaffinity_np(pthread_self(), sizeof(now), &now), 0);
    CHECK(CPU_EQUAL(&now, (cpu_set_t *)expected));
    return NULL;
}

static void test_affinity(void)
{
    cpu_set_t all, one;
    CHECK_EQ(pthread_getaffinity_np(pthread_self(), sizeof(all), &all), 0);
    check_join(check_spawn(on_cpu, &all));

    int cpu = 0;
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_attr_t attr;
    pthread_t thread;
    CHECK_EQ(pthread_attr_init(&attr), 0);
    CHECK_EQ(pthread_attr_setaffinity_np(&attr, sizeof(one), &one), 0);
    CHECK_OK(pthread_create(&thread, &attr, on_cpu, &one));
    check_join(thread);
    CHECK_EQ(pthread_attr_destroy(&attr), 0);
}

/* The program's keys for thread-specific data are the first ones. */
static void test_keys(void)
{
    pthread_key_t key;
    CHECK_RESULT(pthread_setspecific(0, values), EINVAL);
    CHECK_EQ(pthread_key_create(&key, NULL), 0);
    CHECK_EQ(key, 0);
}

int main(void)
{
    test_keys();
    test_many();
    int depth = 8;
    CHECK(check_join(check_spawn(nested, &depth)) == &depth);

    CHECK_EQ(sem_init(&stored, 0, 0), 0);
    CHECK_OK(pthread_create(&self_seen, NULL, compare_self, NULL));
    CHECK_EQ(sem_post(&stored), 0);
    check_join(self_seen);

    test_mask();
    test_stacks();
    test_detached();
    test_affinity();
    return 0;
}
