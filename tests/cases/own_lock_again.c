// A program with a lock of its own is not verified without points at memory: nor by the same file once more, without
// the option that turned them off. That was said to be verified, without a new run.
//
// RUN 119: pct explore --memory=off --db %t/db -- %p
// RUN: pct explore --memory=off --db %t/db -- %p > %t/out 2>&1; pct explore --db %t/db -- %p > %t/again 2>&1;
//     ! grep -w verified: %t/out %t/again && grep "not verified, because of: locks of the program's own" %t/again
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int lock;
static int count;

static void *add(void *unused)
{
    int seen = 0;
    if (!atomic_compare_exchange_strong(&lock, &seen, 1)) {
        for (seen = atomic_exchange(&lock, 2); seen; seen = atomic_exchange(&lock, 2))
            syscall(SYS_futex, &lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
    }
    count++;
    if (atomic_exchange(&lock, 0) == 2)
        syscall(SYS_futex, &lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, add, NULL);
    add(NULL);
    pthread_join(thread, NULL);
    return 0;
}
