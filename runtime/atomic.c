/* Atomic accesses: what gcc 12 and clang 14 call in place of their own instructions under -fsanitize=thread.
 *
 * Everything is done as sequentially consistent as the machine does it; what the program asked for is only told to the
 * race detector. The numbers of the orders are the compilers' own. */
#include "events.h"

enum { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

static inline unsigned acquires(int order)
{
    return order == CONSUME || order == ACQUIRE || order >= ACQ_REL ? PCT_MEMORY_ACQUIRE : 0;
}

static inline unsigned releases(int order)
{
    return order >= RELEASE ? PCT_MEMORY_RELEASE : 0;
}

/* The second half of what may have changed nothing. */
static inline void after(const volatile void *address, unsigned order, bool changed)
{
    if (PCT_WATCHED)
        pct_memory_after(address, order | (changed ? PCT_MEMORY_CHANGED : 0));
}

#define LOAD_STORE(n, type)                                                                                            \
    PCT_RUNTIME type __tsan_atomic##n##_load(const volatile type *a, int order);                                       \
    PCT_RUNTIME type __tsan_atomic##n##_load(const volatile type *a, int order)                                        \
    {                                                                                                                  \
        pct_access(a, sizeof *a, PCT_MEMORY_ATOMIC_READ | acquires(order), PCT_CALLER);                                \
        return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                                   \
    }                                                                                                                  \
    PCT_RUNTIME void __tsan_atomic##n##_store(volatile type *a, type value, int order);                                \
    PCT_RUNTIME void __tsan_atomic##n##_store(volatile type *a, type value, int order)                                 \
    {                                                                                                                  \
        pct_access(a, sizeof *a, PCT_MEMORY_ATOMIC_WRITE | releases(order), PCT_CALLER);                               \
        __atomic_store_n(a, value, __ATOMIC_SEQ_CST);                                                                  \
    }

#define EXCHANGE(n, type)                                                                                              \
    PCT_RUNTIME type __tsan_atomic##n##_exchange(volatile type *a, type value, int order);                             \
    PCT_RUNTIME type __tsan_atomic##n##_exchange(volatile type *a, type value, int order)                              \
    {                                                                                                                  \
        pct_access(a, sizeof *a, PCT_MEMORY_ATOMIC_TRY, PCT_CALLER);                                                   \
        type old = __atomic_exchange_n(a, value, __ATOMIC_SEQ_CST);                                                    \
        after(a, acquires(order) | releases(order) | PCT_MEMORY_WRITTEN, old != value);                                \
        return old;                                                                                                    \
    }

#define UPDATE(n, type, what)                                                                                          \
    PCT_RUNTIME type __tsan_atomic##n##_fetch_##what(volatile type *a, type value, int order);                         \
    PCT_RUNTIME type __tsan_atomic##n##_fetch_##what(volatile type *a, type value, int order)                          \
    {                                                                                                                  \
        pct_access(a, sizeof *a, PCT_MEMORY_ATOMIC_UPDATE | acquires(order) | releases(order), PCT_CALLER);            \
        return __atomic_fetch_##what(a, value, __ATOMIC_SEQ_CST);                                                      \
    }

/* gcc names them strong and weak and wants to know whether they succeeded; clang's returns the value that was there. */
#define COMPARE(n, type)                                                                                               \
    static inline __attribute__((always_inline)) bool compare_##n(volatile type *a, type *expected, type value,        \
                                                                  int order, int failure, const void *pc)              \
    {                                                                                                                  \
        pct_access(a, sizeof *a, PCT_MEMORY_ATOMIC_TRY, pc);                                                           \
        bool done = __atomic_compare_exchange_n(a, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
        after(a, done ? acquires(order) | releases(order) : acquires(failure), done);                                  \
        if (PCT_WATCHED && !done && pct_memory_expected)                                                               \
            pct_memory_expected(expected);                                                                             \
        return done;                                                                                                   \
    }                                                                                                                  \
    PCT_RUNTIME int __tsan_atomic##n##_compare_exchange_strong(volatile type *a, type *expected, type value,           \
                                                               int order, int failure);                                \
    PCT_RUNTIME int __tsan_atomic##n##_compare_exchange_strong(volatile type *a, type *expected, type value,           \
                                                               int order, int failure)                                 \
    {                                                                                                                  \
        return compare_##n(a, expected, value, order, failure, PCT_CALLER);                                            \
    }                                                                                                                  \
    PCT_RUNTIME int __tsan_atomic##n##_compare_exchange_weak(volatile type *a, type *expected, type value, int order,  \
                                                             int failure);                                             \
    PCT_RUNTIME int __tsan_atomic##n##_compare_exchange_weak(volatile type *a, type *expected, type value, int order,  \
                                                             int failure)                                              \
    {                                                                                                                  \
        return compare_##n(a, expected, value, order, failure, PCT_CALLER);                                            \
    }                                                                                                                  \
    PCT_RUNTIME type __tsan_atomic##n##_compare_exchange_val(volatile type *a, type expected, type value, int order,   \
                                                             int failure);                                             \
    PCT_RUNTIME type __tsan_atomic##n##_compare_exchange_val(volatile type *a, type expected, type value, int order,   \
                                                             int failure)                                              \
    {                                                                                                                  \
        compare_##n(a, &expected, value, order, failure, PCT_CALLER);                                                  \
        return expected;                                                                                               \
    }

#define ALL(n, type)                                                                                                   \
    LOAD_STORE(n, type)                                                                                                \
    EXCHANGE(n, type)                                                                                                  \
    UPDATE(n, type, add)                                                                                               \
    UPDATE(n, type, sub)                                                                                               \
    UPDATE(n, type, and)                                                                                               \
    UPDATE(n, type, or)                                                                                                \
    UPDATE(n, type, xor)                                                                                               \
    UPDATE(n, type, nand)                                                                                              \
    COMPARE(n, type)

ALL(8, uint8_t)
ALL(16, uint16_t)
ALL(32, uint32_t)
ALL(64, uint64_t)

/* Of sixteen bytes: the compilers leave these to libatomic, which the program may not have. The instruction has been
 * there since 2004 (-mcx16). */
typedef unsigned __int128 uint128;

static inline uint128 swap_128(volatile uint128 *a, uint128 expected, uint128 value)
{
    return __sync_val_compare_and_swap(a, expected, value);
}

/* Repeat until nothing came between: new is an expression of old and value. */
#define UPDATE_128(name, kind, new)                                                                                    \
    PCT_RUNTIME uint128 __tsan_atomic128_##name(volatile uint128 *a, uint128 value, int order);                        \
    PCT_RUNTIME uint128 __tsan_atomic128_##name(volatile uint128 *a, uint128 value, int order)                         \
    {                                                                                                                  \
        pct_access(a, sizeof *a, kind | acquires(order) | releases(order), PCT_CALLER);                                \
        uint128 old = *a, seen;                                                                                        \
        while ((seen = swap_128(a, old, (new))) != old)                                                                \
            old = seen;                                                                                                \
        return old;                                                                                                    \
    }
UPDATE_128(exchange, PCT_MEMORY_ATOMIC_UPDATE, value)
UPDATE_128(fetch_add, PCT_MEMORY_ATOMIC_UPDATE, old + value)
UPDATE_128(fetch_sub, PCT_MEMORY_ATOMIC_UPDATE, old - value)
UPDATE_128(fetch_and, PCT_MEMORY_ATOMIC_UPDATE, old &value)
UPDATE_128(fetch_or, PCT_MEMORY_ATOMIC_UPDATE, old | value)
UPDATE_128(fetch_xor, PCT_MEMORY_ATOMIC_UPDATE, old ^ value)
UPDATE_128(fetch_nand, PCT_MEMORY_ATOMIC_UPDATE, ~(old &value))

PCT_RUNTIME uint128 __tsan_atomic128_load(const volatile uint128 *a, int order);
PCT_RUNTIME uint128 __tsan_atomic128_load(const volatile uint128 *a, int order)
{
    pct_access(a, sizeof *a, PCT_MEMORY_ATOMIC_READ | acquires(order), PCT_CALLER);
    return swap_128((volatile uint128 *)a, 0, 0);
}

PCT_RUNTIME void __tsan_atomic128_store(volatile uint128 *a, uint128 value, int order);
PCT_RUNTIME void __tsan_atomic128_store(volatile uint128 *a, uint128 value, int order)
{
    pct_access(a, sizeof *a, PCT_MEMORY_ATOMIC_WRITE | releases(order), PCT_CALLER);
    uint128 old = *a, seen;
    while ((seen = swap_128(a, old, value)) != old)
        old = seen;
}

static inline __attribute__((always_inline)) bool compare_128(volatile uint128 *a, uint128 *expected, uint128 value,
                                                              int order, int failure, const void *pc)
{
    pct_access(a, sizeof *a, PCT_MEMORY_ATOMIC_TRY, pc);
    uint128 seen = swap_128(a, *expected, value);
    bool done = seen == *expected;
    *expected = seen;
    after(a, done ? acquires(order) | releases(order) : acquires(failure), done);
    return done;
}

#define COMPARE_128(name)                                                                                              \
    PCT_RUNTIME int __tsan_atomic128_compare_exchange_##name(volatile uint128 *a, uint128 *expected, uint128 value,    \
                                                             int order, int failure);                                  \
    PCT_RUNTIME int __tsan_atomic128_compare_exchange_##name(volatile uint128 *a, uint128 *expected, uint128 value,    \
                                                             int order, int failure)                                   \
    {                                                                                                                  \
        return compare_128(a, expected, value, order, failure, PCT_CALLER);                                            \
    }
COMPARE_128(strong)
COMPARE_128(weak)

PCT_RUNTIME uint128 __tsan_atomic128_compare_exchange_val(volatile uint128 *a, uint128 expected, uint128 value,
                                                          int order, int failure);
PCT_RUNTIME uint128 __tsan_atomic128_compare_exchange_val(volatile uint128 *a, uint128 expected, uint128 value,
                                                          int order, int failure)
{
    compare_128(a, &expected, value, order, failure, PCT_CALLER);
    return expected;
}

PCT_RUNTIME void __tsan_atomic_thread_fence(int order);
PCT_RUNTIME void __tsan_atomic_thread_fence(int order)
{
    if (PCT_WATCHED)
        pct_memory_fence(acquires(order) | releases(order));
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

PCT_RUNTIME void __tsan_atomic_signal_fence(int order);
PCT_RUNTIME void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
