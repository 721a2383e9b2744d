/* A futex whose word has another value is not waited for: the thread goes on, and may be preempted. Of a switch behind
 * such a call the schedule said that the thread waits.
 *
 * RUN: pct run -q -n 1 -s 1 -S random-walk -t %t/trace -- %p && pct trace -f jsonl %t/trace > %t/steps &&
 *     grep -q '"reason":"preempted"' %t/steps && ! grep '"reason":"waits"' %t/steps
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *work(void *unused)
{
    static uint32_t word;
    for (int i = 0; i < 50; i++) {
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0); /* EAGAIN */
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    return 0;
}
