/* What pct knows of a process's threads is not so of its child's, which have the same numbers: there, the first thread
 * that is made can be cancelled, though that of the parent had refused to be.
 *
 * RUN: %p
 * RUN: pct run -q -s 1 -n 5 --timeout 30 -- %p
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t never;

static void check(int fine)
{
    if (!fine)
        abort();
}

static void *refuse(void *unused)
{
    check(!pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL));
    return unused;
}

static void *wait_for_ever(void *unused)
{
    sem_wait(&never);
    return unused;
}

static void cancel_one(void)
{
    pthread_t thread;
    void *value;
    check(!pthread_create(&thread, NULL, wait_for_ever, NULL));
    check(!pthread_cancel(thread) && !pthread_join(thread, &value));
    check(value == PTHREAD_CANCELED);
}

int main(void)
{
    pthread_t thread;
    int status;
    check(!sem_init(&never, 0, 0));
    check(!pthread_create(&thread, NULL, refuse, NULL) && !pthread_join(thread, NULL));
    pid_t child = fork();
    if (!child) {
        cancel_one();
        _exit(0);
    }
    check(waitpid(child, &status, 0) == child);
    return status != 0;
}
