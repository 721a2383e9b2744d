/* A thread waits for the process's own alarm while another one waits for what could come from outside. The replay of
 * the trace does not wait for the outside: its time jumps to the alarm, as it did in the run.
 * RUN: for s in 1 2 3; do pct run -q -s $s --timeout 20 -t %t/trace -- %p &&
 *     pct replay -q --timeout 20 %t/trace -- %p || exit 1; done
 */
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static mqd_t queue;

static void *receive(void *unused)
{
    char text[8];
    mq_receive(queue, text, sizeof text, NULL);
    return unused;
}

static void handle(int signal)
{
    (void)signal;
}

int main(void)
{
    struct mq_attr limits = { .mq_maxmsg = 1, .mq_msgsize = 8 };
    const struct sigaction action = { .sa_handler = handle };
    const struct itimerval soon = { .it_value = { .tv_usec = 1000 } };
    char name[64];
    sigset_t alarm, none;
    pthread_t thread;
    snprintf(name, sizeof name, "/pct-alarm-%d", getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &limits);
    mq_unlink(name);
    sigemptyset(&none);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm, NULL);
    sigaction(SIGALRM, &action, NULL);
    pthread_create(&thread, NULL, receive, NULL);
    for (int i = 0; i < 3; i++) {
        setitimer(ITIMER_REAL, &soon, NULL);
        sigsuspend(&none);
    }
    mq_send(queue, "x", 1, 0);
    return pthread_join(thread, NULL);
}
