/* A timer descriptor that goes off each millisecond, and that nobody reads for long: a thread that sleeps, or waits for
 * another one with a deadline, goes on at its time. After ten thousand times it was called a livelock.
 *
 * RUN: %p 1
 * RUN: pct run -q -n 4 -s 1 --state none -- %p 25
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int seconds;

static void *wait_long(void *unused)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 2 * seconds;
    pthread_mutex_lock(&lock);
    while (!pthread_cond_timedwait(&never, &lock, &end))
        ;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv)
{
    const struct itimerspec each = { .it_value.tv_nsec = 1000000, .it_interval.tv_nsec = 1000000 };
    pthread_t thread;
    uint64_t count = 0;
    seconds = argc > 1 ? atoi(argv[1]) : 1;
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    if (timerfd_settime(fd, 0, &each, NULL))
        return 1;
    pthread_create(&thread, NULL, wait_long, NULL);
    if (sleep((unsigned)seconds))
        return 2;
    if (read(fd, &count, sizeof count) != sizeof count || count < 900 * (uint64_t)seconds)
        return 3;
    pthread_join(thread, NULL);
    return 0;
}
