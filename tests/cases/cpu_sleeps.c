/* Who sleeps or waits uses no CPU time: the clocks of that went on with virtual time, a second for a sleep of a second,
 * and programs that look whether their waits spin were said to fail. Time that the CPU clock is waited for has passed
 * there, also by the clock's own number.
 *
 * RUN: %p
 * RUN: pct run -q -n 20 -s 1 --state none -- %p
 * RUN: pct run -q -n 5 -s 1 --exec --slack=1s --state none -- %p && pct run -q -n 5 -s 1 --engine=restore -- %p
 * RUN: pct run -n 1 -s 2 -S pos --state none -t %t/trace -- %p show > %t/one &&
 *     pct replay -q %t/trace -- %p show > %t/two; cmp %t/one %t/two && test -s %t/one
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static volatile int over;

static void *sleep_too(void *unused)
{
    usleep(700000);
    return unused;
}

static void *work(void *unused)
{
    while (!over) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static long long read_ns(clockid_t clock)
{
    struct timespec now;
    assert(!clock_gettime(clock, &now));
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long long rusage_ns(void)
{
    struct rusage used;
    assert(!getrusage(RUSAGE_SELF, &used));
    return used.ru_utime.tv_sec * 1000000000LL + used.ru_utime.tv_usec * 1000LL;
}

static void wait_long(void)
{
    const struct timespec late = { .tv_sec = time(NULL) + 2 };
    pthread_t thread;
    assert(!pthread_create(&thread, NULL, sleep_too, NULL));
    sleep(1);
    poll(NULL, 0, 500);
    assert(!pthread_join(thread, NULL));
    pthread_mutex_lock(&mutex);
    while (pthread_cond_timedwait(&cond, &mutex, &late) != ETIMEDOUT)
        continue;
    pthread_mutex_unlock(&mutex);
}

int main(int argc, char **argv)
{
    const clockid_t clocks[] = { CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID };
    const struct timespec little = { .tv_nsec = 20000 };
    enum { MUCH = 200000000 };
    long long before[2], used = rusage_ns();
    struct tms ticks, later;
    clock_t ticked = clock();
    (void)argv;
    for (int i = 0; i < 2; i++)
        before[i] = read_ns(clocks[i]);
    times(&ticks);
    wait_long();
    for (int i = 0; i < 2; i++)
        assert(read_ns(clocks[i]) >= before[i] && read_ns(clocks[i]) - before[i] < MUCH);
    times(&later);
    assert(later.tms_utime - ticks.tms_utime < 20 && clock() - ticked < CLOCKS_PER_SEC / 5);
    assert(rusage_ns() - used < MUCH);

    pid_t child = fork();
    if (!child)
        _exit(read_ns(CLOCK_PROCESS_CPUTIME_ID) > MUCH);
    int status;
    assert(waitpid(child, &status, 0) == child && !status);

    clockid_t own;
    pthread_t thread;
    assert(!clock_getcpuclockid(0, &own) && !pthread_create(&thread, NULL, work, NULL));
    for (int absolute = 0; absolute < 2; absolute++)
        for (int i = 0; i < 2; i++) {
            const long long begin = read_ns(own), end = begin + little.tv_nsec;
            const struct timespec until = { end / 1000000000, end % 1000000000 };
            assert(!clock_nanosleep(i ? own : CLOCK_PROCESS_CPUTIME_ID, absolute ? TIMER_ABSTIME : 0,
                                    absolute ? &until : &little, NULL));
            assert(read_ns(own) >= end);
        }
    over = 1;
    pthread_join(thread, NULL);
    if (argc > 1)
        printf("%lld %lld\n", read_ns(clocks[0]), read_ns(clocks[1]));
    return 0;
}
