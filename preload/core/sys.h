/* System calls without libc: no errno, no cancellation point, nothing that the target may have replaced.
 * Results are the kernel's: negative errno on failure. Safe everywhere, also in signal handlers. */
#ifndef PCT_PRELOAD_SYS_H
#define PCT_PRELOAD_SYS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>

static inline long pct_sys(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#define PCT_SYS0(nr) pct_sys(nr, 0, 0, 0, 0, 0, 0)
#define PCT_SYS1(nr, a) pct_sys(nr, (long)(a), 0, 0, 0, 0, 0)
#define PCT_SYS2(nr, a, b) pct_sys(nr, (long)(a), (long)(b), 0, 0, 0, 0)
#define PCT_SYS3(nr, a, b, c) pct_sys(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define PCT_SYS4(nr, a, b, c, d) pct_sys(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define PCT_SYS6(nr, a, b, c, d, e, f) pct_sys(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

enum { PCT_FUTEX_WAIT_SHARED = 0, PCT_FUTEX_WAIT = 128, PCT_FUTEX_WAKE = 129 };

/* timeout: relative, NULL for none. */
static inline long pct_futex_wait(const uint32_t *word, uint32_t value, const struct timespec *timeout)
{
    return PCT_SYS4(SYS_futex, word, PCT_FUTEX_WAIT, value, timeout);
}

static inline void pct_futex_wake(uint32_t *word, int count)
{
    PCT_SYS3(SYS_futex, word, PCT_FUTEX_WAKE, count);
}

/* The kernel does not say, because a sandbox keeps it from that; not: because the question was wrong. */
static inline bool pct_refused(long result)
{
    return result == -EPERM || result == -EACCES || result == -ENOSYS;
}

/* poll() that does not wait. Even that fails with EINTR while a signal is pending: one that the program must not see,
 * such as the watchdog's, or one that waits for its turn. */
static inline long pct_poll_now(struct pollfd *fds, uint64_t count)
{
    long ready;
    do
        ready = PCT_SYS3(SYS_poll, fds, count, 0);
    while (ready == -EINTR);
    return ready;
}

/* Whether this process is the one with that id. A sandbox that does not tell leaves it to be. */
static inline bool pct_is_process(int pid)
{
    long now = PCT_SYS0(SYS_getpid);
    return now == pid || pct_refused(now);
}

#endif
