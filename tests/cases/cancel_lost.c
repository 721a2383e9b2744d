/* A cancellation that is requested while its thread stands at the scheduling point of a cancellation point, or in a
 * signal handler that has interrupted one, takes effect there: it is not lost.
 * RUN: for call in sleep usleep nanosleep clock_nanosleep sem cond join read recv poll sigwait sigsuspend mq wait;
 *     do for s in portfolio pos; do pct run -q -n $((FULL ? 60 : 15)) -s 1 -S $s -- %p $call || exit 1; done; done
 * RUN: for call in sleep sem cond join read poll sigwait mq;
 *     do pct run -q -n $((FULL ? 60 : 15)) -s 1 -S random-walk -- %p $call signal || exit 1; done
 */
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int data[2], sockets[2];
static pthread_t forever;
static mqd_t messages;
static sem_t sem;
static const char *call;

static void handle(int signal)
{
    (void)signal;
    for (int i = 0; i < 4; i++)
        sched_yield();
}

static int is(const char *name)
{
    return !strcmp(call, name);
}

static void *wait_forever(void *unused)
{
    sem_t never;
    sem_init(&never, 0, 0);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    while (sem_wait(&never))
        continue;
    return unused;
}

/* Each of these blocks, until it is cancelled. */
static void block(void)
{
    const struct timespec long_time = { .tv_sec = 100 };
    struct pollfd readable = { .fd = data[0], .events = POLLIN };
    char byte[64];
    sigset_t none, other;
    int taken;
    sigemptyset(&none);
    sigemptyset(&other);
    sigaddset(&other, SIGUSR2);
    if (is("sleep"))
        sleep(100);
    else if (is("usleep"))
        usleep(100000000);
    else if (is("nanosleep"))
        nanosleep(&long_time, NULL);
    else if (is("clock_nanosleep"))
        clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, NULL);
    else if (is("sem"))
        sem_wait(&sem);
    else if (is("cond"))
        pthread_cond_wait(&cond, &mutex);
    else if (is("join"))
        pthread_join(forever, NULL);
    else if (is("read"))
        read(data[0], byte, 1);
    else if (is("recv"))
        recv(sockets[0], byte, 1, 0);
    else if (is("poll"))
        poll(&readable, 1, -1);
    else if (is("sigwait"))
        sigwait(&other, &taken);
    else if (is("sigsuspend"))
        sigsuspend(&none);
    else if (is("mq"))
        mq_receive(messages, byte, sizeof byte, NULL);
    else
        waitpid(-1, NULL, 0);
}

static void *work(void *unused)
{
    pthread_mutex_lock(&mutex);
    time_t before = time(NULL);
    while (time(NULL) < before + 100)
        block();
    puts("it was not cancelled");
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t worker;
    void *result;
    char name[64];
    struct mq_attr limits = { .mq_maxmsg = 1, .mq_msgsize = 8 };
    const struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
    call = argv[1];
    sigaction(SIGUSR1, &action, NULL);
    pipe(data);
    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
    sem_init(&sem, 0, 0);
    snprintf(name, sizeof name, "/pct-cancel-%d", getpid());
    messages = mq_open(name, O_CREAT | O_RDWR, 0600, &limits);
    mq_unlink(name);
    if (is("join"))
        pthread_create(&forever, NULL, wait_forever, NULL);
    pid_t child = is("wait") ? fork() : 0;
    if (is("wait") && !child) {
        pause();
        _exit(0);
    }
    pthread_create(&worker, NULL, work, NULL);
    for (int i = 0; i < 3; i++) {
        sched_yield();
        if (argc > 2)
            pthread_kill(worker, SIGUSR1);
    }
    pthread_cancel(worker);
    pthread_join(worker, &result);
    if (child)
        kill(child, SIGKILL);
    fflush(stdout);
    _exit(result != PTHREAD_CANCELED);
}
