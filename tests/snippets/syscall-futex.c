/* syscall: the less common futexes: WAKE_OP, the locks with priority inheritance, waiting for several at once. */
/* tests: syscall */
/* ops: FUTEX_WAIT FUTEX_WOKEN FUTEX_WAKE */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>

enum { THREADS = 3, ROUNDS = 20 };

static uint32_t first, second;
static int flags; /* FUTEX_PRIVATE_FLAG or 0 */
static long counter;

static long futex(uint32_t *at, int op, uint32_t value, const void *timeout, uint32_t *other, uint32_t encoded)
{
    return syscall(SYS_futex, at, op | flags, value, timeout, other, encoded);
}

static void *wait_on(void *word)
{
    CHECK_OK(futex((uint32_t *)word, FUTEX_WAIT, *(volatile uint32_t *)word, NULL, NULL, 0));
    return NULL;
}

static void test_wake_op(void)
{
    static const struct {
        uint32_t encoded, before, after;
        int wakes; /* one on the second word */
    } cases[] = {
        { FUTEX_OP(FUTEX_OP_SET, 7, FUTEX_OP_CMP_EQ, 1), 1, 7, 1 },
        { FUTEX_OP(FUTEX_OP_SET, 7, FUTEX_OP_CMP_EQ, 2), 1, 7, 0 },
        { FUTEX_OP(FUTEX_OP_ADD, -1, FUTEX_OP_CMP_NE, 1), 5, 4, 1 },
        { FUTEX_OP(FUTEX_OP_OR, 6, FUTEX_OP_CMP_LT, -1), 1, 7, 0 },
        { FUTEX_OP(FUTEX_OP_ANDN, 3, FUTEX_OP_CMP_LE, 7), 7, 4, 1 },
        { FUTEX_OP(FUTEX_OP_XOR, 5, FUTEX_OP_CMP_GT, 0), 1, 4, 1 },
        { FUTEX_OP((FUTEX_OP_SET | FUTEX_OP_OPARG_SHIFT), 4, FUTEX_OP_CMP_GE, 1), 0, 16, 0 },
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        second = cases[i].before;
        CHECK_OK(futex(&first, FUTEX_WAKE_OP, 1, (void *)1, &second, cases[i].encoded));
        CHECK_EQ(second, cases[i].after);
    }
    CHECK_FAILS(futex(&first, FUTEX_WAKE_OP, 1, (void *)1, &second, FUTEX_OP(6, 0, 0, 0)), ENOSYS);
    CHECK_FAILS(futex(&first, FUTEX_WAKE_OP, 1, (void *)1, (uint32_t *)((char *)&second + 2), 0), EINVAL);
    CHECK_FAILS(futex(&first, FUTEX_WAKE_OP, 1, (void *)1, (uint32_t *)8, 0), EFAULT);

    first = second = 0;
    pthread_t one = check_spawn(wait_on, &first), two = check_spawn(wait_on, &second);
    /* Both values are left as they are; a thread that has not got to its wait yet is woken by a later round. */
    for (long woken = 0; woken < 2; sched_yield()) {
        long result =
            futex(&first, FUTEX_WAKE_OP, 1, (void *)1, &second, FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0));
        CHECK(result >= 0 && result <= 2);
        woken += result;
    }
    check_join(one);
    check_join(two);
}

static void *count_locked(void *op)
{
    uint32_t tid = (uint32_t)gettid(), none;
    for (int i = 0; i < ROUNDS; i++) {
        none = 0;
        if (!__atomic_compare_exchange_n(&first, &none, tid, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            CHECK_OK(futex(&first, *(int *)op, 0, NULL, NULL, 0));
        CHECK_EQ(first & FUTEX_TID_MASK, tid);
        long seen = counter;
        sched_yield();
        counter = seen + 1;
        uint32_t mine = tid;
        if (!__atomic_compare_exchange_n(&first, &mine, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            CHECK_OK(futex(&first, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0));
    }
    return NULL;
}

static void *try_taken(void *unused)
{
    (void)unused;
    CHECK_FAILS(futex(&first, FUTEX_TRYLOCK_PI, 0, NULL, NULL, 0), EAGAIN);
    struct timespec when = check_in_ms(CLOCK_REALTIME, 5);
    CHECK_FAILS(futex(&first, FUTEX_LOCK_PI, 0, &when, NULL, 0), ETIMEDOUT);
    CHECK(check_reached(CLOCK_REALTIME, &when));
    when = check_in_ms(CLOCK_MONOTONIC, 5);
    CHECK_FAILS(futex(&first, FUTEX_LOCK_PI2, 0, &when, NULL, 0), ETIMEDOUT);
    CHECK(check_reached(CLOCK_MONOTONIC, &when));
    CHECK_FAILS(futex(&first, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0), EPERM);
    return NULL;
}

static void test_pi(void)
{
    pthread_t threads[THREADS];
    int ops[] = { FUTEX_LOCK_PI, FUTEX_LOCK_PI2, FUTEX_LOCK_PI };
    first = 0;
    counter = 0;
    for (int i = 0; i < THREADS; i++)
        threads[i] = check_spawn(count_locked, &ops[i]);
    for (int i = 0; i < THREADS; i++)
        check_join(threads[i]);
    CHECK_EQ(counter, THREADS * ROUNDS);
    CHECK_EQ(first, 0);
    CHECK_OK(futex(&first, FUTEX_TRYLOCK_PI, 0, NULL, NULL, 0));
    CHECK_FAILS(futex(&first, FUTEX_LOCK_PI, 0, NULL, NULL, 0), EDEADLK);
    check_join(check_spawn(try_taken, NULL));
    CHECK_OK(futex(&first, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0));
}

static long waitv(struct futex_waitv *words, unsigned count, const struct timespec *timeout)
{
    return syscall(SYS_futex_waitv, words, count, 0, timeout, CLOCK_MONOTONIC);
}

static void *wait_for_either(void *woken)
{
    struct futex_waitv words[2] = { { .uaddr = (uintptr_t)&first, .flags = FUTEX_32 | (uint32_t)flags },
                                    { .uaddr = (uintptr_t)&second, .flags = FUTEX_32 | (uint32_t)flags } };
    *(long *)woken = waitv(words, 2, NULL);
    return NULL;
}

static void test_waitv(void)
{
    struct futex_waitv words[2] = { { .uaddr = (uintptr_t)&first, .flags = FUTEX_32 | (uint32_t)flags },
                                    { .uaddr = (uintptr_t)&second, .flags = FUTEX_32 | (uint32_t)flags } };
    first = second = 0;
    CHECK_FAILS(waitv(words, 0, NULL), EINVAL);
    CHECK_FAILS(waitv(words, 129, NULL), EINVAL);
    words[1].val = 1;
    CHECK_FAILS(waitv(words, 2, NULL), EAGAIN);
    words[1].val = 0;
    words[1].flags = 0x70;
    CHECK_FAILS(waitv(words, 2, NULL), EINVAL);
    words[1].flags = words[0].flags;
    struct timespec when = check_in_ms(CLOCK_MONOTONIC, 5);
    CHECK_FAILS(waitv(words, 2, &when), ETIMEDOUT);
    CHECK(check_reached(CLOCK_MONOTONIC, &when));
    for (int which = 0; which < 2; which++) {
        long woken = -1;
        pthread_t thread = check_spawn(wait_for_either, &woken);
        while (futex(which ? &second : &first, FUTEX_WAKE, INT_MAX, NULL, NULL, 0) == 0)
            sched_yield();
        check_join(thread);
        CHECK_EQ(woken, which);
    }
    struct nag nag;
    nag_start(&nag, 0);
    CHECK_FAILS(waitv(words, 2, NULL), EINTR);
    nag_stop(&nag);
}

static volatile sig_atomic_t handled;
static void handle(int number)
{
    (void)number;
    handled = handled + 1;
}

int main(void)
{
    static const int both[] = { FUTEX_PRIVATE_FLAG, 0 };
    for (int i = 0; i < 2; i++) {
        flags = both[i];
        test_wake_op();
        test_pi();
        test_waitv();
    }
    /* Signals by system call. */
    CHECK(signal(SIGUSR2, handle) != SIG_ERR);
    CHECK_OK(syscall(SYS_kill, getpid(), SIGUSR2));
    CHECK_OK(syscall(SYS_tgkill, getpid(), gettid(), SIGUSR2));
    CHECK_OK(syscall(SYS_tkill, gettid(), SIGUSR2));
    CHECK_EQ(handled, 3);
    return 0;
}
