/* The child of a fork has none of the threads that waited in the parent: a wake in it wakes nobody.
 * RUN: pct run -q -n 20 -s 1 -- %p
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

static uint32_t word;

static void *wait_for_word(void *unused)
{
    struct futex_waitv wanted = { .uaddr = (uintptr_t)&word, .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG };
    syscall(SYS_futex_waitv, &wanted, 1, 0, NULL, 0);
    return unused;
}

static void *nothing(void *unused)
{
    return unused;
}

static long wake(void)
{
    return syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

int main(void)
{
    pthread_t thread;
    int status;
    pthread_create(&thread, NULL, wait_for_word, NULL);
    for (int i = 0; i < 20; i++)
        usleep(1000);
    pid_t child = fork();
    if (!child) {
        long woken = wake();
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
        _exit(woken ? 50 : 0);
    }
    waitpid(child, &status, 0);
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    wake();
    pthread_join(thread, NULL);
    return status != 0;
}
