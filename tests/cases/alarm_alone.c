// The only thread of a process waits in a loop without a call for its alarm, a timer or an interval timer: each comes,
// whether the loop only looks or computes; likewise beside a thread that waits. What watches for that is no thread.
//
// RUN: for t in alarm itimer timer computes; do pct run -q -s 1 -n 3 --state none -- %p $t || exit; done
// RUN: LD_PRELOAD=$LIBPCT PCT_SEED=1 %p alarm
// RUN: pct run -q -s 1 --state none -t %t/trace -- %p itimer && pct replay -q %t/trace -- %p itimer
// RUN: pct run -q -s 1 --state none -t %t/trace -- %p computes && pct replay -q %t/trace -- %p computes
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t times;

static void count(int signal)
{
    (void)signal;
    times++;
}

static void arm(const char *which)
{
    const struct itimerval often = { .it_value = { .tv_sec = 1 }, .it_interval = { .tv_usec = 100000 } };
    const struct itimerval soon = { .it_value = { .tv_usec = 150000 } };
    const struct itimerspec later = { .it_value = { .tv_sec = 1 } };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
    timer_t timer;
    if (!strcmp(which, "alarm"))
        assert(!alarm(1));
    else if (!strcmp(which, "computes"))
        assert(!setitimer(ITIMER_REAL, &soon, NULL));
    else if (!strcmp(which, "itimer"))
        assert(!setitimer(ITIMER_REAL, &often, NULL));
    else
        assert(!timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_settime(timer, 0, &later, NULL));
}

static void spin(const char *which)
{
    const int wanted = !strcmp(which, "itimer") ? 3 : 1;
    const uint64_t most = !strcmp(which, "computes") ? 1000 : 0;
    static volatile uint64_t result;
    times = 0;
    arm(which);
    while (times < wanted) {
        uint64_t value = result;
        for (uint64_t i = 0; i < most; i++)
            value = value * 6364136223846793005 + 1442695040888963407;
        if (most)
            result = value;
    }
    if (wanted > 1)
        assert(!setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL));
}

static void *nothing(void *unused)
{
    return unused;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *wait_mutex(void *unused)
{
    assert(!pthread_mutex_lock(&mutex) && !pthread_mutex_unlock(&mutex));
    return unused;
}

int main(int argc, char **argv)
{
    int status;
    pthread_t thread;
    assert(argc == 2 && signal(SIGALRM, count) != SIG_ERR);
    spin(argv[1]);
    pid_t child = fork();
    if (!child) {
        spin(argv[1]);
        alarm(100);
        _exit(unshare(CLONE_NEWUSER) && errno == EINVAL); /* for a process of several threads */
    }
    assert(waitpid(child, &status, 0) == child && !status);
    /* libc takes the signal that the watchdog asks with for its own. */
    assert(!pthread_create(&thread, NULL, nothing, NULL) && !pthread_join(thread, NULL) && !setuid(getuid()));
    assert(!pthread_mutex_lock(&mutex) && !pthread_create(&thread, NULL, wait_mutex, NULL));
    spin(argv[1]);
    assert(!pthread_mutex_unlock(&mutex) && !pthread_join(thread, NULL));
    return 0;
}
