// One thread sleeps in a call that nobody intercepts, and the watchdog lets the others go on. It has none of the
// program's descriptors: what waited for some was found ready there, all of it. A select() that was asked then had lost
// its sets, and waited for nothing (fio with io_uring: a deadlock); a read() was made, and took the others along.
//
//     asked_blindly select|poll|read TIMER [SLEEP]
//         TIMER: ms until the timer goes off that they look at, too; 0: never
//         SLEEP: ms, in which the watchdog has to see it; default: 15
//
// RUN: pct run -g -s 1 -n 12 -- %p select 0
// RUN: pct run -g -s 1 -n 6 --sites -- %p select 20
// RUN: pct run -g -s 1 -n 6 --exec -S pct -- %p select 0
// RUN: pct run -g -s 1 -n 6 -S round-robin -- %p poll 20
// RUN: pct run -g -s 1 -n 6 -- %p read 0
// RUN: for i in 1 2 3 4; do PCT_SEED=$i PCT_TRACE=%t/trace LD_PRELOAD=$LIBPCT %p select 20 &&
//         pct replay %t/trace -- %p select 20 || exit; done
// RUN: for i in 1 2 3 4; do PCT_SEED=$i PCT_TRACE=%t/trace LD_PRELOAD=$LIBPCT %p read 0 400 &&
//         pct report %t/trace > %t/out && grep -q 'slept in system call 230' %t/out &&
//         ! grep -q 'slept in system call 0' %t/out || exit; done
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static int ends[2], timer;
static const char *how;
static long sleep_ms = 15;

// In the program's own code, as programs without liburing make theirs.
static void sleep_inline(void)
{
    const struct timespec length = { .tv_nsec = sleep_ms * 1000000 };
    register long rest __asm__("r10") = 0;
    long result;
    do { // a signal of pct's may meet it as it begins
        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "0"(SYS_clock_nanosleep), "D"(CLOCK_MONOTONIC), "S"(0), "d"(&length), "r"(rest)
                         : "rcx", "r11", "memory");
    } while (result == -EINTR);
    assert(!result);
}

static void take_expiration(void)
{
    unsigned long times;
    assert(read(timer, &times, sizeof times) == sizeof times && times == 1);
}

static void *wait_for_byte(void *unused)
{
    char byte = 0;
    if (!strcmp(how, "select")) {
        fd_set in, strange;
        FD_ZERO(&in);
        FD_ZERO(&strange);
        FD_SET(ends[0], &in);
        FD_SET(timer, &in);
        FD_SET(ends[0], &strange);
        assert(select((ends[0] > timer ? ends[0] : timer) + 1, &in, NULL, &strange, NULL) >= 1);
        assert(!FD_ISSET(ends[0], &strange) && (FD_ISSET(ends[0], &in) || FD_ISSET(timer, &in)));
        if (FD_ISSET(timer, &in))
            take_expiration();
    } else if (!strcmp(how, "poll")) {
        struct pollfd fds[] = { { .fd = ends[0], .events = POLLIN }, { .fd = timer, .events = POLLIN } };
        assert(poll(fds, 2, -1) >= 1);
        assert(!((fds[0].revents | fds[1].revents) & ~POLLIN));
        if (fds[1].revents)
            take_expiration();
    }
    assert(read(ends[0], &byte, 1) == 1 && byte == 'x');
    return unused;
}

static void *be_busy(void *unused)
{
    sleep_inline();
    sleep_inline();
    return unused;
}

int main(int count, char **arguments)
{
    pthread_t waiter, busy;
    assert(count == 3 || count == 4);
    if (count == 4)
        sleep_ms = atol(arguments[3]);
    how = arguments[1];
    const struct itimerspec when = { .it_value = { .tv_nsec = atoi(arguments[2]) * 1000000L } };
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    assert(!pipe(ends) && timer >= 0 && !timerfd_settime(timer, 0, &when, NULL));
    pthread_create(&waiter, NULL, wait_for_byte, NULL);
    pthread_create(&busy, NULL, be_busy, NULL);
    pthread_join(busy, NULL);
    assert(write(ends[1], "x", 1) == 1);
    pthread_join(waiter, NULL);
    return 0;
}
