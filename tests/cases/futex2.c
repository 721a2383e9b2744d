/* A futex is one, whichever call waits and which one wakes: those of Linux 6.7 wake who waits by SYS_futex. pct said
 * that the program was in a deadlock.
 * RUN: pct run -q -n 20 -s 1 -- %p
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WAKE = 454, WAIT, REQUEUE, PRIVATE = FUTEX_32 | FUTEX_PRIVATE_FLAG };

static uint32_t word, other, turn;

static void *wait_for_word(void *two)
{
    while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
        if (two)
            syscall(WAIT, &word, 0L, 1L, PRIVATE, NULL, 0);
        else
            syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, 1);
    return NULL;
}

static void *wait_for_turn(void *unused)
{
    syscall(WAIT, &turn, 0L, 1L, PRIVATE, NULL, 0);
    return unused;
}

static long move(void)
{
    struct futex_waitv words[] = { { .uaddr = (uintptr_t)&turn, .flags = PRIVATE },
                                   { .uaddr = (uintptr_t)&other, .flags = PRIVATE } };
    return syscall(REQUEUE, words, 0, 0, 1);
}

int main(void)
{
    pthread_t one, two, last;
    struct timespec past = { .tv_sec = 1 };
    if (syscall(WAKE, &word, 1L, 0, PRIVATE) < 0)
        return errno != ENOSYS;
    pthread_create(&one, NULL, wait_for_word, NULL);
    pthread_create(&two, NULL, wait_for_word, &word);
    pthread_create(&last, NULL, wait_for_turn, NULL);
    for (int i = 0; i < 20; i++)
        usleep(1000);
    if (syscall(WAKE, &word, 2L, 9, PRIVATE)) /* other bits */
        return 2;
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    syscall(WAKE, &word, 1L, 1, PRIVATE);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0);
    if (syscall(WAIT, &word, 0L, 1L, PRIVATE, NULL, 0) != -1 || errno != EAGAIN)
        return 3;
    if (syscall(WAIT, &word, 1L, 1L, PRIVATE, &past, CLOCK_MONOTONIC) != -1 || errno != ETIMEDOUT)
        return 4;
    if (syscall(WAIT, &word, 1L, 1L, 64, NULL, 0) != -1 || errno != EINVAL)
        return 5;
    while (move() != 1)
        usleep(1000);
    if (syscall(WAKE, &other, 1L, 1, PRIVATE) != 1)
        return 6;
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    pthread_join(last, NULL);
    return 0;
}
