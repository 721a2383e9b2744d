/* gcc makes `lock bts %ecx, word` of an atomic fetch_or of which one bit is asked: with the number of the bit in a
 * register, that was no scheduling point at any level of --memory. The bit may be before or behind the operand, too.
 *
 * BUILD: gcc -O1 -g -pthread -o %p %s
 * RUN: for level in atomics all; do pct run -q -n 300 -s 1 --state none --memory=$level -- %p > /dev/null 2>&1;
 *     [ $? = 134 ] || exit; done
 * RUN: pct explore --memory=atomics -- %p > %t/out 2>&1; grep -q 'pct: found' %t/out
 * RUN: pct run -q -n 20 -s 1 --memory=all --state none -- %p far
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

static unsigned word;
static uint64_t far[4];
static volatile unsigned first = 3, second = 5;
static volatile long below = -70, above = 70;

/* The bit was set already. */
static __attribute__((noinline)) bool set(unsigned bit)
{
    const unsigned mask = 1u << (bit & 31);
    return __atomic_fetch_or(&word, mask, __ATOMIC_SEQ_CST) & mask;
}

static void *announce(void *unused)
{
    set(first);
    set(second);
    return unused;
}

static void *set_far(void *unused)
{
    __asm__ volatile("lock btsq %1, %0" : "+m"(far[2]) : "r"(below) : "memory", "cc");
    __asm__ volatile("lock btsq %1, %0" : "+m"(far[2]) : "r"(above) : "memory", "cc");
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_create(&thread, NULL, argc > 1 ? set_far : announce, NULL);
    bool all = argc > 1 || !set(first) || set(second);
    assert(all);
    pthread_join(thread, NULL);
    (void)argv;
    return argc > 1 && (far[0] != UINT64_C(1) << 58 || far[3] != 1 << 6);
}
