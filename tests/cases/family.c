// Processes of one family agree by sleeping: several children wait for multiples of 0.3 s, each in its own way, and
// write a letter to a pipe. The letters must come in the order of the lengths. Each process had a time of its own, and
// they came in any order.
//
// Arguments: a seed, which draws the number of children, their order and their ways; and the number of one way for all.
//
// RUN: for i in {1..10} ${FULL:+$(seq 11 30)}; do LD_PRELOAD=$LIBPCT PCT_SEED=$i %p $i || exit; done
// RUN: for i in {0..19}; do LD_PRELOAD=$LIBPCT PCT_SEED=1 %p 5 $i || exit; done
// RUN: for s in $(pct strategies | grep -x '[a-z-]*' | grep -vx schedule); do pct run -q -s 1 -n 3 -S $s -- %p 7 ||
//     exit; done
// RUN: pct run -q -s 1 -n $((FULL ? 60 : 20)) -j 2 -- %p 8
// RUN: pct run -q -s 1 -t %t/trace -- %p 9 && pct replay -q %t/trace -- %p 9
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static sem_t *shared;
static mqd_t queue;
static volatile sig_atomic_t rang;

static void ring(int signal)
{
    rang = signal;
}

static struct timespec timespec_of(double s)
{
    return (struct timespec){ (time_t)s, (long)((s - (double)(time_t)s) * 1e9) };
}

static struct timeval timeval_of(double s)
{
    return (struct timeval){ (time_t)s, (long)((s - (double)(time_t)s) * 1e6) };
}

static struct timespec from_now(clockid_t clock, double s)
{
    struct timespec now, length = timespec_of(s);
    clock_gettime(clock, &now);
    now.tv_sec += length.tv_sec + (now.tv_nsec + length.tv_nsec) / 1000000000;
    now.tv_nsec = (now.tv_nsec + length.tv_nsec) % 1000000000;
    return now;
}

static sigset_t blocked(int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return set;
}

static void by_nanosleep(double s)
{
    struct timespec t = timespec_of(s);
    assert(!nanosleep(&t, NULL));
}

static void by_clock_nanosleep(double s)
{
    struct timespec t = from_now(CLOCK_MONOTONIC, s);
    assert(!clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL));
}

static void by_usleep(double s)
{
    for (int i = 0; i < 30; i++)
        usleep((useconds_t)(s * 1e6 / 30));
}

static void by_select(double s)
{
    struct timeval t = timeval_of(s);
    assert(!select(0, NULL, NULL, NULL, &t));
}

static void by_select_pipe(double s)
{
    struct timeval t = timeval_of(s);
    int ends[2];
    fd_set set;
    FD_ZERO(&set);
    assert(!pipe(ends));
    FD_SET(ends[0], &set);
    assert(!select(ends[0] + 1, &set, NULL, NULL, &t));
    close(ends[0]);
    close(ends[1]);
}

static void by_poll(double s)
{
    assert(!poll(NULL, 0, (int)(s * 1000)));
}

static void by_epoll(double s)
{
    struct epoll_event event;
    int epoll = epoll_create1(0);
    assert(!epoll_wait(epoll, &event, 1, (int)(s * 1000)));
    close(epoll);
}

static void by_setitimer(double s)
{
    struct itimerval t = { .it_value = timeval_of(s) };
    sigset_t set, open;
    sigprocmask(SIG_BLOCK, NULL, &open);
    set = blocked(SIGALRM);
    rang = 0;
    signal(SIGALRM, ring);
    setitimer(ITIMER_REAL, &t, NULL);
    sigdelset(&open, SIGALRM);
    while (!rang)
        sigsuspend(&open);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void by_sigwait(double s)
{
    struct itimerval t = { .it_value = timeval_of(s) };
    sigset_t set = blocked(SIGALRM);
    int taken;
    setitimer(ITIMER_REAL, &t, NULL);
    assert(!sigwait(&set, &taken));
}

static void by_timer(double s)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
    struct itimerspec t = { .it_value = timespec_of(s) };
    sigset_t set = blocked(SIGUSR2);
    timer_t timer;
    assert(!timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_settime(timer, 0, &t, NULL));
    assert(sigwaitinfo(&set, NULL) == SIGUSR2);
    timer_delete(timer);
}

static void by_timerfd(double s)
{
    struct itimerspec t = { .it_value = timespec_of(s) };
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    unsigned long times;
    timerfd_settime(timer, 0, &t, NULL);
    assert(read(timer, &times, sizeof times) == sizeof times);
    close(timer);
}

static void by_child(double s)
{
    pid_t pid = fork();
    if (pid == 0) {
        by_nanosleep(s);
        _exit(0);
    }
    assert(waitpid(pid, NULL, 0) == pid);
}

static void by_vfork(double s)
{
    char length[32];
    sprintf(length, "%f", s);
    pid_t pid = vfork();
    if (pid == 0) {
        execlp("sleep", "sleep", length, NULL);
        _exit(127);
    }
    assert(waitpid(pid, NULL, 0) == pid);
}

/* The second fork's parent is gone when its child sleeps. */
static void by_grandchild(double s)
{
    int ends[2];
    char byte;
    assert(!pipe(ends));
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() == 0) {
            by_nanosleep(s);
            assert(write(ends[1], "x", 1) == 1);
        }
        _exit(0);
    }
    assert(waitpid(pid, NULL, 0) == pid && read(ends[0], &byte, 1) == 1);
    close(ends[0]);
    close(ends[1]);
}

static void by_system(double s)
{
    char command[64];
    sprintf(command, "sleep %f", s);
    assert(!system(command));
}

static void by_popen(double s)
{
    char command[64];
    sprintf(command, "sleep %f; echo", s);
    FILE *file = popen(command, "r");
    assert(fgetc(file) == '\n' && !pclose(file));
}

/* These wait for what the world beyond the family could do, too, so they take real time. */

static void by_sigtimedwait(double s)
{
    struct timespec t = timespec_of(s);
    sigset_t set = blocked(SIGUSR2);
    assert(sigtimedwait(&set, NULL, &t) < 0 && errno == EAGAIN);
}

static void by_sem(double s)
{
    struct timespec t = from_now(CLOCK_REALTIME, s);
    assert(sem_timedwait(shared, &t) && errno == ETIMEDOUT);
}

static void by_queue(double s)
{
    struct timespec t = from_now(CLOCK_REALTIME, s);
    char text[8];
    assert(mq_timedreceive(queue, text, sizeof text, NULL, &t) < 0 && errno == ETIMEDOUT);
}

static void (*const ways[])(double) = {
    by_nanosleep, by_clock_nanosleep, by_usleep,  by_select, by_select_pipe, by_poll,         by_epoll,
    by_setitimer, by_sigwait,         by_timer,   by_child,  by_vfork,       by_grandchild,   by_timerfd,
    by_system,    by_popen,           by_timerfd, by_sem,    by_queue,       by_sigtimedwait,
};
enum { DRAWN = 16 };

int main(int argc, char **argv)
{
    unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    int fixed = argc > 2 ? atoi(argv[2]) : -1, order[6], way[6], ends[2];
    srand(seed);
    int count = 2 + rand() % 5;
    char name[32], got[8] = "";
    struct mq_attr size = { .mq_maxmsg = 1, .mq_msgsize = 8 };
    sprintf(name, "/family-%d", getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &size);
    mq_unlink(name);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(shared, 1, 0);
    assert(!pipe(ends));
    for (int i = 0; i < count; i++) {
        int j = rand() % (i + 1);
        order[i] = order[j];
        order[j] = i;
        way[i] = fixed >= 0 ? fixed : rand() % DRAWN;
    }
    for (int i = 0; i < count; i++) {
        int parts = 1 + rand() % 2;
        if (fork())
            continue;
        for (int part = 0; part < parts; part++)
            ways[way[i]](0.3 * (order[i] + 1) / parts);
        char letter = (char)('a' + order[i]);
        assert(write(ends[1], &letter, 1) == 1);
        _exit(0);
    }
    close(ends[1]);
    for (int i = 0; i < count; i++)
        assert(read(ends[0], &got[i], 1) == 1);
    while (wait(NULL) > 0)
        ;
    for (int i = 0; i < count; i++)
        if (got[i] != 'a' + i) {
            printf("seed %u: %s\n", seed, got);
            for (int k = 0; k < count; k++)
                printf("%c: way %d\n", 'a' + order[k], way[k]);
            return 1;
        }
    return 0;
}
