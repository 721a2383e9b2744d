/* Sockets: connecting, receiving, sending.
 *
 * A socket that poll() calls ready may not be when the call comes: another process may have taken what there was. So
 * blocking calls are made without waiting, and wait again in the scheduler when that failed. */
#include <preload/core/sys.h>
#include <preload/memory/channel.h>
#include <preload/core/user_memory.h>
#include "io.h"
#include <preload/thread/cancel.h>
#include <preload/memory/calls.h>
#include <preload/time/absent.h>
#include <preload/time/clock.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>

static bool listens(int fd)
{
    return pct_io_socket_option(fd, SO_ACCEPTCONN);
}

PCT_EXPORT int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    PCT_IO_ENTER(self, fd);
    int made;
    if (!self) {
        made = PCT_IO_PASS(PCT_OP_ACCEPT, fd, REAL(accept4)(fd, address, length, flags));
    } else if (pct_io_begin(self, PCT_OP_ACCEPT, fd, POLLIN, !listens(fd) || flags & ~(SOCK_CLOEXEC | SOCK_NONBLOCK))) {
        return -1;
    } else {
        made = (int)pct_io_end(self, PCT_OP_ACCEPT, fd, REAL(accept4)(fd, address, length, flags));
        if (made >= 0)
            pct_io_accepted(made);
    }
    if (made >= 0 && pct_running())
        pct_fd_made(made, PCT_FD_OUTSIDE);
    return made;
}

PCT_EXPORT int accept(int fd, struct sockaddr *address, socklen_t *length)
{
    return accept4(fd, address, length, 0);
}

/* Connect without waiting: EINPROGRESS where it would. The flag belongs to the socket, not to the call, but nobody else
 * runs meanwhile. */
static int try_connect(int fd, const struct sockaddr *address, socklen_t length)
{
    long flags = PCT_SYS2(SYS_fcntl, fd, F_GETFL);
    PCT_SYS3(SYS_fcntl, fd, F_SETFL, flags | O_NONBLOCK);
    int failed = REAL(connect)(fd, address, length);
    PCT_SYS3(SYS_fcntl, fd, F_SETFL, flags);
    return failed;
}

/* Wait for a connection that is being made. */
static int finish_connect(struct pct_shim_thread *self, int fd)
{
    struct pollfd asked = { .fd = fd, .events = POLLOUT };
    const struct pct_io io = { .fds = &asked, .count = 1 };
    const uint64_t deadline = pct_io_socket_deadline(fd, POLLOUT);
    enum pct_result result =
        pct_io_wait(self, PCT_OP_CONNECT, fd, &io, PCT_REACH_WORLD, deadline, deadline == PCT_NEVER);
    /* The connection goes on being made, as natively. */
    int error = result == PCT_INTERRUPTED ? EINTR
                : result == PCT_TIMEOUT   ? EINPROGRESS
                                          : pct_io_socket_option(fd, SO_ERROR);
    if (!error)
        return 0;
    errno = error;
    return -1;
}

PCT_EXPORT int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    PCT_IO_ENTER(self, fd);
    if (!self)
        return PCT_IO_PASS(PCT_OP_CONNECT, fd, REAL(connect)(fd, address, length));
    pct_cancel_point(self);
    pct_io_point(self, PCT_OP_CONNECT, fd);
    bool foreign = pct_io_is_foreign(fd, address, length);
    int failed, error = errno;
    if (!pct_io_is_blocking(fd)) {
        failed = REAL(connect)(fd, address, length);
    } else {
        failed = try_connect(fd, address, length);
        if (failed && errno == EINPROGRESS) {
            errno = error;
            /* Whoever listens there may see it from here on. */
            pct_io_done(self, PCT_OP_CONNECT, PCT_ARG_BUSY, pct_io_object(fd));
            failed = finish_connect(self, fd);
        } else if (failed && errno == EAGAIN) {
            /* A local socket whose listener has a full queue: the kernel does not tell when that changes. */
            errno = error;
            failed = CALL_EXTERNAL(self, PCT_OP_CONNECT, pct_io_object(fd), REAL(connect)(fd, address, length));
        }
    }
    /* Of a connection, the kernel knows it, whatever the path was. */
    if (foreign && !failed && pct_io_socket_option(fd, SO_DOMAIN) == AF_UNIX)
        foreign = pct_io_is_peer_other(fd);
    if (foreign)
        pct_io_meets_foreign(failed && (errno == ECONNREFUSED || errno == ENOENT));
    else
        pct_io_connects(fd);
    return (int)pct_io_end(self, PCT_OP_CONNECT, fd, pct_absent_note(failed));
}

/* Whether a message can be looked at: its header, and where its parts are. If not, the kernel says what is wrong with
 * it, and waits for nothing. */
static bool is_readable(const struct msghdr *message)
{
    return pct_user_readable(message, sizeof *message) && message->msg_iovlen <= IOV_MAX &&
           pct_user_readable_beside(message->msg_iov, message->msg_iovlen * sizeof *message->msg_iov, message) &&
           !pct_io_are_bad(message->msg_iov, message->msg_iovlen);
}

/* Linux: this flag is the kernel's own. */
#define KERNELS_FLAG UINT32_C(0x80000000)

/* Whether the kernel is to be asked at once: it is none of a socket's calls, or none at all. */
static bool is_refused(int fd, int flags)
{
    return (uint32_t)flags & KERNELS_FLAG || pct_fd_is_no_socket(fd);
}

/* Receiving */

/* Calls that never wait. What has no queue of errors, or no urgent data, knows nothing of such flags. */
static bool never_waits(int fd, int flags)
{
    if (!(flags & (MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB)) || flags & MSG_DONTWAIT)
        return flags & MSG_DONTWAIT;
    const bool local = pct_io_socket_option(fd, SO_DOMAIN) == AF_UNIX;
    return flags & MSG_OOB ? local || pct_io_socket_option(fd, SO_TYPE) != SOCK_DGRAM : !local;
}

/* One message, or what there is of a stream. */
static ssize_t receive_some(struct pct_shim_thread *self, int fd, struct msghdr *message, int flags)
{
    const struct msghdr before = *message;
    const bool never = never_waits(fd, flags);
    int error = errno;
    for (;;) {
        if (pct_io_begin(self, PCT_OP_READ, fd, POLLIN, never || pct_io_returns_message(fd, NULL)))
            return -1;
        ssize_t got = REAL(recvmsg)(fd, message, flags | MSG_DONTWAIT);
        if (got >= 0 || errno != EAGAIN || never || !pct_io_is_blocking(fd))
            return got;
        pct_io_done(self, PCT_OP_READ, PCT_ARG_BUSY, pct_io_object(fd));
        /* Changed also by a call that fails; what is as before may be memory that cannot be written. */
        if (message->msg_namelen != before.msg_namelen || message->msg_controllen != before.msg_controllen ||
            message->msg_flags != before.msg_flags)
            *message = before;
        errno = error;
    }
}

static size_t size_of(const struct msghdr *message)
{
    return pct_io_size(message->msg_iov, message->msg_iovlen < IOV_MAX ? (int)message->msg_iovlen : IOV_MAX);
}

static bool is_stream(int fd)
{
    return pct_io_socket_option(fd, SO_TYPE) == SOCK_STREAM;
}

/* Whether so much can be looked at with MSG_PEEK, or no more will come. */
struct peek {
    int fd;
    size_t size;
};

static bool can_peek(const struct pct_io *io)
{
    const struct peek *peek = io->arg;
    struct pollfd asked = { .fd = peek->fd, .events = POLLRDHUP };
    int there = 0;
    return pct_poll_now(&asked, 1) || PCT_SYS3(SYS_ioctl, peek->fd, FIONREAD, &there) || (size_t)there >= peek->size;
}

static enum pct_result await_peek(struct pct_shim_thread *self, int fd, size_t size)
{
    const struct peek peek = { fd, size };
    const struct pct_io io = { .ready = can_peek, .arg = &peek };
    uint64_t deadline = pct_io_socket_deadline(fd, POLLIN);
    pct_cancel_point(self);
    return pct_io_wait(self, PCT_OP_READ, fd, &io, pct_fd_reach(fd), deadline, deadline == PCT_NEVER);
}

/* MSG_WAITALL: what is missing behind the first `got` bytes, a step each: others may run in between. Returns what there
 * is then: to the end, an error or a signal. Not inline: handlers may have small stacks. */
__attribute__((noinline)) static ssize_t receive_rest(struct pct_shim_thread *self, int fd,
                                                      const struct msghdr *message, ssize_t got, int flags)
{
    const size_t size = size_of(message);
    while (got > 0 && (size_t)got < size && pct_io_is_blocking(fd)) {
        struct iovec parts[16];
        struct msghdr rest = { .msg_iov = parts };
        rest.msg_iovlen =
            (size_t)pct_io_slice(parts, 16, message->msg_iov, (int)message->msg_iovlen, (size_t)got, SSIZE_MAX);
        pct_io_done(self, PCT_OP_READ, 0, pct_io_object(fd));
        ssize_t more = receive_some(self, fd, &rest, flags & ~MSG_WAITALL);
        if (more <= 0)
            break;
        got += more;
    }
    return got;
}

static ssize_t receive(struct pct_shim_thread *self, int fd, struct msghdr *message, int flags)
{
    bool stream = is_stream(fd);
    const size_t size = size_of(message);
    const bool all = stream && flags & MSG_WAITALL && !never_waits(fd, flags), peeks = all && flags & MSG_PEEK;
    enum pct_result result = peeks && pct_io_is_blocking(fd) ? await_peek(self, fd, size) : PCT_READY;
    if (result != PCT_READY)
        flags |= MSG_DONTWAIT; /* what there is */
    const socklen_t room = message->msg_namelen;
    ssize_t got = receive_some(self, fd, message, flags & ~(stream ? MSG_WAITALL : 0));
    if (got < 0 && errno == EAGAIN && result == PCT_INTERRUPTED)
        errno = EINTR;
    if (got >= 0 && message->msg_namelen <= room && !(flags & MSG_ERRQUEUE)) /* there it is whom this one has sent to */
        pct_io_heard(message->msg_name, message->msg_namelen);
    if (!all || peeks)
        return pct_io_end(self, PCT_OP_READ, fd, got);
    int error = errno;
    got = receive_rest(self, fd, message, got, flags);
    errno = got < 0 ? errno : error;
    return pct_io_end(self, PCT_OP_READ, fd, got);
}

ssize_t pct_io_receive(struct pct_shim_thread *self, int fd, const struct iovec *parts, int count)
{
    struct sockaddr_storage from;
    struct msghdr message = {
        .msg_name = &from, .msg_namelen = sizeof from, .msg_iov = (struct iovec *)parts, .msg_iovlen = (size_t)count
    };
    return receive(self, fd, &message, 0);
}

/* A program that does not ask who has sent the message: that is heard all the same. */
static ssize_t receive_message(struct pct_shim_thread *self, int fd, struct msghdr *message, int flags)
{
    struct sockaddr_storage from;
    struct msghdr named = *message;
    if (message->msg_name || !(pct_fd_others(fd) & PCT_FD_DATAGRAMS))
        return receive(self, fd, message, flags);
    named.msg_name = &from;
    named.msg_namelen = sizeof from;
    ssize_t got = receive(self, fd, &named, flags);
    named.msg_name = NULL;
    named.msg_namelen = message->msg_namelen;
    if (got < 0 || pct_user_copy_out(message, &named, sizeof named))
        return got;
    errno = EFAULT;
    return -1;
}

/* What has come is told behind the step of that, which may order it. */
static ssize_t came(const struct msghdr *message, ssize_t got, const void *pc)
{
    if (got > 0)
        pct_memory_of_call(message->msg_iov, message->msg_iovlen, (size_t)got, true, pc);
    return got;
}

PCT_EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    PCT_IO_ENTER(self, fd);
    if (!self)
        return PCT_IO_PASS(PCT_OP_READ, fd, REAL(recvmsg)(fd, message, flags));
    if (is_refused(fd, flags) || !is_readable(message))
        return REAL(recvmsg)(fd, message, flags);
    ssize_t got = came(message, receive_message(self, fd, message, flags), PCT_CALLER);
    if (got >= 0 && message->msg_controllen)
        pct_fd_share_all(); /* descriptors may have come with it */
    return got;
}

static ssize_t receive_from(int fd, void *buffer, size_t size, int flags, struct sockaddr *address, socklen_t *length,
                            const void *pc)
{
    PCT_IO_ENTER(self, fd);
    if (!self)
        return PCT_IO_PASS(PCT_OP_READ, fd, REAL(recvfrom)(fd, buffer, size, flags, address, length));
    struct iovec part = { buffer, size < PCT_IO_MOST ? size : PCT_IO_MOST };
    if (is_refused(fd, 0) || pct_io_are_bad(&part, 1))
        return REAL(recvfrom)(fd, buffer, size, flags, address, length);
    struct sockaddr_storage from;
    struct msghdr message = { .msg_name = address, .msg_iov = &part, .msg_iovlen = 1 };
    /* The kernel looks at the length when it has received something. */
    bool told = address && pct_user_copy_in(&message.msg_namelen, length, sizeof *length);
    const bool negative = told && message.msg_namelen > INT_MAX;
    if (!address || negative) {
        message.msg_name = &from;
        message.msg_namelen = sizeof from;
    }
    ssize_t got = came(&message, receive(self, fd, &message, flags), pc);
    if (got >= 0 && address &&
        (negative || !told || !pct_user_copy_out(length, &message.msg_namelen, sizeof *length))) {
        errno = negative ? EINVAL : EFAULT;
        return -1;
    }
    return got;
}

PCT_EXPORT ssize_t recvfrom(int fd, void *restrict buffer, size_t size, int flags, struct sockaddr *restrict address,
                            socklen_t *restrict length)
{
    return receive_from(fd, buffer, size, flags, address, length, PCT_CALLER);
}

PCT_EXPORT ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t size, size_t room, int flags,
                                  struct sockaddr *restrict address, socklen_t *restrict length)
{
    return size <= room ? receive_from(fd, buffer, size, flags, address, length, PCT_CALLER)
                        : REAL(__recvfrom_chk)(fd, buffer, size, room, flags, address, length);
}

PCT_EXPORT ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
    return receive_from(fd, buffer, size, flags, NULL, NULL, PCT_CALLER);
}

PCT_EXPORT ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags)
{
    return size <= room ? receive_from(fd, buffer, size, flags, NULL, NULL, PCT_CALLER)
                        : REAL(__recv_chk)(fd, buffer, size, room, flags);
}

/* How much of one message was moved, where the kernel would write it. False: with errno. */
static bool say_length(struct mmsghdr *message, ssize_t size)
{
    unsigned length = (unsigned)size;
    if (pct_user_copy_out(&message->msg_len, &length, sizeof length))
        return true;
    errno = EFAULT;
    return false;
}

PCT_EXPORT int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout)
{
    PCT_IO_ENTER(self, fd);
    if (!self)
        return PCT_IO_PASS(PCT_OP_READ, fd, REAL(recvmmsg)(fd, messages, count, flags, timeout));
    struct timespec limit;
    if (is_refused(fd, flags) || (timeout && !pct_user_copy_in(&limit, timeout, sizeof limit)))
        return REAL(recvmmsg)(fd, messages, count, flags, timeout);
    if (timeout && !pct_valid(&limit)) {
        errno = EINVAL;
        return -1;
    }
    uint64_t began = pct_sched_now(&pct_S), length = timeout ? pct_nanoseconds(&limit) : PCT_NEVER;
    unsigned got = 0;
    bool dont_wait = flags & MSG_DONTWAIT;
    int error = errno;
    /* As Linux does it: the timeout is looked at after each message. */
    while (got < count) {
        struct msghdr *message = &messages[got].msg_hdr;
        int how = (flags & ~MSG_WAITFORONE) | (dont_wait ? MSG_DONTWAIT : 0);
        ssize_t size = is_readable(message) ? came(message, receive_message(self, fd, message, how), PCT_CALLER)
                                            : REAL(recvmsg)(fd, message, how | MSG_DONTWAIT);
        if (size < 0 || !say_length(&messages[got], size))
            break;
        got++;
        dont_wait = dont_wait || flags & MSG_WAITFORONE;
        if (timeout && pct_sched_now(&pct_S) - began >= length)
            break;
    }
    if (!got)
        return count ? -1 : 0;
    if (timeout) {
        uint64_t took = pct_sched_now(&pct_S) - began;
        pct_limit_timespec(length - (took < length ? took : length), &limit);
        if (!pct_user_copy_out(timeout, &limit, sizeof limit)) {
            errno = EFAULT;
            return -1;
        }
    }
    errno = error;
    return (int)got;
}

/* Sending */

static bool carries_descriptors(const struct msghdr *message)
{
    return message->msg_control && message->msg_controllen;
}

static ssize_t transmit(struct pct_shim_thread *self, int fd, const struct msghdr *message, int flags, const void *pc)
{
    const bool returns = flags & MSG_DONTWAIT || pct_io_returns_message(fd, message);
    if (pct_io_begin_write(self, PCT_OP_WRITE, fd, size_of(message), returns))
        return -1;
    if (pct_io_is_foreign(fd, message->msg_name, message->msg_namelen))
        pct_io_meets_foreign(false);
    if (carries_descriptors(message))
        pct_fd_share_all(); /* another process may have them from now on */
    bool waits = !returns && pct_io_is_blocking(fd);
    ssize_t sent = waits ? pct_io_write(self, PCT_OP_WRITE, fd, message, flags, pc) : REAL(sendmsg)(fd, message, flags);
    if (sent > 0 && !waits)
        pct_memory_of_call(message->msg_iov, message->msg_iovlen, (size_t)sent, false, pc);
    return pct_io_end(self, PCT_OP_WRITE, fd, sent);
}

PCT_EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    PCT_IO_ENTER(self, fd);
    if (!self)
        return PCT_IO_PASS(PCT_OP_WRITE, fd, REAL(sendmsg)(fd, message, flags));
    if (is_refused(fd, flags) || !is_readable(message))
        return REAL(sendmsg)(fd, message, flags);
    return transmit(self, fd, message, flags, PCT_CALLER);
}

static ssize_t send_to(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *address,
                       socklen_t length, const void *pc)
{
    PCT_IO_ENTER(self, fd);
    if (!self)
        return PCT_IO_PASS(PCT_OP_WRITE, fd, REAL(sendto)(fd, buffer, size, flags, address, length));
    struct iovec part = { (void *)buffer, size < PCT_IO_MOST ? size : PCT_IO_MOST };
    if (is_refused(fd, 0) || pct_io_are_bad(&part, 1))
        return REAL(sendto)(fd, buffer, size, flags, address, length);
    const struct msghdr message = {
        .msg_name = (void *)address, .msg_namelen = address ? length : 0, .msg_iov = &part, .msg_iovlen = 1
    };
    return transmit(self, fd, &message, flags, pc);
}

PCT_EXPORT ssize_t sendto(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *address,
                          socklen_t length)
{
    return send_to(fd, buffer, size, flags, address, length, PCT_CALLER);
}

PCT_EXPORT ssize_t send(int fd, const void *buffer, size_t size, int flags)
{
    return send_to(fd, buffer, size, flags, NULL, 0, PCT_CALLER);
}

PCT_EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    PCT_IO_ENTER(self, fd);
    if (!self)
        return PCT_IO_PASS(PCT_OP_WRITE, fd, REAL(sendmmsg)(fd, messages, count, flags));
    if (is_refused(fd, flags))
        return REAL(sendmmsg)(fd, messages, count, flags);
    unsigned sent = 0;
    int error = errno;
    while (sent < count) {
        const struct msghdr *message = &messages[sent].msg_hdr;
        ssize_t size = is_readable(message) ? transmit(self, fd, message, flags, PCT_CALLER)
                                            : REAL(sendmsg)(fd, message, flags | MSG_DONTWAIT);
        if (size < 0 || !say_length(&messages[sent], size))
            break;
        sent++;
    }
    if (!sent)
        return count ? -1 : 0;
    errno = error;
    return (int)sent;
}

PCT_EXPORT int shutdown(int fd, int how)
{
    PCT_IO_ENTER(self, fd);
    if (!self)
        return PCT_IO_PASS(PCT_OP_SHUTDOWN, fd, REAL(shutdown)(fd, how));
    pct_io_point(self, PCT_OP_SHUTDOWN, fd);
    return (int)pct_io_end(self, PCT_OP_SHUTDOWN, fd, REAL(shutdown)(fd, how));
}

PCT_EXPORT int setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    if (level == SOL_SOCKET && name == SO_RCVLOWAT)
        __atomic_store_n(&pct_io_low_water, true, __ATOMIC_RELAXED);
    return REAL(setsockopt)(fd, level, name, value, length);
}
