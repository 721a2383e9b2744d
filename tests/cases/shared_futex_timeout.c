// A wait for a futex that processes share, until a point in time: in the kernel, which was given the program's clock
// for its own. On a machine that had been up for less than a day it waited for hours, on another one not at all.
//
// RUN: %p
// RUN: pct run -q -s 1 -n 3 --timeout 20 -- %p
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static unsigned *word, *other, *lock; /* in memory that a child has, too */

static struct timespec in_ms(clockid_t clock, long ms)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void check(long result, clockid_t clock, const struct timespec *until)
{
    struct timespec now;
    clock_gettime(clock, &now);
    assert(result == -1 && errno == ETIMEDOUT);
    assert(now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec));
}

static void *lock_it(void *unused)
{
    struct timespec until = in_ms(CLOCK_REALTIME, 2);
    check(syscall(SYS_futex, lock, FUTEX_LOCK_PI, 0, &until, NULL, 0), CLOCK_REALTIME, &until);
    return unused;
}

int main(void)
{
    const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME };
    pthread_t thread;
    word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    other = word + 1;
    lock = word + 2;
    for (int i = 0; i < 2; i++) {
        int flag = i ? FUTEX_CLOCK_REALTIME : 0;
        struct futex_waitv wait = { .uaddr = (uintptr_t)word, .flags = FUTEX_32 };
        struct timespec until = in_ms(clocks[i], 2);
        check(syscall(SYS_futex, word, FUTEX_WAIT_BITSET | flag, 0, &until, NULL, 1), clocks[i], &until);
        until = in_ms(clocks[i], 2);
        check(syscall(SYS_futex_waitv, &wait, 1, 0, &until, clocks[i]), clocks[i], &until);
        until = in_ms(clocks[i], 2);
        check(syscall(SYS_futex, word, FUTEX_WAIT_REQUEUE_PI | flag, 0, &until, other, 0), clocks[i], &until);
    }
    assert(!syscall(SYS_futex, lock, FUTEX_LOCK_PI, 0, NULL, NULL, 0));
    pthread_create(&thread, NULL, lock_it, NULL);
    pthread_join(thread, NULL);
    assert(!syscall(SYS_futex, lock, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0));
    return 0;
}
