/* Notification of messages: by a thread, by a signal, withdrawn. */
/* tests: mq_notify */
/* ops: MESSAGE */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <signal.h>

static sem_t notified;
static mqd_t queue;
static volatile sig_atomic_t signals;

static void notify(union sigval value)
{
    char c;
    CHECK_EQ(value.sival_int, 3);
    CHECK_EQ(mq_receive(queue, &c, 1, NULL), 1);
    CHECK_EQ(c, 'x');
    CHECK_EQ(sem_post(&notified), 0);
}

static void handle(int signal, siginfo_t *info, void *context)
{
    (void)context;
    CHECK_EQ(info->si_code, SI_MESGQ);
    signals += signal == SIGUSR1;
}

static void *send_one(void *unused)
{
    CHECK_OK(mq_send(queue, "x", 1, 0));
    return unused;
}

int main(void)
{
    char name[40], c;
    struct mq_attr limits = { .mq_maxmsg = 3, .mq_msgsize = 1 };
    struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART };
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_EQ(sem_init(&notified, 0, 0), 0);
    snprintf(name, sizeof name, "/pct-snippet-notify-%d", (int)getpid());
    queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &limits);
    CHECK(queue >= 0);
    CHECK_OK(mq_unlink(name));

    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify };
    event.sigev_value.sival_int = 3;
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(mq_notify(queue, &event), 0);
        CHECK_FAILS(mq_notify(queue, &event), EBUSY);
        pthread_t thread = check_spawn(send_one, NULL);
        CHECK_EQ(sem_wait(&notified), 0);
        check_join(thread);
    }
    /* Withdrawn: nobody is told. */
    CHECK_EQ(mq_notify(queue, &event), 0);
    CHECK_EQ(mq_notify(queue, NULL), 0);
    CHECK_OK(mq_send(queue, "y", 1, 0));
    CHECK_EQ(mq_receive(queue, &c, 1, NULL), 1);

    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    CHECK_EQ(mq_notify(queue, &event), 0);
    CHECK_OK(mq_send(queue, "z", 1, 0));
    while (!signals)
        sched_yield();
    CHECK_FAILS(mq_notify(-1, &event), EBADF);
    CHECK_OK(mq_close(queue));
    return 0;
}
