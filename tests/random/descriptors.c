/* Things to wait for that are descriptors: pipes, sockets, events, queues, locks on files. */
#include "random.h"
#include <aio.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>

static void drop_descriptors(struct thing *t)
{
    for (unsigned i = 0; i < 4; i++)
        if (t->fd[i] > 0)
            CHECK_OK(close(t->fd[i]));
}

static void close_it(void *descriptor)
{
    CHECK_OK(close(*(int *)descriptor));
}

/* Waits until the descriptor is readable. */
static bool readable(int fd, int64_t us, unsigned way)
{
    int64_t wait_us = us < 0 ? FAR * INT64_C(1000000) : us;
    int ms = us < 0 && way & 8 ? -1 : (int)((wait_us + 999) / 1000), epoll, ready = -1;
    struct timespec limit = interval_of(wait_us);
    struct timeval time = { .tv_sec = limit.tv_sec, .tv_usec = limit.tv_nsec / 1000 };
    struct pollfd poll_one = { .fd = fd, .events = POLLIN };
    struct epoll_event event = { .events = EPOLLIN };
    fd_set set;
    switch (way % 7) {
    case 0:
        return AGAIN(poll(&poll_one, 1, ms)) == 1;
    case 1:
        return AGAIN(ppoll(&poll_one, 1, &limit, NULL)) == 1;
    case 2:
    case 3:
        do {
            FD_ZERO(&set);
            FD_SET(fd, &set);
            ready = way % 7 == 2 ? select(fd + 1, &set, NULL, NULL, &time)
                                 : pselect(fd + 1, &set, NULL, NULL, &limit, NULL);
        } while (ready < 0 && again(false));
        return ready == 1;
    }
    epoll = epoll_create1(0);
    CHECK(epoll >= 0);
    pthread_cleanup_push(close_it, &epoll);
    CHECK_OK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
    ready = way % 7 == 4   ? AGAIN(epoll_wait(epoll, &event, 1, ms))
            : way % 7 == 5 ? AGAIN(epoll_pwait(epoll, &event, 1, ms, NULL))
                           : AGAIN(epoll_pwait2(epoll, &event, 1, &limit, NULL));
    pthread_cleanup_pop(1);
    return ready == 1;
}

/* --- Pipes ------------------------------------------------------------------------------------------------------- */

static void make_pipe(struct thing *t)
{
    CHECK_OK(t->number & 1 ? pipe(t->fd) : pipe2(t->fd, O_CLOEXEC));
}

static bool wait_pipe(struct thing *t, int64_t us, unsigned way)
{
    char byte = 0;
    struct iovec part = { &byte, 1 };
    if ((us >= 0 || way & 32) && !readable(t->fd[0], us, way))
        return false;
    CHECK_EQ(way & 1   ? RESTARTED(read(t->fd[0], &byte, 1))
             : way & 2 ? RESTARTED(readv(t->fd[0], &part, 1))
             : way & 4 ? RESTARTED(preadv2(t->fd[0], &part, 1, -1, 0))
                       : RESTARTED(preadv64v2(t->fd[0], &part, 1, -1, 0)),
             1);
    CHECK_EQ(byte, 'w');
    return true;
}

static void wake_pipe(struct thing *t, unsigned way)
{
    char byte = 'w';
    struct iovec part = { &byte, 1 };
    CHECK_EQ(way & 1   ? RESTARTED(write(t->fd[1], &byte, 1))
             : way & 2 ? RESTARTED(writev(t->fd[1], &part, 1))
             : way & 4 ? RESTARTED(pwritev2(t->fd[1], &part, 1, -1, 0))
                       : RESTARTED(pwritev64v2(t->fd[1], &part, 1, -1, 0)),
             1);
}

/* A pipe that is full: the wake takes from it. */
static void make_full_pipe(struct thing *t)
{
    static char page[4096];
    make_pipe(t);
    CHECK(fcntl(t->fd[1], F_SETPIPE_SZ, 4096) == 4096);
    CHECK_EQ(write(t->fd[1], page, sizeof page), sizeof page);
}

static bool wait_full_pipe(struct thing *t, int64_t us, unsigned way)
{
    static char page[4096];
    struct pollfd poll_one = { .fd = t->fd[1], .events = POLLOUT };
    if ((us >= 0 || way & 32) && AGAIN(poll(&poll_one, 1, us < 0 ? -1 : (int)((us + 999) / 1000))) != 1)
        return false;
    CHECK_EQ(RESTARTED(write(t->fd[1], page, sizeof page)), sizeof page);
    return true;
}

static void wake_full_pipe(struct thing *t, unsigned way)
{
    /* All at once: of two who took a half each, none would have woken anybody. */
    char page[4096];
    (void)way;
    CHECK_EQ(RESTARTED(read(t->fd[0], page, sizeof page)), sizeof page);
}

static bool wait_hangup(struct thing *t, int64_t us, unsigned way)
{
    char byte;
    if ((us >= 0 || way & 32) && !readable(t->fd[0], us, way))
        return false;
    CHECK_EQ(RESTARTED(read(t->fd[0], &byte, 1)), 0);
    return true;
}

static void wake_hangup(struct thing *t, unsigned way)
{
    (void)way;
    CHECK_OK(close(t->fd[1]));
    t->fd[1] = 0;
}

/* --- Sockets ----------------------------------------------------------------------------------------------------- */

static void make_socketpair(struct thing *t)
{
    static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET };
    CHECK_OK(socketpair(AF_UNIX, types[t->number % 3], 0, t->fd));
}

static bool wait_socketpair(struct thing *t, int64_t us, unsigned way)
{
    char byte = 0;
    struct iovec part = { &byte, 1 };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    struct mmsghdr many = { .msg_hdr = message };
    if ((us >= 0 || way & 32) && !readable(t->fd[0], us, way))
        return false;
    switch (way % 5) {
    case 0:
        CHECK_EQ(RESTARTED(read(t->fd[0], &byte, 1)), 1);
        break;
    case 1:
        CHECK_EQ(RESTARTED(recv(t->fd[0], &byte, 1, 0)), 1);
        break;
    case 2:
        CHECK_EQ(RESTARTED(recvfrom(t->fd[0], &byte, 1, 0, NULL, NULL)), 1);
        break;
    case 3:
        CHECK_EQ(RESTARTED(recvmsg(t->fd[0], &message, 0)), 1);
        break;
    case 4:
        CHECK_EQ(RESTARTED(recvmmsg(t->fd[0], &many, 1, 0, NULL)), 1);
        break;
    }
    CHECK_EQ(byte, 's');
    return true;
}

static void wake_socketpair(struct thing *t, unsigned way)
{
    char byte = 's';
    struct iovec part = { &byte, 1 };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    switch (way % 3) {
    case 0:
        CHECK_EQ(RESTARTED(write(t->fd[1], &byte, 1)), 1);
        break;
    case 1:
        CHECK_EQ(RESTARTED(send(t->fd[1], &byte, 1, 0)), 1);
        break;
    case 2:
        CHECK_EQ(RESTARTED(sendmsg(t->fd[1], &message, 0)), 1);
        break;
    }
}

static struct sockaddr_un address_of(struct thing *t)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "pct-random-%d-%d", (int)t->owner, t->number);
    return address;
}

static void make_listener(struct thing *t)
{
    struct sockaddr_un address = address_of(t);
    t->fd[0] = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(t->fd[0] >= 0);
    CHECK_OK(bind(t->fd[0], (struct sockaddr *)&address, sizeof address));
    CHECK_OK(listen(t->fd[0], 64));
}

static bool wait_listener(struct thing *t, int64_t us, unsigned way)
{
    if ((us >= 0 || way & 32) && !readable(t->fd[0], us, way))
        return false;
    int fd = way & 1 ? RESTARTED(accept(t->fd[0], NULL, NULL)) : RESTARTED(accept4(t->fd[0], NULL, NULL, SOCK_CLOEXEC));
    CHECK(fd >= 0);
    CHECK_OK(close(fd));
    return true;
}

static void wake_listener(struct thing *t, unsigned way)
{
    struct sockaddr_un address = address_of(t);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    (void)way;
    CHECK(fd >= 0);
    CHECK_OK(RESTARTED(connect(fd, (struct sockaddr *)&address, sizeof address)));
    CHECK_OK(close(fd));
}

/* --- Events and timers ------------------------------------------------------------------------------------------- */

static void make_eventfd(struct thing *t)
{
    t->fd[0] = eventfd(0, EFD_SEMAPHORE);
    CHECK(t->fd[0] >= 0);
}

static bool wait_eventfd(struct thing *t, int64_t us, unsigned way)
{
    uint64_t value;
    if ((us >= 0 || way & 32) && !readable(t->fd[0], us, way))
        return false;
    CHECK_EQ(way & 1 ? RESTARTED(read(t->fd[0], &value, 8)) : RESTARTED(eventfd_read(t->fd[0], &value)) + 8, 8);
    CHECK_EQ(value, 1);
    return true;
}

static void wake_eventfd(struct thing *t, unsigned way)
{
    uint64_t one = 1;
    CHECK_EQ(way & 1 ? RESTARTED(write(t->fd[0], &one, 8)) : RESTARTED(eventfd_write(t->fd[0], one)) + 8, 8);
}

static void make_timerfd(struct thing *t)
{
    t->fd[0] = timerfd_create(t->number & 1 ? CLOCK_MONOTONIC : CLOCK_REALTIME, 0);
    CHECK(t->fd[0] >= 0);
}

static bool wait_timerfd(struct thing *t, int64_t us, unsigned way)
{
    uint64_t value;
    if ((us >= 0 || way & 32) && !readable(t->fd[0], us, way))
        return false;
    CHECK_EQ(RESTARTED(read(t->fd[0], &value, 8)), 8);
    CHECK_EQ(value, 1);
    return true;
}

static void wake_timerfd(struct thing *t, unsigned way)
{
    struct itimerspec once = { .it_value = interval_of(1 + way * 10) }, before;
    CHECK_OK(timerfd_gettime(t->fd[0], &before));
    CHECK(!before.it_value.tv_sec && !before.it_value.tv_nsec);
    CHECK_OK(timerfd_settime(t->fd[0], 0, &once, NULL));
}

/* --- Queues and semaphores of the system ------------------------------------------------------------------------- */

static void make_queue(struct thing *t)
{
    struct mq_attr limits = { .mq_maxmsg = 8, .mq_msgsize = 8 };
    snprintf(t->path, sizeof t->path, "/pct-random-%d-%d", (int)getpid(), t->number);
    t->queue = mq_open(t->path, O_CREAT | O_EXCL | O_RDWR, 0600, &limits);
    CHECK(t->queue >= 0);
    CHECK_OK(mq_unlink(t->path));
}

static void drop_queue(struct thing *t)
{
    CHECK_OK(mq_close(t->queue));
}

static bool wait_queue(struct thing *t, int64_t us, unsigned way)
{
    char text[8];
    struct timespec until = deadline_of(CLOCK_REALTIME, us < 0 ? FAR * INT64_C(1000000) : us);
    ssize_t size = us < 0 && way & 1 ? RESTARTED(mq_receive(t->queue, text, 8, NULL))
                                     : RESTARTED(mq_timedreceive(t->queue, text, 8, NULL, &until));
    if (size < 0) {
        CHECK_EQ(errno, ETIMEDOUT);
        return false;
    }
    CHECK(size == 5 && !memcmp(text, "queue", 5));
    return true;
}

static void wake_queue(struct thing *t, unsigned way)
{
    struct timespec until = deadline_of(CLOCK_REALTIME, FAR * INT64_C(1000000));
    CHECK_OK(way & 1 ? RESTARTED(mq_send(t->queue, "queue", 5, way))
                     : RESTARTED(mq_timedsend(t->queue, "queue", 5, way, &until)));
}

static void make_sysv_queue(struct thing *t)
{
    t->id = msgget(IPC_PRIVATE, 0600);
    CHECK(t->id >= 0);
}

static void drop_sysv_queue(struct thing *t)
{
    CHECK_OK(msgctl(t->id, IPC_RMID, NULL));
}

static bool wait_sysv_queue(struct thing *t, int64_t us, unsigned way)
{
    struct {
        long type;
        char text[8];
    } message;
    (void)us;
    CHECK_EQ(ANYHOW(msgrcv(t->id, &message, 8, way & 1 ? 3 : 0, 0)), 8);
    CHECK_EQ(message.type, 3);
    return true;
}

static void wake_sysv_queue(struct thing *t, unsigned way)
{
    struct {
        long type;
        char text[8];
    } message = { .type = 3, .text = "message" };
    (void)way;
    CHECK_OK(ANYHOW(msgsnd(t->id, &message, 8, 0)));
}

static void make_sysv_sem(struct thing *t)
{
    t->id = semget(IPC_PRIVATE, 1, 0600);
    CHECK(t->id >= 0);
    CHECK_OK(semctl(t->id, 0, SETVAL, 0));
}

static void drop_sysv_sem(struct thing *t)
{
    CHECK_OK(semctl(t->id, 0, IPC_RMID));
}

static bool wait_sysv_sem(struct thing *t, int64_t us, unsigned way)
{
    struct sembuf down = { .sem_op = -1 };
    struct timespec limit = interval_of(us < 0 ? FAR * INT64_C(1000000) : us);
    int result = us < 0 && way & 1 ? ANYHOW(semop(t->id, &down, 1)) : ANYHOW(semtimedop(t->id, &down, 1, &limit));
    if (result)
        CHECK_EQ(errno, EAGAIN);
    return !result;
}

static void wake_sysv_sem(struct thing *t, unsigned way)
{
    struct sembuf up = { .sem_op = 1 };
    (void)way;
    CHECK_OK(semop(t->id, &up, 1));
}

/* --- Locks on files ---------------------------------------------------------------------------------------------- */

static void make_file(struct thing *t)
{
    snprintf(t->path, sizeof t->path, "/tmp/pct-random-%d-%d", (int)getpid(), t->number);
    for (unsigned i = 0; i < 2; i++) {
        t->fd[i] = open(t->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        CHECK(t->fd[i] >= 0);
    }
    CHECK_OK(unlink(t->path));
}

static void make_flock(struct thing *t)
{
    make_file(t);
    CHECK_OK(flock(t->fd[1], LOCK_EX));
}

static bool wait_flock(struct thing *t, int64_t us, unsigned way)
{
    (void)us;
    CHECK_OK(RESTARTED(flock(t->fd[0], way & 1 ? LOCK_EX : LOCK_SH)));
    return true;
}

static void wake_flock(struct thing *t, unsigned way)
{
    (void)way;
    CHECK_OK(flock(t->fd[1], LOCK_UN));
}

static void make_ofd_lock(struct thing *t)
{
    struct flock all = { .l_type = F_WRLCK };
    make_file(t);
    CHECK_OK(fcntl(t->fd[1], F_OFD_SETLK, &all));
}

static bool wait_ofd_lock(struct thing *t, int64_t us, unsigned way)
{
    struct flock all = { .l_type = (short)(way & 1 ? F_WRLCK : F_RDLCK) };
    (void)us;
    CHECK_OK(RESTARTED(fcntl(t->fd[0], F_OFD_SETLKW, &all)));
    return true;
}

static void wake_ofd_lock(struct thing *t, unsigned way)
{
    struct flock all = { .l_type = F_UNLCK };
    (void)way;
    CHECK_OK(fcntl(t->fd[1], F_OFD_SETLK, &all));
}

/* --- Asynchronous reading ---------------------------------------------------------------------------------------- */

static bool wait_aio(struct thing *t, int64_t us, unsigned way)
{
    char byte = 0;
    struct aiocb control = { .aio_fildes = t->fd[0], .aio_buf = &byte, .aio_nbytes = 1 }, *list[] = { &control };
    (void)us;
    control.aio_sigevent.sigev_notify = SIGEV_NONE;
    control.aio_lio_opcode = LIO_READ;
    if (way & 1) /* glibc's forgets to leave its queue when it is interrupted */
        CHECK_OK(lio_listio(way & 2 && !interruptions() ? LIO_WAIT : LIO_NOWAIT, list, 1, NULL));
    else
        CHECK_OK(aio_read(&control));
    while (aio_error(&control) == EINPROGRESS) {
        struct timespec far = interval_of(FAR * INT64_C(1000000));
        CHECK_OK(AGAIN(aio_suspend((const struct aiocb *const *)list, 1, way & 4 ? &far : NULL)));
    }
    CHECK_OK(aio_error(&control));
    CHECK_EQ(aio_return(&control), 1);
    CHECK_EQ(byte, 'w');
    return true;
}

const struct kind descriptor_kinds[] = {
    { "pipe", TIMED | CANCEL | HANDLER | PROCESS, make_pipe, drop_descriptors, wait_pipe, wake_pipe },
    { "full pipe", TIMED | CANCEL | HANDLER | PROCESS, make_full_pipe, drop_descriptors, wait_full_pipe,
      wake_full_pipe },
    { "hang-up", TIMED | CANCEL | HANDLER | ONCE | SINGLE, make_pipe, drop_descriptors, wait_hangup, wake_hangup },
    { "socket pair", TIMED | CANCEL | HANDLER | PROCESS, make_socketpair, drop_descriptors, wait_socketpair,
      wake_socketpair },
    { "listening socket", OUTSIDE | TIMED | CANCEL | PROCESS, make_listener, drop_descriptors, wait_listener,
      wake_listener },
    { "eventfd", TIMED | CANCEL | HANDLER | PROCESS, make_eventfd, drop_descriptors, wait_eventfd, wake_eventfd },
    { "timerfd", TIMED | CANCEL | HANDLER | PROCESS | ONCE | SINGLE, make_timerfd, drop_descriptors, wait_timerfd,
      wake_timerfd },
    { "message queue", OUTSIDE | TIMED | CANCEL | PROCESS, make_queue, drop_queue, wait_queue, wake_queue },
    { "System V queue", OUTSIDE | CANCEL | PROCESS, make_sysv_queue, drop_sysv_queue, wait_sysv_queue,
      wake_sysv_queue },
    { "System V semaphore", OUTSIDE | TIMED | PROCESS, make_sysv_sem, drop_sysv_sem, wait_sysv_sem, wake_sysv_sem },
    { "flock", OUTSIDE | PROCESS | ONCE | SINGLE, make_flock, drop_descriptors, wait_flock, wake_flock },
    { "lock of a file", OUTSIDE | CANCEL | PROCESS | ONCE | SINGLE, make_ofd_lock, drop_descriptors, wait_ofd_lock,
      wake_ofd_lock },
    { "aio_read", PROCESS | ONCE | SINGLE, make_pipe, drop_descriptors, wait_aio, wake_pipe },
    { NULL, 0, NULL, NULL, NULL, NULL },
};
