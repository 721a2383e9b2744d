/* Things to wait for whose descriptors are watched in other ways: by epoll that tells once, by timeouts of sockets,
 * without blocking; and queues of the system that are full. */
#include "random.h"
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>

static void drop_descriptors(struct thing *t)
{
    for (unsigned i = 0; i < 4; i++)
        if (t->fd[i] > 0)
            CHECK_OK(close(t->fd[i]));
}

static int milliseconds(int64_t us)
{
    return us < 0 ? -1 : (int)((us + 999) / 1000);
}

/* --- epoll ------------------------------------------------------------------------------------------------------- */

static void watch(int epoll, int fd, unsigned events)
{
    struct epoll_event event = { .events = events };
    CHECK_OK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
}

/* An eventfd that does not block, in an epoll that tells of it once. */
static void make_once_told(struct thing *t)
{
    t->fd[0] = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK);
    t->fd[1] = epoll_create1(EPOLL_CLOEXEC);
    CHECK(t->fd[0] >= 0 && t->fd[1] >= 0);
    watch(t->fd[1], t->fd[0], EPOLLIN | (t->number & 1 ? EPOLLONESHOT : EPOLLET));
}

static void watch_again(void *thing)
{
    struct thing *t = thing;
    struct epoll_event event = { .events = EPOLLIN | (t->number & 1 ? EPOLLONESHOT : EPOLLET) };
    CHECK_OK(epoll_ctl(t->fd[1], EPOLL_CTL_MOD, t->fd[0], &event));
}

static bool take_event(int fd)
{
    uint64_t value;
    ssize_t size = read(fd, &value, 8);
    CHECK(size == 8 || (size < 0 && errno == EAGAIN));
    return size == 8;
}

static bool wait_once_told(struct thing *t, int64_t us, unsigned way)
{
    struct epoll_event event;
    bool taken = false;
    int told;
    do {
        pthread_cleanup_push(watch_again, t);
        told = way & 1 ? AGAIN(epoll_wait(t->fd[1], &event, 1, milliseconds(us)))
                       : AGAIN(epoll_pwait(t->fd[1], &event, 1, milliseconds(us), NULL));
        CHECK(told >= 0);
        taken = take_event(t->fd[0]);
        pthread_cleanup_pop(1);
    } while (!taken && told);
    return taken;
}

static void wake_event(struct thing *t, unsigned way)
{
    uint64_t one = 1;
    CHECK_EQ(way & 1 ? write(t->fd[0], &one, 8) : eventfd_write(t->fd[0], one) + 8, 8);
}

/* An epoll in an epoll. */
static void make_nested(struct thing *t)
{
    t->fd[0] = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK);
    t->fd[1] = epoll_create1(EPOLL_CLOEXEC);
    t->fd[2] = epoll_create1(EPOLL_CLOEXEC);
    CHECK(t->fd[0] >= 0 && t->fd[1] >= 0 && t->fd[2] >= 0);
    watch(t->fd[1], t->fd[0], EPOLLIN);
    watch(t->fd[2], t->fd[1], EPOLLIN);
}

static bool wait_nested(struct thing *t, int64_t us, unsigned way)
{
    struct pollfd one = { .fd = t->fd[way & 2 ? 1 : 2], .events = POLLIN };
    struct epoll_event event;
    for (;;) {
        int told =
            way & 1 ? AGAIN(poll(&one, 1, milliseconds(us))) : AGAIN(epoll_wait(t->fd[2], &event, 1, milliseconds(us)));
        CHECK(told >= 0);
        if (take_event(t->fd[0]))
            return true;
        if (!told)
            return false;
    }
}

/* --- Without blocking, and with a limit -------------------------------------------------------------------------- */

static void make_unblocked(struct thing *t)
{
    CHECK_OK(pipe2(t->fd, O_NONBLOCK | O_CLOEXEC));
}

static bool wait_unblocked(struct thing *t, int64_t us, unsigned way)
{
    struct pollfd one[2] = { { .fd = t->fd[0], .events = POLLIN }, { .fd = t->fd[1], .events = 0 } };
    char byte;
    for (;;) {
        ssize_t size = read(t->fd[0], &byte, 1);
        if (size == 1)
            return true;
        CHECK(size < 0 && errno == EAGAIN);
        int ready = AGAIN(poll(one, 1 + (way & 1), milliseconds(us)));
        CHECK(ready >= 0);
        if (!ready)
            return false;
    }
}

static void wake_unblocked(struct thing *t, unsigned way)
{
    (void)way;
    CHECK_EQ(write(t->fd[1], "u", 1), 1);
}

static void make_limited(struct thing *t)
{
    CHECK_OK(socketpair(AF_UNIX, t->number & 1 ? SOCK_STREAM : SOCK_SEQPACKET, 0, t->fd));
}

/* Who waits with a limit is not restarted. */
static bool wait_limited(struct thing *t, int64_t us, unsigned way)
{
    struct timespec time = interval_of(us < 0 ? FAR * INT64_C(1000000) : us + !us);
    struct timeval limit = { .tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000 };
    char byte = 0;
    CHECK_OK(setsockopt(t->fd[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
    ssize_t size = way & 1 ? AGAIN(read(t->fd[0], &byte, 1)) : AGAIN(recv(t->fd[0], &byte, 1, 0));
    if (size < 0) {
        CHECK_EQ(errno, EAGAIN);
        return false;
    }
    CHECK_EQ(byte, 'l');
    return true;
}

static void wake_limited(struct thing *t, unsigned way)
{
    CHECK_EQ(way & 1 ? RESTARTED(write(t->fd[1], "l", 1)) : RESTARTED(send(t->fd[1], "l", 1, MSG_DONTWAIT)), 1);
}

/* --- Of the internet --------------------------------------------------------------------------------------------- */

/* Binds a socket to a port of this machine's that is free. */
static struct sockaddr_in bind_any(int fd)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    CHECK(fd >= 0);
    CHECK_OK(bind(fd, (struct sockaddr *)&address, size));
    CHECK_OK(getsockname(fd, (struct sockaddr *)&address, &size));
    return address;
}

static void make_tcp(struct thing *t)
{
    t->fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    t->id = bind_any(t->fd[0]).sin_port;
    CHECK_OK(listen(t->fd[0], 64));
}

static bool wait_tcp(struct thing *t, int64_t us, unsigned way)
{
    struct pollfd one = { .fd = t->fd[0], .events = POLLIN };
    char byte = 0;
    if ((us >= 0 || way & 32) && AGAIN(poll(&one, 1, milliseconds(us))) != 1)
        return false;
    int fd = RESTARTED(accept4(t->fd[0], NULL, NULL, way & 1 ? SOCK_CLOEXEC : 0)), old;
    CHECK(fd >= 0);
    CHECK_OK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old));
    CHECK_EQ(RESTARTED(recv(fd, &byte, 1, MSG_WAITALL)), 1);
    CHECK_EQ(byte, 't');
    CHECK_EQ(RESTARTED(recv(fd, &byte, 1, 0)), 0);
    CHECK_OK(close(fd));
    CHECK_OK(pthread_setcancelstate(old, &old));
    return true;
}

static void wake_tcp(struct thing *t, unsigned way)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = (in_port_t)t->id,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0);
    CHECK_OK(RESTARTED(connect(fd, (struct sockaddr *)&address, sizeof address)));
    CHECK_EQ(RESTARTED(send(fd, "t", 1, MSG_NOSIGNAL)), 1);
    if (way & 1)
        CHECK_OK(shutdown(fd, SHUT_WR));
    CHECK_OK(close(fd));
}

static void make_udp(struct thing *t)
{
    for (unsigned i = 0; i < 2; i++)
        t->fd[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = bind_any(t->fd[0]);
    CHECK_OK(connect(t->fd[1], (struct sockaddr *)&address, sizeof address));
}

static bool wait_udp(struct thing *t, int64_t us, unsigned way)
{
    struct pollfd one = { .fd = t->fd[0], .events = POLLIN };
    char text[8];
    if ((us >= 0 || way & 32) && AGAIN(poll(&one, 1, milliseconds(us))) != 1)
        return false;
    CHECK_EQ(RESTARTED(recvfrom(t->fd[0], text, sizeof text, 0, NULL, NULL)), 4);
    return true;
}

static void wake_udp(struct thing *t, unsigned way)
{
    (void)way;
    CHECK_EQ(RESTARTED(send(t->fd[1], "udp!", 4, 0)), 4);
}

/* --- Files that appear ------------------------------------------------------------------------------------------- */

static void make_inotify(struct thing *t)
{
    strcpy(t->path, "/tmp/pct-random-XXXXXX");
    CHECK(mkdtemp(t->path));
    t->fd[0] = inotify_init1(IN_CLOEXEC);
    CHECK(t->fd[0] >= 0);
    CHECK(inotify_add_watch(t->fd[0], t->path, IN_CREATE) >= 0);
}

static void name_file(const struct thing *t, unsigned number, char *path, size_t size)
{
    snprintf(path, size, "%s/%u", t->path, number);
}

static void drop_inotify(struct thing *t)
{
    char path[80];
    drop_descriptors(t);
    for (unsigned i = 0; i < atomic_load(&t->word); i++) {
        name_file(t, i, path, sizeof path);
        CHECK_OK(unlink(path));
    }
    CHECK_OK(rmdir(t->path));
}

static bool wait_inotify(struct thing *t, int64_t us, unsigned way)
{
    struct pollfd one = { .fd = t->fd[0], .events = POLLIN };
    union {
        struct inotify_event event;
        char room[sizeof(struct inotify_event) + 16]; /* of one event, as names are short */
    } got;
    if ((us >= 0 || way & 32) && AGAIN(poll(&one, 1, milliseconds(us))) != 1)
        return false;
    CHECK_EQ(RESTARTED(read(t->fd[0], &got, sizeof got)), sizeof got);
    CHECK_EQ(got.event.mask, IN_CREATE);
    return true;
}

static void wake_inotify(struct thing *t, unsigned way)
{
    char path[80];
    (void)way;
    name_file(t, atomic_fetch_add(&t->word, 1), path, sizeof path);
    int fd = RESTARTED(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    CHECK(fd >= 0);
    CHECK_OK(close(fd));
}

/* --- Queues that are full: the wake takes from them -------------------------------------------------------------- */

static void make_full_queue(struct thing *t)
{
    struct mq_attr limits = { .mq_maxmsg = 1, .mq_msgsize = 8 };
    snprintf(t->path, sizeof t->path, "/pct-random-%d-%d", (int)getpid(), t->number);
    t->queue = mq_open(t->path, O_CREAT | O_EXCL | O_RDWR, 0600, &limits);
    CHECK(t->queue >= 0);
    CHECK_OK(mq_unlink(t->path));
    CHECK_OK(mq_send(t->queue, "full", 4, 0));
}

static void drop_queue(struct thing *t)
{
    CHECK_OK(mq_close(t->queue));
}

static bool wait_full_queue(struct thing *t, int64_t us, unsigned way)
{
    struct timespec until = deadline_of(CLOCK_REALTIME, us < 0 ? FAR * INT64_C(1000000) : us);
    if (us < 0 && way & 1) {
        CHECK_OK(RESTARTED(mq_send(t->queue, "full", 4, 0)));
        return true;
    }
    int result = RESTARTED(mq_timedsend(t->queue, "full", 4, 0, &until));
    if (result)
        CHECK_EQ(errno, ETIMEDOUT);
    return !result;
}

static void wake_full_queue(struct thing *t, unsigned way)
{
    char text[8];
    (void)way;
    CHECK_EQ(RESTARTED(mq_receive(t->queue, text, sizeof text, NULL)), 4);
}

struct message {
    long type;
    char text[64];
};

static void make_full_sysv_queue(struct thing *t)
{
    struct msqid_ds limits;
    struct message message = { .type = 1 };
    t->id = msgget(IPC_PRIVATE, 0600);
    CHECK(t->id >= 0);
    CHECK_OK(msgctl(t->id, IPC_STAT, &limits));
    limits.msg_qbytes = sizeof message.text;
    CHECK_OK(msgctl(t->id, IPC_SET, &limits));
    CHECK_OK(msgsnd(t->id, &message, sizeof message.text, 0));
}

static void drop_sysv_queue(struct thing *t)
{
    CHECK_OK(msgctl(t->id, IPC_RMID, NULL));
}

static bool wait_full_sysv_queue(struct thing *t, int64_t us, unsigned way)
{
    struct message message = { .type = 1 };
    (void)us, (void)way;
    CHECK_OK(ANYHOW(msgsnd(t->id, &message, sizeof message.text, 0)));
    return true;
}

static void wake_full_sysv_queue(struct thing *t, unsigned way)
{
    struct message message;
    CHECK_EQ(ANYHOW(msgrcv(t->id, &message, sizeof message.text, way & 1, 0)), sizeof message.text);
}

/* A semaphore that has to be 0, and is 1 then; the wake takes that away. */
static void make_zero(struct thing *t)
{
    t->id = semget(IPC_PRIVATE, 1, 0600);
    CHECK(t->id >= 0);
    CHECK_OK(semctl(t->id, 0, SETVAL, 1));
}

static void drop_zero(struct thing *t)
{
    CHECK_OK(semctl(t->id, 0, IPC_RMID));
}

static bool wait_zero(struct thing *t, int64_t us, unsigned way)
{
    struct sembuf zero_then_one[] = { { .sem_op = 0 }, { .sem_op = 1 } };
    struct timespec limit = interval_of(us < 0 ? FAR * INT64_C(1000000) : us);
    int result = us < 0 && way & 1 ? ANYHOW(semop(t->id, zero_then_one, 2))
                                   : ANYHOW(semtimedop(t->id, zero_then_one, 2, &limit));
    if (result)
        CHECK_EQ(errno, EAGAIN);
    return !result;
}

static void wake_zero(struct thing *t, unsigned way)
{
    struct sembuf down = { .sem_op = -1 };
    (void)way;
    CHECK_OK(ANYHOW(semop(t->id, &down, 1)));
}

const struct kind watched_kinds[] = {
    { "epoll that tells once", TIMED | CANCEL | HANDLER | PROCESS, make_once_told, drop_descriptors, wait_once_told,
      wake_event },
    { "epoll in an epoll", TIMED | CANCEL | HANDLER | PROCESS, make_nested, drop_descriptors, wait_nested, wake_event },
    { "pipe that does not block", TIMED | CANCEL | HANDLER | PROCESS, make_unblocked, drop_descriptors, wait_unblocked,
      wake_unblocked },
    { "socket with a limit", TIMED | CANCEL | HANDLER | PROCESS, make_limited, drop_descriptors, wait_limited,
      wake_limited },
    { "TCP", OUTSIDE | TIMED | CANCEL | PROCESS, make_tcp, drop_descriptors, wait_tcp, wake_tcp },
    { "UDP", OUTSIDE | TIMED | CANCEL | HANDLER | PROCESS, make_udp, drop_descriptors, wait_udp, wake_udp },
    { "inotify", OUTSIDE | TIMED | CANCEL, make_inotify, drop_inotify, wait_inotify, wake_inotify },
    { "full message queue", OUTSIDE | TIMED | CANCEL | PROCESS, make_full_queue, drop_queue, wait_full_queue,
      wake_full_queue },
    { "full System V queue", OUTSIDE | CANCEL | PROCESS, make_full_sysv_queue, drop_sysv_queue, wait_full_sysv_queue,
      wake_full_sysv_queue },
    { "System V semaphore that is 0", OUTSIDE | TIMED | PROCESS, make_zero, drop_zero, wait_zero, wake_zero },
    { NULL, 0, NULL, NULL, NULL, NULL },
};
