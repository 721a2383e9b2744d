// A thread that yields until a timer of processor time goes off is no livelock, however many steps that takes: timers
// of the process, of the kernel's by timer_create, and the limit whose signal is handled. A real one still is.
//
// RUN: for timer in prof posix limit; do pct run -q -n 1 -s 1 --timeout 15 --state none -- %p $timer || exit; done
// RUN: pct run -n 1 -s 1 --timeout 15 --state none -- %p virtual > %t/log 2>&1 && grep -q 'from outside' %t/log
// RUN: { pct run -q -n 1 -s 1 --timeout 15 --state none -- %p none || :; } 2>&1 |
//     grep -q 'livelock: for a million steps'
#include <assert.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

static volatile sig_atomic_t over;

static void end(int signal)
{
    (void)signal;
    over = 1;
}

static void arm(const char *which)
{
    const int seconds = strcmp(which, "virtual") ? 1 : 2; /* a million steps take about half of one */
    const struct itimerval later = { .it_value = { .tv_sec = seconds } };
    if (!strcmp(which, "virtual")) {
        assert(signal(SIGVTALRM, end) != SIG_ERR && !setitimer(ITIMER_VIRTUAL, &later, NULL));
    } else if (!strcmp(which, "prof")) {
        assert(signal(SIGPROF, end) != SIG_ERR && !setitimer(ITIMER_PROF, &later, NULL));
    } else if (!strcmp(which, "limit")) {
        const struct rlimit limit = { (rlim_t)seconds, RLIM_INFINITY };
        assert(signal(SIGXCPU, end) != SIG_ERR && !setrlimit(RLIMIT_CPU, &limit));
    } else if (strcmp(which, "none") != 0) {
        timer_t timer;
        struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
        const struct itimerspec spec = { .it_value = { .tv_sec = seconds } };
        assert(signal(SIGUSR1, end) != SIG_ERR && !timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer));
        assert(!timer_settime(timer, 0, &spec, NULL));
    }
}

int main(int argc, char **argv)
{
    assert(argc == 2);
    arm(argv[1]);
    while (!over)
        sched_yield();
    return 0;
}
