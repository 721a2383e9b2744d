/* syscall: futex wait, wake, bitsets, requeue and timeouts as in futex(2); other calls as themselves. */
/* ops: FUTEX_WAIT FUTEX_WOKEN FUTEX_WAKE */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>

enum { WAITERS = 3, ROUNDS = 10 };

static uint32_t word, other;
static int flags; /* FUTEX_PRIVATE_FLAG or 0 */
static int woken;

static long futex(uint32_t *at, int op, uint32_t value, const void *timeout, uint32_t *second, uint32_t bits)
{
    return syscall(SYS_futex, at, op | flags, value, timeout, second, bits);
}

static uint32_t load(uint32_t *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static void store(uint32_t *at, uint32_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

/* Wait until the word has another value; early returns are allowed. */
static void *wait_change(void *bits)
{
    uint32_t mine = bits ? *(uint32_t *)bits : 0;
    while (load(&word) == 0) {
        long result =
            mine ? futex(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, mine) : futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0);
        CHECK(result == 0 || (result == -1 && errno == EAGAIN));
    }
    __atomic_fetch_add(&woken, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void *wait_once(void *bits)
{
    uint32_t mine = *(uint32_t *)bits;
    CHECK_OK(futex(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, mine));
    __atomic_fetch_add(&woken, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void test_errors(void)
{
    word = 1;
    CHECK_FAILS(futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0), EAGAIN);
    CHECK_FAILS(futex(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 1), EAGAIN);
    CHECK_FAILS(futex(&word, FUTEX_WAIT_BITSET, 1, NULL, NULL, 0), EINVAL);
    CHECK_FAILS(futex(&word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 0), EINVAL);
    CHECK_FAILS(futex((uint32_t *)((char *)&word + 1), FUTEX_WAIT, 1, NULL, NULL, 0), EINVAL);
    const long none = 1L << 32; /* of an argument of 32 bits, the upper half is nobody's */
    CHECK_FAILS(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | flags, 1, NULL, NULL, none), EINVAL);
    CHECK_FAILS(syscall(SYS_futex, &word, FUTEX_WAKE_BITSET | flags, 1, NULL, NULL, none), EINVAL);
    struct timespec bad = { 0, 1000000000 }, negative = { -1, 0 };
    CHECK_FAILS(futex(&word, FUTEX_WAIT, 1, &bad, NULL, 0), EINVAL);
    CHECK_FAILS(futex(&word, FUTEX_WAIT, 1, &negative, NULL, 0), EINVAL);
    CHECK_FAILS(futex(&word, 99, 0, NULL, NULL, 0), ENOSYS);
    uint32_t *nowhere = (uint32_t *)4096;
    CHECK_FAILS(futex(nowhere, FUTEX_WAIT, 0, NULL, NULL, 0), EFAULT);
    CHECK_FAILS(futex(nowhere, FUTEX_CMP_REQUEUE, 0, NULL, &word, 0), EFAULT);
    if (flags & FUTEX_PRIVATE_FLAG)
        CHECK_OK(futex(nowhere, FUTEX_WAKE, 1, NULL, NULL, 0));
    else
        CHECK_FAILS(futex(nowhere, FUTEX_WAKE, 1, NULL, NULL, 0), EFAULT);

    CHECK_OK(futex(&word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0)); /* nobody waits */
    CHECK_OK(futex(&word, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, 1));
    CHECK_OK(futex(&word, FUTEX_REQUEUE, 1, (void *)1, &other, 0));
    CHECK_OK(futex(&word, FUTEX_CMP_REQUEUE, 1, (void *)1, &other, 1));
    CHECK_FAILS(futex(&word, FUTEX_CMP_REQUEUE, 1, (void *)1, &other, 2), EAGAIN);
}

static void test_timeouts(void)
{
    word = 0;
    /* Relative, on CLOCK_MONOTONIC. */
    struct timespec length = { 0, 10000000 };
    int64_t before = check_now(CLOCK_MONOTONIC);
    CHECK_FAILS(futex(&word, FUTEX_WAIT, 0, &length, NULL, 0), ETIMEDOUT);
    CHECK(check_now(CLOCK_MONOTONIC) - before >= 10000000);
    struct timespec none = { 0, 0 };
    CHECK_FAILS(futex(&word, FUTEX_WAIT, 0, &none, NULL, 0), ETIMEDOUT);
    /* A bitset wait has a point in time. */
    struct timespec when = check_in_ms(CLOCK_MONOTONIC, 10);
    CHECK_FAILS(futex(&word, FUTEX_WAIT_BITSET, 0, &when, NULL, FUTEX_BITSET_MATCH_ANY), ETIMEDOUT);
    CHECK(check_reached(CLOCK_MONOTONIC, &when));
    CHECK_FAILS(futex(&word, FUTEX_WAIT_BITSET, 0, &when, NULL, FUTEX_BITSET_MATCH_ANY), ETIMEDOUT);
    when = check_in_ms(CLOCK_REALTIME, 10);
    CHECK_FAILS(futex(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &when, NULL, FUTEX_BITSET_MATCH_ANY),
                ETIMEDOUT);
    CHECK(check_reached(CLOCK_REALTIME, &when));
    /* The value is looked at before the time. */
    CHECK_FAILS(futex(&word, FUTEX_WAIT_BITSET, 5, &none, NULL, FUTEX_BITSET_MATCH_ANY), EAGAIN);
}

static void test_wake(void)
{
    pthread_t threads[WAITERS];
    uint32_t bits = 2;
    for (int round = 0; round < 4; round++) {
        word = 0;
        woken = 0;
        for (int i = 0; i < WAITERS; i++)
            threads[i] = check_spawn(wait_change, round % 2 ? &bits : NULL);
        store(&word, 1);
        long count = round < 2 ? futex(&word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0)
                               : futex(&word, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, FUTEX_BITSET_MATCH_ANY);
        CHECK(count >= 0 && count <= WAITERS);
        for (int i = 0; i < WAITERS; i++)
            check_join(threads[i]);
        CHECK_EQ(__atomic_load_n(&woken, __ATOMIC_RELAXED), WAITERS);
    }
}

/* Wake until this many have been woken: when a wake reports one, that thread did wait. */
static void wake_until(uint32_t *at, uint32_t bits, int count)
{
    while (count > 0) {
        long result = futex(at, FUTEX_WAKE_BITSET, 1, NULL, NULL, bits);
        CHECK(result == 0 || result == 1);
        count -= (int)result;
        sched_yield();
    }
}

static void test_bitsets(void)
{
    uint32_t one = 1, two = 2;
    word = 0;
    woken = 0;
    pthread_t first = check_spawn(wait_once, &one), second = check_spawn(wait_once, &two);
    wake_until(&word, 2, 1);
    check_join(second);
    CHECK_OK(futex(&word, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, 2));
    CHECK_EQ(__atomic_load_n(&woken, __ATOMIC_RELAXED), 1);
    wake_until(&word, 5, 1);
    check_join(first);
}

/* Moved to the other word, waiters are woken there. The kernel may wake a waiter for reasons of its own and let it wait
 * again, which it does where it began: so both words are woken until everybody is. */
static void test_requeue(void)
{
    uint32_t any = FUTEX_BITSET_MATCH_ANY;
    for (int compare = 0; compare < 2; compare++) {
        pthread_t threads[WAITERS];
        word = 0;
        woken = 0;
        for (int i = 0; i < WAITERS; i++)
            threads[i] = check_spawn(wait_once, &any);
        for (long moved = 0; moved < WAITERS; sched_yield()) {
            long result = futex(&word, compare ? FUTEX_CMP_REQUEUE : FUTEX_REQUEUE, 0, (void *)INT_MAX, &other, 0);
            CHECK(result >= 0);
            moved += result;
        }
        CHECK_EQ(__atomic_load_n(&woken, __ATOMIC_RELAXED), 0);
        int left = WAITERS;
        while (left > 0) {
            long result =
                futex(&other, FUTEX_WAKE, 1, NULL, NULL, 0) + futex(&word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
            CHECK(result >= 0 && result <= left);
            left -= (int)result;
            sched_yield();
        }
        for (int i = 0; i < WAITERS; i++)
            check_join(threads[i]);
    }
}

/* The mutex of Drepper's "Futexes Are Tricky", section 4: 0 free, 1 locked, 2 locked and somebody may wait. */
static void *count_locked(void *counter)
{
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t state = 0;
        if (!__atomic_compare_exchange_n(&word, &state, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            if (state != 2)
                state = __atomic_exchange_n(&word, 2, __ATOMIC_ACQUIRE);
            while (state != 0) {
                futex(&word, FUTEX_WAIT, 2, NULL, NULL, 0);
                state = __atomic_exchange_n(&word, 2, __ATOMIC_ACQUIRE);
            }
        }
        int seen = *(int *)counter;
        sched_yield();
        *(int *)counter = seen + 1;
        if (__atomic_fetch_sub(&word, 1, __ATOMIC_RELEASE) != 1) {
            store(&word, 0);
            CHECK(futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0) >= 0);
        }
    }
    return NULL;
}

static void test_mutex(void)
{
    pthread_t threads[WAITERS];
    int counter = 0;
    word = 0;
    for (int i = 0; i < WAITERS; i++)
        threads[i] = check_spawn(count_locked, &counter);
    for (int i = 0; i < WAITERS; i++)
        check_join(threads[i]);
    CHECK_EQ(counter, WAITERS * ROUNDS);
}

static void test_interrupted(void)
{
    struct nag nag;
    struct timespec far = { 1000, 0 };
    word = 0;
    nag_start(&nag, 0);
    CHECK_FAILS(futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0), EINTR);
    CHECK_FAILS(futex(&word, FUTEX_WAIT, 0, &far, NULL, 0), EINTR);
    nag_stop(&nag);
}

int main(void)
{
    CHECK_OK(syscall(SYS_getpid) - getpid());
    CHECK_FAILS(syscall(-2), ENOSYS);
    CHECK_FAILS(syscall(SYS_close, -1), EBADF);
    static char text[64];
    CHECK_EQ(syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", text, sizeof(text)) > 0, true);
    static const int both[] = { FUTEX_PRIVATE_FLAG, 0 };
    for (int i = 0; i < 2; i++) {
        flags = both[i];
        test_errors();
        test_timeouts();
        test_wake();
        test_bitsets();
        test_requeue();
        test_mutex();
        test_interrupted();
    }
    return 0;
}
