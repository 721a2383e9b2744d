/* Reading and writing: read, write, and those of vectors. Sockets' own calls are in socket.c.
 *
 * A blocking write of more than the kernel has room for waits in its middle, where the scheduler could not see it; so
 * large writes are made without waiting, where the kernel can do that, else in pieces that fit. Between the pieces of
 * one write nobody else runs unless it has to wait; what it has written until then is a step, so that a replay knows
 * when. */
#include <common/exploration.h>
#include <preload/core/order.h>
#include <preload/core/real.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include <preload/memory/calls.h>
#include <preload/memory/channel.h>
#include "io.h"
#include "news.h"
#include <preload/thread/cancel.h>
#include <preload/time/family.h>
#include <limits.h>
#include <sys/socket.h>

bool pct_io_low_water;

size_t pct_io_size(const struct iovec *parts, int count)
{
    size_t size = 0;
    for (int i = 0; i < count; i++)
        size += parts[i].iov_len;
    return size;
}

int pct_io_slice(struct iovec *out, int room, const struct iovec *parts, int count, size_t offset, size_t most)
{
    int used = 0;
    for (int i = 0; i < count && used < room && most; i++) {
        if (offset >= parts[i].iov_len) {
            offset -= parts[i].iov_len;
            continue;
        }
        size_t length = parts[i].iov_len - offset;
        length = length < most ? length : most;
        out[used++] = (struct iovec){ (char *)parts[i].iov_base + offset, length };
        most -= length;
        offset = 0;
    }
    return used;
}

/* Whether calls may be made by their numbers: few filters know these, and a library that is preloaded behind us wants
 * to see the program's. */
static bool by_number(void)
{
    static int calls_others; /* + 1 */
    if (!calls_others)
        calls_others = 1 + (pct_real_is_preloaded("read") || pct_real_is_preloaded("write"));
    return !pct_shim.confined && calls_others == 1;
}

/* Write what there is room for. tries: whether the kernel can do that. */
static ssize_t write_some(int fd, const struct iovec *parts, int count, bool tries)
{
    if (!tries)
        return REAL(writev)(fd, parts, count);
    long sent = pct_io_write_now(fd, parts, count);
    if (sent >= 0)
        return sent;
    errno = (int)-sent;
    return -1;
}

ssize_t pct_io_write(struct pct_shim_thread *self, enum pct_op op, int fd, const struct msghdr *message, int flags,
                     const void *pc)
{
    int type = pct_io_socket_option(fd, SO_TYPE);
    uint64_t deadline = PCT_NEVER;
    bool timed = false;
    size_t total = 0, done = 0;
    const int error = errno;
    for (size_t i = 0; i < message->msg_iovlen; i++)
        total += message->msg_iov[i].iov_len;
    total = total < PCT_IO_MOST ? total : PCT_IO_MOST;
    /* A pipe that poll() calls writable has room for PIPE_BUF; so has a terminal, or it takes less. */
    bool tries = !type && by_number();
    struct pollfd asked = { .fd = fd, .events = POLLOUT };
    size_t left = total;
    struct pct_io io = { .fds = &asked, .count = 1, .ready = pct_io_has_room, .arg = &left };
    for (;;) {
        struct iovec pieces[16];
        struct msghdr piece = *message;
        io.ready = type || tries ? pct_io_has_room : NULL; /* pieces need a page */
        size_t most = type || tries || total - done < PIPE_BUF ? total - done : PIPE_BUF;
        bool whole = type && type != SOCK_STREAM; /* a datagram */
        if (!whole && (done || !tries)) {
            piece.msg_iov = pieces;
            piece.msg_iovlen = (size_t)pct_io_slice(pieces, 16, message->msg_iov, (int)message->msg_iovlen, done, most);
        }
        if (done)
            piece.msg_controllen = 0;                       /* that went with the first bytes */
        pct_order_world(self, PCT_ACQUIRES | PCT_RELEASES); /* the step comes behind the last piece */
        /* After a part of it, a socket's call returns how much that was, and sends no SIGPIPE; a pipe's does. */
        ssize_t sent = type ? REAL(sendmsg)(fd, &piece, flags | MSG_DONTWAIT | (done ? MSG_NOSIGNAL : 0))
                            : write_some(fd, piece.msg_iov, (int)piece.msg_iovlen, tries);
        if (sent < 0 && tries && (errno == EOPNOTSUPP || errno == EINVAL || errno == ENOSYS)) {
            tries = false;
            errno = error;
            continue;
        }
        if (sent < 0 && errno != EAGAIN)
            return done ? (ssize_t)done : -1;
        if (sent > 0)
            pct_memory_of_call(piece.msg_iov, piece.msg_iovlen, (size_t)sent, false, pc);
        done += sent > 0 ? (size_t)sent : 0;
        left = total - done;
        if (sent >= 0 && (done >= total || whole))
            return (ssize_t)done;
        if (whole && pct_io_ask(&io)) { /* what is full is the queue of another socket, of which poll() knows nothing */
            pct_io_done(self, op, PCT_ARG_BUSY, pct_io_object(fd));
            pct_sched_spin(&pct_S, &self->core);
            deadline = timed ? deadline : pct_io_socket_deadline(fd, POLLOUT);
            timed = true;
            pct_io_try(self);
            pct_io_point(self, op, fd);
            const bool late = pct_sched_now(&pct_S) >= deadline;
            if (late || (self->handled && !(self->restart && deadline == PCT_NEVER))) {
                errno = late ? EAGAIN : EINTR;
                return -1;
            }
            continue;
        }
        while (!pct_io_ask(&io)) {
            pct_io_done(self, op, sent > 0 ? 0 : PCT_ARG_BUSY, pct_io_object(fd));
            /* The time of a local socket begins anew with each piece. */
            if (type && (!timed || (sent > 0 && pct_io_socket_option(fd, SO_DOMAIN) == AF_UNIX)))
                deadline = pct_io_socket_deadline(fd, POLLOUT);
            timed = true;
            enum pct_result result =
                pct_io_wait(self, op, fd, &io, pct_fd_reach(fd), deadline, !done && deadline == PCT_NEVER);
            if (result != PCT_READY) {
                errno = result == PCT_TIMEOUT ? EAGAIN : EINTR;
                return done ? (ssize_t)done : -1;
            }
        }
    }
}

/* Whether a write of this many bytes on this descriptor might have to wait in its middle. To a file it is one, also for
 * those who write there at the same time. */
static bool may_wait(int fd, size_t size)
{
    struct pollfd asked = { .fd = fd, .events = POLLOUT };
    return (size > PIPE_BUF || !pct_poll_now(&asked, 1)) && pct_io_is_blocking(fd) && !pct_fd_is_file(fd);
}

/* When nothing is due, what is most often the case takes one system call instead of two: an attempt that does not wait.
 * False: it would have waited, or the kernel cannot do that with this kind of descriptor (pipes: since Linux 6.4); or
 * a relative may see it, so that the family's clock comes first. */
static bool at_once(struct pct_shim_thread *self, long number, int fd, const void *buffer, size_t size, long *result)
{
    const struct iovec part = { (void *)buffer, size };
    const bool may_be_part = number == SYS_pwritev2 ? size > PIPE_BUF : pct_io_low_water;
    if (!pct_on_fast_path(&pct_S) || !size || may_be_part || pct_family_clock || !by_number())
        return false;
    pct_cancel_point(self);
    *result = PCT_SYS6(number, fd, &part, 1, -1, -1, RWF_NOWAIT);
    if (*result == -EAGAIN || *result == -EOPNOTSUPP || *result == -EINVAL || *result == -EINTR || pct_refused(*result))
        return false;
    if (*result < 0) { /* told once: an eventfd has given out what it had, a socket its error; SIGPIPE was sent */
        errno = (int)-*result;
        *result = -1;
    }
    return true;
}

/* Read what poll() has told of. True: another process has taken it meanwhile, and it is to be waited for again; in the
 * kernel that would be with the baton. Where the kernel cannot say that, it does wait. */
static bool is_taken(struct pct_shim_thread *self, int fd, void *buffer, size_t size, long *got)
{
    const struct iovec part = { buffer, size };
    const bool tries = size && !pct_io_low_water && pct_fd_reach(fd) != PCT_REACH_INSIDE && by_number();
    *got = tries ? PCT_SYS6(SYS_preadv2, fd, &part, 1, -1, -1, RWF_NOWAIT) : -EOPNOTSUPP;
    if (*got == -EAGAIN && pct_io_is_blocking(fd) && !pct_poll_now(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1)) {
        pct_io_done(self, PCT_OP_READ, PCT_ARG_BUSY, pct_io_object(fd));
        return true;
    }
    if (*got == -EAGAIN || *got == -EOPNOTSUPP || *got == -EINVAL || *got == -EINTR || pct_refused(*got)) {
        *got = REAL(read)(fd, buffer, size);
    } else if (*got < 0) {
        errno = (int)-*got;
        *got = -1;
    }
    return false;
}

static ssize_t read_some(int fd, void *buffer, size_t size)
{
    const struct iovec part = { buffer, size };
    PCT_IO_ENTER(self, fd);
    long got;
    if (!self)
        return PCT_IO_PASS(PCT_OP_READ, fd, REAL(read)(fd, buffer, size));
    if (PCT_UNLIKELY(pct_fd_others(fd) & PCT_FD_DATAGRAMS) && size && !pct_io_are_bad(&part, 1))
        return pct_io_receive(self, fd, &part, 1);
    if (at_once(self, SYS_preadv2, fd, buffer, size, &got))
        return pct_io_end(self, PCT_OP_READ, fd, got);
    do {
        if (pct_io_begin(self, PCT_OP_READ, fd, POLLIN, pct_io_returns_read(fd, &part, 1)))
            return -1;
    } while (is_taken(self, fd, buffer, size, &got));
    return pct_io_end(self, PCT_OP_READ, fd, got);
}

static ssize_t read_here(int fd, void *buffer, size_t size, const void *pc)
{
    ssize_t got = pct_news_of(fd, read_some(fd, buffer, size));
    const struct iovec part = { buffer, got > 0 ? (size_t)got : 0 };
    if (got > 0) {
        pct_memory_of_call(&part, 1, part.iov_len, true, pc);
        pct_random_replace(fd, &part, part.iov_len);
    }
    return got;
}

PCT_EXPORT ssize_t read(int fd, void *buffer, size_t size)
{
    return read_here(fd, buffer, size, PCT_CALLER);
}

PCT_EXPORT ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room)
{
    return size <= room ? read_here(fd, buffer, size, PCT_CALLER) : REAL(__read_chk)(fd, buffer, size, room);
}

/* Whether there is nothing to wait for: the kernel looks at the parts first, and says what is wrong with them. */
static bool returns_at_once(const struct iovec *parts, int count)
{
    return count <= 0 || count > IOV_MAX || !pct_user_readable(parts, (size_t)count * sizeof *parts);
}

/* How a call with an offset differs from one without: -1 is the descriptor's own place. Pipes and sockets have no other
 * one, so a call that names one fails at once. */
struct how {
    off64_t offset;
    int flags; /* RWF_* */
};
static const struct how plain = { .offset = -1 };

/* Flags that are about files, and mean nothing to what may wait. With others a call does not wait, or is refused. */
#define FILE_FLAGS (RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_APPEND | 0x20 /* RWF_NOAPPEND, of newer headers */)

static bool never_waits(const struct how *how, const struct iovec *parts, int count)
{
    return how->offset != -1 || how->flags & ~FILE_FLAGS || returns_at_once(parts, count);
}

static ssize_t real_read(int fd, const struct iovec *parts, int count, const struct how *how)
{
    return how == &plain ? REAL(readv)(fd, parts, count) : REAL(preadv2)(fd, parts, count, how->offset, how->flags);
}

static ssize_t read_parts(int fd, const struct iovec *parts, int count, const struct how *how)
{
    PCT_IO_ENTER(self, fd);
    if (!self)
        return PCT_IO_PASS(PCT_OP_READ, fd, real_read(fd, parts, count, how));
    const bool returns = never_waits(how, parts, count) || pct_io_returns_read(fd, parts, count);
    if (PCT_UNLIKELY(pct_fd_others(fd) & PCT_FD_DATAGRAMS) && !returns)
        return pct_io_receive(self, fd, parts, count);
    if (pct_io_begin(self, PCT_OP_READ, fd, POLLIN, returns))
        return -1;
    return pct_io_end(self, PCT_OP_READ, fd, real_read(fd, parts, count, how));
}

static ssize_t read_vector(int fd, const struct iovec *parts, int count, const struct how *how, const void *pc)
{
    ssize_t got = pct_news_of(fd, read_parts(fd, parts, count, how));
    if (got > 0) {
        pct_memory_of_call(parts, (size_t)count, (size_t)got, true, pc);
        pct_random_replace(fd, parts, (size_t)got);
    }
    return got;
}

PCT_EXPORT ssize_t readv(int fd, const struct iovec *parts, int count)
{
    return read_vector(fd, parts, count, &plain, PCT_CALLER);
}

PCT_EXPORT ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    return read_vector(fd, parts, count, &(struct how){ offset, flags }, PCT_CALLER);
}

PCT_EXPORT ssize_t preadv64v2(int fd, const struct iovec *parts, int count, off64_t offset, int flags)
{
    return read_vector(fd, parts, count, &(struct how){ offset, flags }, PCT_CALLER);
}

/* At a place in a file: no operation between threads, but what stands there may be news. */
static ssize_t read_at(int fd, const void *buffer, ssize_t got, const void *pc)
{
    const struct iovec part = { (void *)buffer, got > 0 ? (size_t)got : 0 };
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    pct_news_of(fd, got);
    if (got > 0)
        pct_memory_of_call(&part, 1, part.iov_len, true, pc);
    return got;
}

PCT_EXPORT ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
    return read_at(fd, buffer, REAL(pread)(fd, buffer, size, offset), PCT_CALLER);
}

PCT_EXPORT ssize_t pread64(int fd, void *buffer, size_t size, off64_t offset)
{
    return read_at(fd, buffer, REAL(pread64)(fd, buffer, size, offset), PCT_CALLER);
}

/* What has been written is told before the step of that, which others may wait for. */
static ssize_t wrote(const struct iovec *parts, int count, ssize_t sent, const void *pc)
{
    if (sent > 0)
        pct_memory_of_call(parts, (size_t)count, (size_t)sent, false, pc);
    return sent;
}

PCT_EXPORT ssize_t write(int fd, const void *buffer, size_t size)
{
    struct iovec part = { (void *)buffer, size };
    PCT_IO_ENTER(self, fd);
    long sent;
    if (!self)
        return wrote(&part, 1, PCT_IO_PASS(PCT_OP_WRITE, fd, REAL(write)(fd, buffer, size)), PCT_CALLER);
    if (at_once(self, SYS_pwritev2, fd, buffer, size, &sent)) {
        wrote(&part, 1, sent, PCT_CALLER);
        if (sent >= 0 && (size_t)sent < size && pct_io_is_blocking(fd)) { /* a socket that had room for a part */
            struct iovec rest = { (char *)buffer + sent, size - (size_t)sent };
            const struct msghdr message = { .msg_iov = &rest, .msg_iovlen = 1 };
            ssize_t more = pct_io_write(self, PCT_OP_WRITE, fd, &message, MSG_NOSIGNAL, PCT_CALLER);
            sent += more > 0 ? more : 0;
        }
        return pct_io_end(self, PCT_OP_WRITE, fd, sent);
    }
    const bool returns = pct_io_returns_write(fd, &part, 1);
    if (pct_io_begin_write(self, PCT_OP_WRITE, fd, size, returns))
        return -1;
    const struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    return pct_io_end(self, PCT_OP_WRITE, fd,
                      !returns && may_wait(fd, size) ? pct_io_write(self, PCT_OP_WRITE, fd, &message, 0, PCT_CALLER)
                                                     : wrote(&part, 1, REAL(write)(fd, buffer, size), PCT_CALLER));
}

static ssize_t real_write(int fd, const struct iovec *parts, int count, const struct how *how)
{
    return how == &plain ? REAL(writev)(fd, parts, count) : REAL(pwritev2)(fd, parts, count, how->offset, how->flags);
}

static ssize_t write_vector(int fd, const struct iovec *parts, int count, const struct how *how, const void *pc)
{
    PCT_IO_ENTER(self, fd);
    if (!self)
        return wrote(parts, count, PCT_IO_PASS(PCT_OP_WRITE, fd, real_write(fd, parts, count, how)), pc);
    const bool returns = never_waits(how, parts, count) || pct_io_returns_write(fd, parts, count);
    const size_t size = returns ? 0 : pct_io_size(parts, count);
    if (pct_io_begin_write(self, PCT_OP_WRITE, fd, size, returns))
        return -1;
    const struct msghdr message = { .msg_iov = (struct iovec *)parts, .msg_iovlen = (size_t)count };
    return pct_io_end(self, PCT_OP_WRITE, fd,
                      !returns && may_wait(fd, size) ? pct_io_write(self, PCT_OP_WRITE, fd, &message, 0, pc)
                                                     : wrote(parts, count, real_write(fd, parts, count, how), pc));
}

PCT_EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return write_vector(fd, parts, count, &plain, PCT_CALLER);
}

PCT_EXPORT ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    return write_vector(fd, parts, count, &(struct how){ offset, flags }, PCT_CALLER);
}

PCT_EXPORT ssize_t pwritev64v2(int fd, const struct iovec *parts, int count, off64_t offset, int flags)
{
    return write_vector(fd, parts, count, &(struct how){ offset, flags }, PCT_CALLER);
}
