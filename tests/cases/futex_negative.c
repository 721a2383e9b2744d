/* A deadline with negative seconds is an error to the kernel's futexes; pct took it for one that has passed.
 * RUN: pct run -q -n 1 -s 1 -- %p
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

int main(void)
{
    static uint32_t word;
    struct timespec when = { .tv_sec = -1 };
    struct futex_waitv words = { .uaddr = (uintptr_t)&word, .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG };
    if (syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &when, NULL, ~0u) != -1 || errno != EINVAL)
        return 1;
    if (syscall(SYS_futex_waitv, &words, 1, 0, &when, CLOCK_MONOTONIC) != -1 || (errno != EINVAL && errno != ENOSYS))
        return 2;
    return 0;
}
