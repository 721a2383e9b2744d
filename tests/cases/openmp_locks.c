/* Threads that a library makes for the program (OpenMP): pct took it for one without threads, and did not look for
 * locks of its own (futexes). So these were no scheduling points, and neither `pct doctor` nor `pct run` said so.
 *
 *     NEED: echo '#include <omp.h>' | gcc -fopenmp -fsyntax-only -x c -
 *     BUILD: gcc -O1 -g -fopenmp -o %p %s
 *     RUN: pct doctor %p > %t/out; grep -q 'it implements its own locks (futexes)' %t/out
 *     RUN: pct run -n 3 -s 1 --state none -- %p > %t/out 2>&1;
 *         grep -q 'implements its own locks by atomic instructions: --memory=atomics makes' %t/out
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <omp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

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

int main(void)
{
#pragma omp parallel num_threads(2)
    {
        const int first = omp_get_thread_num();
        take(&gate[first]);
        take(&gate[!first]);
        give(&gate[!first]);
        give(&gate[first]);
    }
    return 0;
}
