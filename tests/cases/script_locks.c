/* A program that is started by a script (#!) has the same locks and the same clock as without: but pct looked at the
 * script's file alone. So locks of the program's own (futexes) were no scheduling points, pct explore said "verified at
 * calls" of a deadlock that they make, and runs whose program reads the processor's clock had a guarantee.
 *
 * RUN: echo "#!%p" > %t/script && chmod +x %t/script && pct run -n 20 -s 1 --state none -- %t/script > %t/out 2>&1;
 *     grep -q 'implements its own locks by atomic instructions: --memory=atomics makes' %t/out
 * RUN: echo "#!%p" > %t/script && chmod +x %t/script && pct explore -- %t/script > %t/out 2>&1;
 *     grep -q -e 'pct: found' -e 'not verified' %t/out && ! grep 'verified at calls:' %t/out
 * RUN: gcc -O1 -g -pthread -DCLOCK -o %t/clock %s && echo "#!%t/clock" > %t/script && chmod +x %t/script &&
 *     pct run -n 5 -s 1 --state none -- %t/script 2>&1 | grep "no guarantee.*the program reads the processor's clock"
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#ifdef CLOCK
static void *work(void *number)
{
    return __rdtsc() ? number : NULL;
}
#else
/* 1: taken, 2: and somebody may wait. */
static int gate[2];

static void take(int *at)
{
    int old = 0;
    if (__atomic_compare_exchange_n(at, &old, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return;
    while (__atomic_exchange_n(at, 2, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void give(int *at)
{
    if (__atomic_exchange_n(at, 0, __ATOMIC_SEQ_CST) == 2)
        syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *work(void *number)
{
    const int first = number != NULL;
    take(&gate[first]);
    take(&gate[!first]);
    give(&gate[!first]);
    give(&gate[first]);
    return number;
}
#endif

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, i ? threads : NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
