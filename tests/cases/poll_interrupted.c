// A call that does not wait is not interrupted, though signals keep coming while it is in the kernel. There, one that
// is pending makes poll() and select() fail with EINTR even without a timeout; the program must not see that of the
// watchdog's signals, nor of its own, whose handlers run at scheduling points.
//
// RUN: pct run -s 1 -n 3 -S random-walk --state none -- %p
// RUN: pct run -s 1 -n 3 -S pct,depth=2,k=1000 --state none -- %p
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void note(int signal)
{
    (void)signal;
    signals++;
}

/* The timer of the kernel, in real time: a call of libc's would make a virtual one. */
static void start_timer(long microseconds)
{
    const struct itimerval often = { { 0, microseconds }, { 0, microseconds } };
    long result = SYS_setitimer;
    __asm__ volatile("syscall" : "+a"(result) : "D"((long)ITIMER_REAL), "S"(&often), "d"(0L) : "rcx", "r11", "memory");
    assert(!result);
}

int main(void)
{
    const struct sigaction action = { .sa_handler = note };
    int pipes[2];
    assert(!sigaction(SIGALRM, &action, NULL) && !pipe(pipes));
    start_timer(200);
    while (signals < 500) {
        struct pollfd asked = { .fd = pipes[0], .events = POLLIN };
        struct timeval none = { 0, 0 };
        fd_set set;
        FD_ZERO(&set);
        FD_SET(pipes[0], &set);
        assert(poll(&asked, 1, 0) == 0);
        assert(select(pipes[0] + 1, &set, NULL, NULL, &none) == 0);
    }
    start_timer(0);
    return 0;
}
