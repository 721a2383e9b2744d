/* Moving data between descriptors without the program seeing it: sendfile, splice and their relatives; and eventfds,
 * whose own functions call libc's internal read and write. */
#include <preload/core/order.h>
#include <preload/core/real.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include "io.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>

/* A blocking sendfile would wait in its middle: it goes in pieces that fit. */
static ssize_t send_file(ssize_t (*real)(int, int, off_t *, size_t), int to, int from, off_t *offset, size_t size)
{
    PCT_IO_ENTER(self, to);
    if (!self)
        return PCT_IO_PASS(PCT_OP_WRITE, to, real(to, from, offset, size));
    if (offset && !pct_user_readable(offset, sizeof *offset))
        return real(to, from, offset, size); /* EFAULT */
    size_t done = 0;
    int error = errno;
    do {
        if (pct_io_begin_lasting(self, PCT_OP_WRITE, to, POLLOUT, !size))
            break;
        bool whole = !pct_io_is_blocking(to);
        size_t piece = whole || size - done < PIPE_BUF ? size - done : PIPE_BUF;
        ssize_t sent = pct_io_end(self, PCT_OP_WRITE, to, real(to, from, offset, piece));
        if (sent < 0)
            break;
        errno = error;
        done += (size_t)sent;
        if (whole || !sent)
            return (ssize_t)done;
    } while (done < size);
    return done || !size ? (ssize_t)done : -1;
}

PCT_EXPORT ssize_t sendfile(int to, int from, off_t *offset, size_t size)
{
    return send_file(&REAL(sendfile), to, from, offset, size);
}

PCT_EXPORT ssize_t sendfile64(int to, int from, off64_t *offset, size_t size)
{
    return send_file(&REAL(sendfile64), to, from, offset, size);
}

/* Wait for both ends of a splice; -1 and errno when that failed. */
static int both_ready(struct pct_shim_thread *self, int from, int to, bool nonblocking)
{
    if (pct_fd_blocks(from) && pct_io_begin(self, PCT_OP_READ, from, POLLIN, nonblocking))
        return -1;
    return pct_fd_blocks(to) ? pct_io_begin(self, PCT_OP_WRITE, to, POLLOUT, nonblocking) : 0;
}

/* After one, whose step is a write: it has read, too. */
static ssize_t moved(struct pct_shim_thread *self, int from, int to, ssize_t size)
{
    if (size >= 0) {
        pct_order_world(self, PCT_ACQUIRES | PCT_RELEASES);
        pct_io_came(from);
    }
    return pct_io_end(self, PCT_OP_WRITE, to, size);
}

PCT_EXPORT ssize_t splice(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t size, unsigned flags)
{
    PCT_ENTER(self);
    if (!self)
        return PCT_IO_PASS(PCT_OP_WRITE, to, REAL(splice)(from, from_offset, to, to_offset, size, flags));
    bool nonblocking = flags & SPLICE_F_NONBLOCK;
    if ((from_offset && !pct_user_readable(from_offset, sizeof *from_offset)) ||
        (to_offset && !pct_user_readable(to_offset, sizeof *to_offset)))
        return REAL(splice)(from, from_offset, to, to_offset, size, flags); /* EFAULT, or ESPIPE */
    if (both_ready(self, from, to, nonblocking || !size))
        return -1;
    /* Both are ready; no call after that waits for more than there is. */
    size_t most = size < PIPE_BUF || nonblocking ? size : PIPE_BUF;
    return moved(self, from, to, REAL(splice)(from, from_offset, to, to_offset, most, flags));
}

PCT_EXPORT ssize_t tee(int from, int to, size_t size, unsigned flags)
{
    PCT_ENTER(self);
    if (!self)
        return PCT_IO_PASS(PCT_OP_WRITE, to, REAL(tee)(from, to, size, flags));
    if (both_ready(self, from, to, flags & SPLICE_F_NONBLOCK || !size))
        return -1;
    return moved(self, from, to, REAL(tee)(from, to, size, flags));
}

PCT_EXPORT ssize_t vmsplice(int fd, const struct iovec *parts, size_t count, unsigned flags)
{
    PCT_IO_ENTER(self, fd);
    if (!self)
        return PCT_IO_PASS(PCT_OP_WRITE, fd, REAL(vmsplice)(fd, parts, count, flags));
    bool returns = !count || count > IOV_MAX || !pct_user_readable(parts, count * sizeof *parts);
    /* On a pipe's end to read it takes what is there. */
    bool takes = (PCT_SYS2(SYS_fcntl, fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
    const enum pct_op op = takes ? PCT_OP_READ : PCT_OP_WRITE;
    if (pct_io_begin(self, op, fd, takes ? POLLIN : POLLOUT, flags & SPLICE_F_NONBLOCK || returns))
        return -1;
    /* It may map, or take, fewer pages than it was asked to, never wait for the rest. */
    bool nonblocking = flags & SPLICE_F_NONBLOCK || !pct_io_is_blocking(fd);
    return pct_io_end(self, op, fd, REAL(vmsplice)(fd, parts, count, nonblocking ? flags : flags | SPLICE_F_NONBLOCK));
}

PCT_EXPORT int eventfd_read(int fd, eventfd_t *value)
{
    return read(fd, value, sizeof *value) == sizeof *value ? 0 : -1;
}

PCT_EXPORT int eventfd_write(int fd, eventfd_t value)
{
    return write(fd, &value, sizeof value) == sizeof value ? 0 : -1;
}
