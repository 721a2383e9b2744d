/* A futex wait that a signal handler ends was woken by nobody. The schedule named whoever had woken that futex last,
 * long before the wait, and to the race detector that came before it.
 *
 * RUN: pct run -q -n 1 -s 1 -t %t/trace -- %p && pct trace -f jsonl %t/trace > %t/steps &&
 *     grep -q '"op":"futex woken"' %t/steps && ! grep '"link":"signal to wake"' %t/steps
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t word;
static volatile int done;

static void handle(int signal)
{
    (void)signal;
}

static void *wait_for_signal(void *unused)
{
    while (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) != -1 || errno != EINTR)
        continue;
    done = 1;
    return unused;
}

int main(void)
{
    const struct sigaction action = { .sa_handler = handle };
    pthread_t thread;
    sigaction(SIGUSR1, &action, NULL);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); /* nobody waits */
    pthread_create(&thread, NULL, wait_for_signal, NULL);
    for (usleep(1000); !done; usleep(1000))
        pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
    return 0;
}
