/* Calls that the kernel refuses, or does, at once, on descriptors of which poll() says that they would have to wait:
 * each was waited for, for ever, did something else (send() wrote to a pipe), or crashed where the kernel says EFAULT.
 *
 * BUILD: gcc -O1 -g -w -pthread -o %p %s
 * RUN: %p
 * RUN: pct run -s 1 -n 4 --timeout 20 -- %p
 * RUN: pct run -s 1 -n 2 -S pos --timeout 20 -- %p
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int failed;
static char room[1 << 17];

static void check(const char *call, long result, long expected, int error)
{
    if (result == expected && (expected >= 0 || errno == error))
        return;
    printf("%s: %ld, errno %d; natively %ld, %d\n", call, result, errno, expected, error);
    failed = 1;
}

#define RETURNS(value, call) check(#call, (errno = 0, call), value, 0)
#define FAILS(error, call) check(#call, (errno = 0, call), -1, error)

static void fill(int fd)
{
    const int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (write(fd, room, sizeof room) > 0)
        continue;
    while (write(fd, room, 1) > 0)
        continue;
    fcntl(fd, F_SETFL, flags);
}

static void *rest(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pause();
    return unused;
}

static int pipe_[2], full[2], pair[2], full_pair[2], listener, event, full_event, timer, signals, epoll, file, appended;
static const struct iovec part = { room, 8 }, negative = { room, SIZE_MAX }, none[2];

static void parts(void)
{
    void *const kernels = (void *)0xffff800000000000;
    const uint64_t zero = 0, most = UINT64_MAX;
    FAILS(EFAULT, read(pipe_[0], kernels, 8));
    FAILS(EFAULT, read(pipe_[0], room, SIZE_MAX));
    FAILS(EINVAL, readv(pipe_[0], &negative, 1));
    RETURNS(0, readv(pipe_[0], none, 2));
    FAILS(EFAULT, write(full[1], kernels, 8));
    FAILS(EINVAL, writev(full[1], &part, -1));
    FAILS(EINVAL, writev(full[1], &part, IOV_MAX + 1));
    FAILS(EINVAL, writev(pipe_[1], &negative, 1));
    FAILS(EFAULT, writev(full[1], NULL, 1));
    RETURNS(0, writev(full[1], none, 2));
    FAILS(ESPIPE, pwritev2(full[1], &part, 1, 0, 0));
    FAILS(EINVAL, read(event, room, 1));
    FAILS(EINVAL, read(timer, room, 4));
    FAILS(EINVAL, read(signals, room, 100));
    FAILS(EINVAL, read(epoll, room, 8));
    FAILS(ENOTCONN, read(listener, room, 8));
    RETURNS(8, write(full_event, &zero, 8));
    FAILS(EINVAL, write(full_event, &most, 8));
    FAILS(EINVAL, write(full_event, room, 1));
    FAILS(EINVAL, write(timer, room, 8));
    FAILS(EINVAL, write(epoll, room, 8));
}

static void sockets(void)
{
    struct msghdr message = { .msg_iov = (struct iovec *)&part, .msg_iovlen = 1 };
    struct mmsghdr several = { .msg_hdr = message };
    const struct sockaddr_in name = { .sin_family = AF_INET, .sin_port = 1 };
    struct iovec bad = negative;
    FAILS(ENOTSOCK, send(pipe_[1], room, 8, 0));
    FAILS(ENOTSOCK, send(full[1], room, 8, 0));
    FAILS(ENOTSOCK, sendto(event, room, 8, 0, (void *)&name, sizeof name));
    FAILS(ENOTSOCK, sendmsg(full_event, &message, 0));
    FAILS(ENOTSOCK, sendmmsg(pipe_[1], &several, 0, 0));
    FAILS(ENOTSOCK, recv(pipe_[0], room, 8, 0));
    FAILS(ENOTSOCK, recvmsg(event, &message, 0));
    FAILS(ENOTSOCK, recvmmsg(timer, &several, 1, 0, NULL));
    FAILS(ENOTCONN, recv(listener, room, 8, 0));
    FAILS(EINVAL, recvmsg(pair[0], &message, 1 << 31));
    FAILS(EISCONN, sendto(full_pair[0], room, 8, 0, (void *)&name, sizeof name));
    FAILS(EFAULT, sendto(full_pair[0], room, 8, 0, (void *)16, 16));
    RETURNS(0, send(full_pair[0], room, 0, 0));
    message.msg_iov = &bad;
    FAILS(EINVAL, recvmsg(pair[0], &message, 0));
    FAILS(EINVAL, sendmsg(full_pair[0], &message, 0));
    FAILS(EINVAL, accept4(listener, NULL, NULL, 1));
}

static void *send_soon(void *unused)
{
    usleep(1000);
    send(pair[1], room, 1, 0);
    return unused;
}

/* What waits natively, and returned at once. */
static void waits(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, send_soon, NULL);
    RETURNS(1, recv(pair[0], room, 8, MSG_ERRQUEUE));
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, send_soon, NULL);
    RETURNS(0, recv(pair[0], room, 0, 0));
    pthread_join(thread, NULL);
}

static void ends(void)
{
    off64_t start = 0, before = -1;
    off_t minus = -1;
    FAILS(EINVAL, tee(pipe_[0], pipe_[1], 8, 0));
    FAILS(EBADF, tee(pipe_[0], pipe_[0], 8, 0));
    FAILS(EINVAL, tee(pair[0], full[1], 8, 0));
    FAILS(EINVAL, tee(pipe_[0], full[1], 8, 0x100));
    RETURNS(0, tee(pipe_[0], full[1], 0, 0));
    FAILS(EINVAL, splice(pipe_[0], NULL, pipe_[1], NULL, 8, 0));
    FAILS(EBADF, splice(pipe_[1], NULL, full[1], NULL, 8, 0));
    FAILS(EBADF, splice(pipe_[0], NULL, full[0], NULL, 8, 0));
    FAILS(EBADF, splice(pipe_[0], NULL, -1, NULL, 8, 0));
    FAILS(EBADF, splice(pipe_[0], NULL, file, NULL, 8, 0));
    FAILS(EINVAL, splice(pipe_[0], NULL, appended, NULL, 8, 0));
    FAILS(EINVAL, splice(pipe_[0], NULL, event, NULL, 8, 0));
    FAILS(EINVAL, splice(pair[0], NULL, pair[1], NULL, 8, 0));
    FAILS(ESPIPE, splice(pipe_[0], &start, full[1], NULL, 8, 0));
    FAILS(ESPIPE, splice(file, NULL, full[1], &start, 8, 0));
    FAILS(EINVAL, splice(file, &before, full[1], NULL, 8, 0));
    FAILS(EINVAL, splice(pipe_[0], NULL, full[1], NULL, 8, 0x100));
    FAILS(EINVAL, splice(event, NULL, full_pair[0], NULL, 8, 0));
    FAILS(EBADF, vmsplice(full_pair[0], &part, 1, 0));
    FAILS(EBADF, vmsplice(full_event, &part, 1, 0));
    FAILS(EINVAL, vmsplice(full[1], &part, 1, 0x100));
    FAILS(EINVAL, vmsplice(full[1], &negative, 1, 0));
    RETURNS(0, vmsplice(full[1], none, 2, 0));
    FAILS(EBADF, sendfile(full[1], -1, NULL, 8));
    FAILS(EINVAL, sendfile(full_pair[0], pipe_[0], NULL, 8));
    FAILS(ESPIPE, sendfile(full_pair[0], pipe_[0], &start, 8));
    FAILS(EINVAL, sendfile(full[1], file, &minus, 8));
    FAILS(EINVAL, sendfile(full_pair[0], file, NULL, SIZE_MAX));
    FAILS(EINVAL, sendfile(full_event, file, NULL, 8));
    FAILS(EPIPE, sendfile(listener, file, NULL, 8));
}

static void others(void)
{
    static const struct timespec early = { -1, 0 }, wrong = { 0, -1 }, moment = { 0, 1000000 };
    static uint32_t word = 7;
    const struct aiocb *nothing[1] = { NULL };
    struct mq_attr limits = { .mq_maxmsg = 1, .mq_msgsize = 8 };
    struct epoll_event came;
    char name[32];
    sigset_t usr1;
    timer_t clock;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sprintf(name, "/pct-refused-%d", (int)getpid());
    const mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, &limits);
    mq_unlink(name);
    FAILS(EINVAL, mq_timedreceive(queue, room, 8, NULL, &early));
    FAILS(EINVAL, epoll_wait(pipe_[0], &came, 1, -5));
    FAILS(EBADF, epoll_wait(-1, &came, 1, -5));
    FAILS(ENOSYS, syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_CLOCK_REALTIME, 7, &moment));
    FAILS(EFAULT, syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE, 1, 1, 16, 7));
    FAILS(EFAULT, sigtimedwait(NULL, NULL, &wrong));
    RETURNS(0, aio_suspend(nothing, 1, &wrong));
    FAILS(EFAULT, getrusage(RUSAGE_SELF, NULL));
    FAILS(EFAULT, getitimer(ITIMER_REAL, NULL));
    FAILS(EFAULT, timerfd_gettime(timer, NULL));
    timer_create(CLOCK_MONOTONIC, &(struct sigevent){ .sigev_notify = SIGEV_NONE }, &clock);
    FAILS(EFAULT, timer_gettime(clock, NULL));
    const pid_t child = fork();
    if (!child) {
        pause();
        _exit(1);
    }
    FAILS(EINVAL, wait4(-1, NULL, 0x1000000, NULL));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

int main(void)
{
    pthread_t thread;
    uint64_t most = UINT64_MAX - 1;
    sigset_t some;
    const struct sockaddr_in any = { .sin_family = AF_INET };
    signal(SIGPIPE, SIG_IGN);
    pthread_create(&thread, NULL, rest, NULL);
    pipe(pipe_);
    pipe(full);
    fill(full[1]);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    socketpair(AF_UNIX, SOCK_STREAM, 0, full_pair);
    fill(full_pair[0]);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, (const void *)&any, sizeof any);
    listen(listener, 1);
    event = eventfd(0, 0);
    full_event = eventfd(0, 0);
    write(full_event, &most, sizeof most);
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    sigemptyset(&some);
    sigaddset(&some, SIGUSR2);
    signals = signalfd(-1, &some, 0);
    epoll = epoll_create1(0);
    file = open("/proc/self/exe", O_RDONLY);
    FILE *temporary = tmpfile();
    appended = fileno(temporary);
    fcntl(appended, F_SETFL, O_RDWR | O_APPEND);
    parts();
    sockets();
    waits();
    ends();
    others();
    return failed;
}
