/* What the programs of this directory have in common: a shared variable whose every access is a scheduling point,
 * threads that start or end the program, and local work. Included by each program here and in bench/paper.
 *
 * Why the locks: the papers instrument memory accesses, so that a scheduler can switch threads before any of them.
 * pct switches before calls of intercepted functions. A lock around each single access stands for the
 * instrumentation: it makes the access a scheduling point (and a defined one in C, instead of a data race), and it
 * changes nothing about the bugs, which are about the order of accesses or the atomicity of two of them. The lock is
 * never held across two accesses, and no other lock is taken while it is held, so it can neither repair a bug nor
 * cause a deadlock.
 *
 * A failed assertion means that the program's bug has shown, and only that; what goes wrong outside the bug (no
 * memory for a thread, a wrong argument) ends the program with SETUP_FAILED or USAGE_ERROR instead. */
#ifndef PCT_BENCH_BUGS_SHARED_H
#define PCT_BENCH_BUGS_SHARED_H

#ifdef NDEBUG
#error "the assertions are how these programs fail: do not compile them out"
#endif

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { USAGE_ERROR = 2, SETUP_FAILED = 3 };

/* An int that threads share. */
struct shared_int {
    pthread_mutex_t guard;
    int value;
};

#define SHARED_INT(initial)                                                                                            \
    {                                                                                                                  \
        PTHREAD_MUTEX_INITIALIZER, (initial)                                                                           \
    }

/* One read. Returns the value. */
static inline int shared_read(struct shared_int *shared)
{
    pthread_mutex_lock(&shared->guard);
    int value = shared->value;
    pthread_mutex_unlock(&shared->guard);
    return value;
}

/* One write. */
static inline void shared_write(struct shared_int *shared, int value)
{
    pthread_mutex_lock(&shared->guard);
    shared->value = value;
    pthread_mutex_unlock(&shared->guard);
}

/* One atomic addition (an atomic instruction in the original). Returns the value after it. */
static inline int shared_add(struct shared_int *shared, int amount)
{
    pthread_mutex_lock(&shared->guard);
    int value = shared->value += amount;
    pthread_mutex_unlock(&shared->guard);
    return value;
}

/* A pointer that threads share. */
struct shared_pointer {
    pthread_mutex_t guard;
    void *value;
};

#define SHARED_POINTER(initial)                                                                                        \
    {                                                                                                                  \
        PTHREAD_MUTEX_INITIALIZER, (initial)                                                                           \
    }

/* One read. Returns the pointer. */
static inline void *shared_load(struct shared_pointer *shared)
{
    pthread_mutex_lock(&shared->guard);
    void *value = shared->value;
    pthread_mutex_unlock(&shared->guard);
    return value;
}

/* One write. */
static inline void shared_store(struct shared_pointer *shared, void *value)
{
    pthread_mutex_lock(&shared->guard);
    shared->value = value;
    pthread_mutex_unlock(&shared->guard);
}

/* Ends the program for a reason that is not its bug, given by the error number of a pthread function. */
static inline void setup_check(int error, const char *what)
{
    if (error != 0) {
        fprintf(stderr, "%s: %s\n", what, strerror(error));
        exit(SETUP_FAILED);
    }
}

/* Starts a thread that runs routine(argument). */
static inline pthread_t thread_start(void *(*routine)(void *), void *argument)
{
    pthread_t thread;
    setup_check(pthread_create(&thread, NULL, routine, argument), "cannot start a thread");
    return thread;
}

/* Waits until the thread has finished. */
static inline void thread_join(pthread_t thread)
{
    setup_check(pthread_join(thread, NULL), "cannot join a thread");
}

/* What a real program does besides synchronising: `rounds` times, some microseconds of computing (nothing depends on
 * how many) after which the thread gives up the processor, as if it had read a file. It is why the bugs seldom show
 * natively, on a loaded machine too: the thread that has to lose the race takes its time. For pct it is nothing at
 * all: it touches nothing shared, and the yield is made by the instruction, which pct does not see, since sched_yield()
 * would be a scheduling point and would count as a spin, by its number too. */
static inline void local_work(unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++) {
        for (volatile unsigned i = 0; i < 2000u; i++) {
        }
        long result;
        __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_sched_yield) : "rcx", "r11", "memory");
    }
}

/* A numeric argument of the program: argv[index], or fallback if it was not given. Ends the program if it is not a
 * whole number from min to max. */
static inline int argument(int argc, char **argv, int index, int fallback, int min, int max)
{
    if (index >= argc)
        return fallback;
    char *end;
    long value = strtol(argv[index], &end, 10);
    if (end == argv[index] || *end != '\0' || value < min || value > max) {
        fprintf(stderr, "%s: argument %d must be a whole number from %d to %d\n", argv[0], index, min, max);
        exit(USAGE_ERROR);
    }
    return (int)value;
}

#endif
