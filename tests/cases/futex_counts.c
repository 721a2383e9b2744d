/* How many a futex wakes is a signed number, at which the kernel looks behind the first one: 0 and -1 wake one. pct
 * woke nobody, and all: the one was a deadlock that there is not, the other hid one. Of a requeue, -1 is an error; and
 * who is moved to where it is counts.
 * RUN: pct run -q -n 20 -s 1 -- %p
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t word;

static void *wait_for_word(void *unused)
{
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return unused;
}

static long wake(int count)
{
    return syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static long requeue(long count, long move)
{
    return syscall(SYS_futex, &word, FUTEX_REQUEUE_PRIVATE, count, move, &word, 0);
}

int main(void)
{
    pthread_t threads[3];
    int moved = 0, woken = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, wait_for_word, NULL);
    for (int i = 0; i < 1000 && moved < 3; i++) {
        usleep(1000);
        moved = (int)requeue(0, 9);
    }
    if (moved != 3 || requeue(-1, 0) != -1 || errno != EINVAL || requeue(0, -1) != -1 || errno != EINVAL)
        return 1;
    for (int count = -1; count <= 1; count++) {
        if (wake(count) != 1)
            return 2;
        woken++;
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return woken != 3;
}
