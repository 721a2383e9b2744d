/* Threads that spin by calls and wait for one that sleeps, in a child whose parent waits for it: time goes on to the
 * end of the sleep, as it does where a process has no relatives. It stood still: the child never ended.
 *
 * RUN: for s in 0 20ms; do pct run -q -n 2 -s 1 --slack=$s --memory=off --timeout 60 -- %p || exit 1; done
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_int flag;

static void *sleep_and_set(void *unused)
{
    nanosleep(&(struct timespec){ .tv_sec = 3600 }, NULL);
    flag = 1;
    return unused;
}

static void *spin(void *unused)
{
    while (!flag)
        sched_yield();
    return unused;
}

int main(void)
{
    int status;
    pid_t child = fork();
    if (child)
        return waitpid(child, &status, 0) != child || status;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, sleep_and_set, NULL);
    pthread_create(&threads[1], NULL, spin, NULL);
    spin(NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    _exit(0);
}
