/* A thread that polls, by sleeps of a few microseconds, while all others sleep: the kernel was asked at each for
 * threads that pct does not know, which took three times what else a poll does. One of them takes less processor time
 * than that question.
 *
 * RUN: pct run -q -n 2 -s 1 --state none -- %p
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

enum { ROUNDS = 5, QUESTIONS = 5000 };

static atomic_int over;
static double poll_ns = 1e9, question_ns = 1e9; /* the least of all rounds */

/* Which pct does not see: the clock that it shows is a virtual one. */
static long call(long number, const void *first, const void *second)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(first), "S"(second) : "rcx", "r11", "memory");
    return result;
}

static double used(void)
{
    struct timespec now = { 0 };
    call(SYS_clock_gettime, (const void *)CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void *poll_and_sleep(void *unused)
{
    const struct timespec moment = { .tv_nsec = 10000 };
    long polls = 0;
    const double began = used();
    while (!atomic_load(&over)) {
        nanosleep(&moment, NULL);
        polls++;
    }
    poll_ns = least(poll_ns, (used() - began) / (double)polls);
    return unused;
}

int main(void)
{
    const struct timespec time = { .tv_nsec = 100000000 };
    for (int round = 0; round < ROUNDS; round++) {
        struct stat status;
        const double began = used();
        for (int i = 0; i < QUESTIONS; i++)
            assert(!call(SYS_stat, "/proc/self/task", &status));
        question_ns = least(question_ns, (used() - began) / QUESTIONS);
        pthread_t thread;
        atomic_store(&over, 0);
        assert(!pthread_create(&thread, NULL, poll_and_sleep, NULL));
        assert(!nanosleep(&time, NULL));
        atomic_store(&over, 1);
        assert(!pthread_join(thread, NULL));
    }
    assert(poll_ns < question_ns);
    return 0;
}
