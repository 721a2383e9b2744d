/* A signal whose handler has no SA_RESTART does not make a call fail that would not have blocked: natively it never
 * does.
 * RUN: for call in write read send recv poll select epoll accept sem eventfd mq msgrcv semop wait;
 *     do pct run -q -n $((FULL ? 60 : 15)) -s 1 -S random-walk -- %p $call || exit 1; done
 * RUN: for call in write recv sem mq wait; do for s in portfolio pos;
 *     do pct run -q -n $((FULL ? 60 : 15)) -s 1 -S $s -- %p $call || exit 1; done; done
 */
#include <errno.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 6 };

static int data[2], sockets[2], listener, event, polled, queue, set;
static mqd_t messages;
static sem_t sem;
static const char *call;

static void handle(int signal)
{
    (void)signal;
}

static int is(const char *name)
{
    return !strcmp(call, name);
}

/* None of these would block. */
static long make(void)
{
    char byte[64];
    struct pollfd readable = { .fd = data[0], .events = POLLIN };
    struct epoll_event found;
    fd_set reads;
    eventfd_t value;
    struct {
        long type;
        char text[8];
    } message;
    struct sembuf take = { .sem_op = -1 };
    FD_ZERO(&reads);
    FD_SET(data[0], &reads);
    if (is("write"))
        return write(data[1], "x", 1);
    if (is("read"))
        return read(data[0], byte, 1);
    if (is("send"))
        return send(sockets[0], "x", 1, 0);
    if (is("recv"))
        return recv(sockets[1], byte, 1, 0);
    if (is("poll"))
        return poll(&readable, 1, -1);
    if (is("select"))
        return select(data[0] + 1, &reads, NULL, NULL, NULL);
    if (is("epoll"))
        return epoll_wait(polled, &found, 1, -1);
    if (is("accept"))
        return accept(listener, NULL, NULL);
    if (is("sem"))
        return sem_wait(&sem);
    if (is("eventfd"))
        return eventfd_read(event, &value);
    if (is("mq"))
        return mq_receive(messages, byte, sizeof byte, NULL);
    if (is("msgrcv"))
        return msgrcv(queue, &message, sizeof message.text, 0, 0);
    if (is("semop"))
        return semop(set, &take, 1);
    return waitpid(-1, NULL, 0);
}

static void prepare(void)
{
    char name[64];
    struct mq_attr limits = { .mq_maxmsg = TIMES, .mq_msgsize = 8 };
    struct epoll_event wanted = { .events = EPOLLIN };
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct {
        long type;
        char text[8];
    } message = { 1, "" };
    pipe(data);
    write(data[1], "abcdefghijkl", 12);
    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
    send(sockets[0], "abcdefghijkl", 12, 0);
    polled = epoll_create1(0);
    epoll_ctl(polled, EPOLL_CTL_ADD, data[0], &wanted);
    sem_init(&sem, 0, TIMES);
    event = eventfd(TIMES, EFD_SEMAPHORE);
    snprintf(name, sizeof name, "/pct-eintr-%d", getpid());
    messages = mq_open(name, O_CREAT | O_RDWR, 0600, &limits);
    mq_unlink(name);
    queue = msgget(IPC_PRIVATE, 0600);
    set = semget(IPC_PRIVATE, 1, 0600);
    semctl(set, 0, SETVAL, TIMES);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)); /* the kernel gives it a name */
    listen(listener, TIMES);
    socklen_t length = sizeof address;
    getsockname(listener, (struct sockaddr *)&address, &length);
    for (int i = 0; i < TIMES; i++) {
        mq_send(messages, "m", 1, 0);
        msgsnd(queue, &message, sizeof message.text, 0);
        if (is("accept"))
            connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, length);
        if (is("wait") && !fork())
            _exit(0);
    }
    siginfo_t info;
    if (is("wait"))
        waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
}

static void *work(void *unused)
{
    for (int i = 0; i < TIMES; i++) {
        if (make() < 0 && errno == EINTR) {
            fprintf(stderr, "%s: %s\n", call, strerror(errno));
            exit(1);
        }
        if (is("wait"))
            break; /* the others may be alive still */
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t worker;
    struct sigaction action = { .sa_handler = handle };
    (void)argc;
    call = argv[1];
    sigaction(SIGUSR1, &action, NULL);
    prepare();
    pthread_create(&worker, NULL, work, NULL);
    for (int i = 0; i < TIMES; i++)
        pthread_kill(worker, SIGUSR1);
    pthread_join(worker, NULL);
    msgctl(queue, IPC_RMID, NULL);
    semctl(set, 0, IPC_RMID);
    return 0;
}
