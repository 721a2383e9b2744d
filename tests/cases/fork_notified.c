/* A process has asked to be told of a message by a thread, and forks: its child has asked for nothing. When it has been
 * told of a message of its own, and waits for what nobody will do, that is a deadlock, not a wait for the parent's
 * message.
 *
 * RUN 120: pct run -q -s 1 --timeout 20 -- %p
 */
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t told, never;

static void check(int fine)
{
    if (!fine)
        abort();
}

static void post(union sigval unused)
{
    (void)unused;
    check(!sem_post(&told));
}

static mqd_t ask(void)
{
    char name[32];
    struct mq_attr sizes = { .mq_maxmsg = 1, .mq_msgsize = 1 };
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = post };
    snprintf(name, sizeof name, "/fork-notified-%d", getpid());
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, &sizes);
    check(queue >= 0 && !mq_unlink(name) && !mq_notify(queue, &event));
    return queue;
}

int main(void)
{
    int status;
    check(!sem_init(&told, 0, 0) && !sem_init(&never, 0, 0));
    ask();
    pid_t child = fork();
    if (!child) {
        check(!mq_send(ask(), "m", 1, 0) && !sem_wait(&told));
        sem_wait(&never);
        _exit(0);
    }
    check(waitpid(child, &status, 0) == child);
    return 0;
}
