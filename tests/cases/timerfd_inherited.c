/* A timer descriptor is the child's of a fork, too, and the program's that a process becomes: it goes off there,
 * whoever armed it, and once for all who have it; also when the process that armed it is no more.
 *
 * RUN: %p
 * RUN: for s in {1..20}; do pct run -q -s $s --timeout 20 --slack 0 -- %p || exit 1; done
 * RUN: for s in {1..5}; do pct run -q -s $s --timeout 20 -S random-walk --slack 0 -- %p || exit 1; done
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition) ((condition) ? (void)0 : (fprintf(stderr, "line %d: %s\n", __LINE__, #condition), _exit(1)))

static const struct itimerspec soon = { .it_value.tv_nsec = 50000000 },
                               often = { .it_value.tv_nsec = 50000000, .it_interval.tv_nsec = 50000000 };

static void *nap(void *unused)
{
    usleep(1000);
    return unused;
}

/* Threads make the process one that pct schedules. */
static void be_threaded(void)
{
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, nap, NULL));
    pthread_join(thread, NULL);
}

static int timer(const struct itimerspec *when)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    CHECK(fd >= 0 && !timerfd_settime(fd, 0, when, NULL));
    return fd;
}

static uint64_t expirations(int fd)
{
    uint64_t count = 0;
    CHECK(read(fd, &count, sizeof count) == sizeof count);
    return count;
}

static bool comes(int fd, int ms)
{
    struct pollfd asked = { fd, POLLIN, 0 };
    return poll(&asked, 1, ms) == 1;
}

static void wait_for(pid_t child)
{
    int status;
    CHECK(waitpid(child, &status, 0) == child && !status);
}

/* The child reads one, asks for the other, and arms a third, which its parent waits for. */
static void shared(void)
{
    int read_there = timer(&soon), read_here = timer(&soon), armed_there = timerfd_create(CLOCK_MONOTONIC, 0);
    pid_t child = fork();
    if (!child) {
        struct itimerspec left;
        CHECK(!timerfd_gettime(read_here, &left) && left.it_value.tv_nsec > 0);
        be_threaded();
        CHECK(expirations(read_there) == 1);
        CHECK(expirations(timer(&soon)) == 1);
        CHECK(!timerfd_settime(armed_there, 0, &soon, NULL));
        _exit(0);
    }
    wait_for(child);
    CHECK(comes(armed_there, 2000) && expirations(armed_there) == 1);
    CHECK(expirations(read_here) == 1);
    CHECK(!comes(read_there, 200));
    close(read_there), close(read_here), close(armed_there);
}

/* The process that has armed it ends before it goes off. */
static void outlived(void)
{
    int ends[2];
    char done;
    CHECK(!pipe(ends));
    pid_t armer = fork();
    if (!armer) {
        int fd = timer(&often);
        if (fork())
            _exit(0);
        be_threaded();
        CHECK(expirations(fd) >= 1 && expirations(fd) >= 1);
        CHECK(write(ends[1], "d", 1) == 1);
        _exit(0);
    }
    wait_for(armer);
    close(ends[1]);
    CHECK(read(ends[0], &done, 1) == 1);
    close(ends[0]);
}

static void become(const char *path)
{
    char name[16];
    pid_t child = fork();
    if (!child) {
        snprintf(name, sizeof name, "%d", timer(&often));
        execl("/nowhere", path, NULL);
        execl(path, path, name, NULL);
        _exit(2);
    }
    wait_for(child);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        be_threaded();
        return expirations(atoi(argv[1])) < 1 || expirations(atoi(argv[1])) < 1;
    }
    be_threaded();
    shared();
    outlived();
    become(argv[0]);
    return 0;
}
