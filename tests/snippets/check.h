/* Assertions and clocks for the snippets: the only thing that they share, besides child.h and nag.h. For C and for C++.
 *
 * A snippet prints nothing and ends with status 0, or prints one line (file:line, what was expected, what came) on
 * standard error and ends with status 1. It must pass under every interleaving of its threads, and with virtual time:
 *  - it asserts what POSIX, C11 or C++ promise, never that another thread "must have got there by now";
 *  - it measures time with the clock that it waits by, and checks lower bounds only.
 */
#ifndef PCT_TESTS_CHECK_H
#define PCT_TESTS_CHECK_H

#include <errno.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* No error has this number: a call that leaves errno alone leaves this. */
#define CHECK_ERRNO 4242

/* _exit and not exit: a failed snippet must not go on to wait for its other threads, or run its handlers. */
__attribute__((noreturn)) static inline void check_failed(const char *file, int line, const char *expected,
                                                          long long value)
{
    fprintf(stderr, "%s:%d: expected %s, got %lld (in thread %d)\n", file, line, expected, value, (int)gettid());
    _exit(1);
}

/* The condition holds. */
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            check_failed(__FILE__, __LINE__, #condition, 0);                                                           \
    } while (0)

/* Two integers are equal. */
#define CHECK_EQ(actual, expected)                                                                                     \
    do {                                                                                                               \
        long long check_actual = (long long)(actual), check_expected = (long long)(expected);                          \
        if (check_actual != check_expected)                                                                            \
            check_failed(__FILE__, __LINE__, #actual " == " #expected, check_actual);                                  \
    } while (0)

/* A function returns this value (an error number, mostly), and leaves errno alone. */
#define CHECK_RESULT(call, result)                                                                                     \
    do {                                                                                                               \
        errno = CHECK_ERRNO;                                                                                           \
        long long check_value = (long long)(call);                                                                     \
        int check_errno = errno;                                                                                       \
        if (check_value != (long long)(result))                                                                        \
            check_failed(__FILE__, __LINE__, #call " == " #result, check_value);                                       \
        if (check_errno != CHECK_ERRNO)                                                                                \
            check_failed(__FILE__, __LINE__, "errno left alone by " #call, check_errno);                               \
    } while (0)

/* A function returns 0 and leaves errno alone. */
#define CHECK_OK(call) CHECK_RESULT(call, 0)

/* A function returns -1 and sets errno to this error. */
#define CHECK_FAILS(call, error)                                                                                       \
    do {                                                                                                               \
        errno = CHECK_ERRNO;                                                                                           \
        long long check_result = (long long)(call);                                                                    \
        int check_errno = errno;                                                                                       \
        if (check_result != -1)                                                                                        \
            check_failed(__FILE__, __LINE__, #call " == -1", check_result);                                            \
        if (check_errno != (error))                                                                                    \
            check_failed(__FILE__, __LINE__, "errno " #error " from " #call, check_errno);                             \
    } while (0)

/* Nanoseconds on this clock. */
static inline int64_t check_now(clockid_t clock)
{
    struct timespec now;
    CHECK(clock_gettime(clock, &now) == 0);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline struct timespec check_timespec(int64_t nanoseconds)
{
    struct timespec t;
    t.tv_sec = (time_t)(nanoseconds / 1000000000);
    t.tv_nsec = (long)(nanoseconds % 1000000000);
    return t;
}

/* The time on this clock this many milliseconds from now; negative: in the past. */
static inline struct timespec check_in_ms(clockid_t clock, int64_t milliseconds)
{
    return check_timespec(check_now(clock) + milliseconds * 1000000);
}

/* Whether this clock has reached a deadline. */
static inline bool check_reached(clockid_t clock, const struct timespec *deadline)
{
    return check_now(clock) >= (int64_t)deadline->tv_sec * 1000000000 + deadline->tv_nsec;
}

/* glibc 2.N's N: for what only newer ones have or do. */
static inline int check_libc_minor(void)
{
    return atoi(gnu_get_libc_version() + 2);
}

/* Start a thread that is not itself what the snippet is about. */
static inline pthread_t check_spawn(void *(*start)(void *), void *argument)
{
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, start, argument), 0);
    return thread;
}

static inline void *check_join(pthread_t thread)
{
    void *result = NULL;
    CHECK_EQ(pthread_join(thread, &result), 0);
    return result;
}

#endif
