/* A time-out of LONG_MAX seconds is not over when the time of its end does not fit into 64 bits: a futex's,
 * sigtimedwait's and semtimedop's were over at once.
 *
 * The main thread's sleep says when all three wait, so it is for slack 0.
 *
 * RUN: pct run -q -n 50 -s 1 --state none --slack=0 -- %p
 */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const struct timespec for_ever = { .tv_sec = LONG_MAX };
static unsigned word;
static int set;

static void *wait_for_word(void *unused)
{
    return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &for_ever, NULL, 0) ? &word : unused;
}

static void *wait_for_signal(void *unused)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    return sigtimedwait(&signals, NULL, &for_ever) < 0 ? &word : unused;
}

static void *wait_for_semaphore(void *unused)
{
    struct sembuf down = { .sem_op = -1 };
    return semtimedop(set, &down, 1, &for_ever) ? &word : unused;
}

int main(void)
{
    void *(*const waits[3])(void *) = { wait_for_word, wait_for_signal, wait_for_semaphore };
    pthread_t thread[3];
    sigset_t signals;
    int failed = 0;
    set = semget(IPC_PRIVATE, 1, 0600);
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, waits[i], NULL);
    usleep(20000);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1);
    pthread_kill(thread[1], SIGUSR1);
    struct sembuf up = { .sem_op = 1 };
    semop(set, &up, 1);
    for (int i = 0; i < 3; i++) {
        void *result;
        pthread_join(thread[i], &result);
        failed |= result != NULL;
    }
    semctl(set, 0, IPC_RMID);
    return failed;
}
