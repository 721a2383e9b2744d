/* What a process has learned of who touches what is not its child's: a location that two threads of the parent share is
 * one thread's own in the child, and no scheduling point there. Each point takes virtual time, which the child asks
 * for.
 *
 * RUN: pct-cc -O1 -g -pthread -o %t/p %s && pct run -q -s 1 -n 5 -S random-walk -- %t/p
 * RUN: pct run -q -s 1 -n 5 -S random-walk --memory=globals -- %p
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 1000, LEAST_NS = 10 };

static volatile int location, other;

static void check(int fine)
{
    if (!fine)
        abort();
}

static void *touch(void *what)
{
    for (int i = 0; i < TIMES; i++) {
        sched_yield();
        *(volatile int *)what = i;
    }
    return NULL;
}

/* Nanoseconds that this many threads take. */
static long take(int count, volatile int *what)
{
    pthread_t threads[2];
    struct timespec begin, end;
    check(!clock_gettime(CLOCK_MONOTONIC, &begin));
    for (int i = 0; i < count; i++)
        check(!pthread_create(&threads[i], NULL, touch, (void *)what));
    for (int i = 0; i < count; i++)
        check(!pthread_join(threads[i], NULL));
    check(!clock_gettime(CLOCK_MONOTONIC, &end));
    return (end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec;
}

int main(void)
{
    int status;
    take(2, &location);
    pid_t child = fork();
    if (!child)
        _exit(take(1, &location) - take(1, &other) > TIMES * LEAST_NS);
    check(waitpid(child, &status, 0) == child);
    return !WIFEXITED(status) || WEXITSTATUS(status);
}
