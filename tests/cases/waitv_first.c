/* A thread that waits for several words may be the one that is woken, also where another one waits for this word alone.
 * No schedule had that.
 * NEED: grep -qE '^(5\.(1[6-9]|[2-9][0-9])|[6-9]\.|[1-9][0-9])' /proc/sys/kernel/osrelease
 * RUN 1: pct run -n 60 -s 1 -S urw -- %p > %t/out 2>&1
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

static uint32_t word, other, third;
static int first; /* who is woken first: 1, of the many; 2 */

static void note(int who)
{
    int nobody = 0;
    __atomic_compare_exchange_n(&first, &nobody, who, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void *wait_for_many(void *unused)
{
    struct futex_waitv words[] = { { .uaddr = (uintptr_t)&word, .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG },
                                   { .uaddr = (uintptr_t)&other, .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG } };
    syscall(SYS_futex_waitv, words, 2, 0, NULL, 0);
    note(1);
    return unused;
}

static void *wait_for_one(void *unused)
{
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    note(2);
    return unused;
}

static long wake(int count)
{
    return syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

int main(void)
{
    pthread_t many, one;
    pthread_create(&many, NULL, wait_for_many, NULL);
    pthread_create(&one, NULL, wait_for_one, NULL);
    /* Until this one waits; the other one may. */
    while (syscall(SYS_futex, &word, FUTEX_REQUEUE_PRIVATE, 0, 1L, &third, 0) != 1)
        usleep(1000);
    syscall(SYS_futex, &third, FUTEX_REQUEUE_PRIVATE, 0, 1L, &word, 0);
    for (int i = 0; i < 20; i++)
        usleep(1000);
    wake(1);
    for (int i = 0; i < 20 && !first; i++)
        usleep(1000);
    int found = first;
    while (wake(9) == 0)
        usleep(1000);
    pthread_join(many, NULL);
    pthread_join(one, NULL);
    return found == 1;
}
