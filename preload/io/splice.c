/* Moving data between descriptors without the program seeing it: sendfile, splice and their relatives; and eventfds,
 * whose own functions call libc's internal read and write. */
#include <preload/core/order.h>
#include <preload/core/real.h>
#include <preload/core/seccomp.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include "io.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

/* What the kernel asks of the two ends of such a call before it waits for anything. */
struct end {
    bool there, reads, writes, pipe, appends;
    bool nothing; /* no file, directory, device or socket: of these kinds none can be spliced */
    bool listens;
    dev_t device;
    ino_t inode;
};

static struct end end_of(int fd)
{
    const long flags = PCT_SYS2(SYS_fcntl, fd, F_GETFL), mode = flags & O_ACCMODE;
    struct stat status;
    if (flags < 0 || flags & O_PATH || PCT_SYS2(SYS_fstat, fd, &status))
        return (struct end){ .there = false };
    return (struct end){ .there = true,
                         .reads = mode != O_WRONLY,
                         .writes = mode != O_RDONLY,
                         .pipe = S_ISFIFO(status.st_mode),
                         .appends = flags & O_APPEND,
                         .nothing = !(status.st_mode & S_IFMT),
                         .listens = S_ISSOCK(status.st_mode) && pct_io_socket_option(fd, SO_ACCEPTCONN),
                         .device = status.st_dev,
                         .inode = status.st_ino };
}

static bool are_same(const struct end *a, const struct end *b)
{
    return a->device == b->device && a->inode == b->inode;
}

#define SPLICE_FLAGS (SPLICE_F_MOVE | SPLICE_F_NONBLOCK | SPLICE_F_MORE | SPLICE_F_GIFT)

/* Whether something can be spliced there from a pipe, at this offset (NULL: none): nothing is, from an empty one of our
 * own. That is closed before anybody else runs. */
static bool takes(int to, const off64_t *offset)
{
    int ends[2];
    off64_t at = offset ? *offset : 0;
    if (pct_shim.confined || PCT_SYS2(SYS_pipe2, ends, O_CLOEXEC))
        return true;
    const long moved = PCT_SYS6(SYS_splice, ends[0], NULL, to, offset ? &at : NULL, 1, SPLICE_F_NONBLOCK);
    PCT_SYS1(SYS_close, ends[0]);
    PCT_SYS1(SYS_close, ends[1]);
    return moved == -EAGAIN || pct_refused(moved);
}

/* Whether what stands at some place there can be spliced into a pipe: into one of our own, it stays there. */
static bool gives(int from)
{
    int ends[2];
    off64_t at = 0;
    if (pct_shim.confined || PCT_SYS2(SYS_pipe2, ends, O_CLOEXEC))
        return true;
    const bool placed = PCT_SYS3(SYS_lseek, from, 0, SEEK_CUR) >= 0;
    const long moved = placed ? PCT_SYS6(SYS_splice, from, &at, ends[1], NULL, 1, SPLICE_F_NONBLOCK) : -EINVAL;
    PCT_SYS1(SYS_close, ends[0]);
    PCT_SYS1(SYS_close, ends[1]);
    return moved != -EINVAL;
}

/* Whether splice() is refused whatever comes. */
static bool is_refused(int from, const off64_t *from_offset, int to, const off64_t *to_offset, unsigned flags)
{
    const struct end a = end_of(from), b = end_of(to);
    if (flags & ~(unsigned)SPLICE_FLAGS || !a.there || !b.there || !a.reads || !b.writes)
        return true;
    if (!a.pipe && !b.pipe)
        return true;
    if ((a.pipe && from_offset) || (b.pipe && to_offset))
        return true;
    if (a.pipe && b.pipe)
        return are_same(&a, &b);
    if (a.pipe)
        return b.appends || (to_offset && *to_offset < 0) || !takes(to, to_offset);
    return a.listens || (pct_io_polled(to, POLLOUT) & POLLERR) || (from_offset && (*from_offset < 0 || !gives(from)));
}

static bool is_refused_tee(int from, int to, unsigned flags)
{
    const struct end a = end_of(from), b = end_of(to);
    return flags & ~(unsigned)SPLICE_FLAGS || !a.there || !b.there || !a.reads || !b.writes || !a.pipe || !b.pipe ||
           are_same(&a, &b);
}

/* sendfile. Only a pipe takes what has no places in it. */
static bool is_refused_file(int to, int from, const off_t *offset, size_t size)
{
    const struct end a = end_of(from), b = end_of(to);
    if (!a.there || !b.there || !a.reads || !b.writes)
        return true;
    if (offset && (a.pipe || *offset < 0 || *offset > (off_t)(SSIZE_MAX - size)))
        return true;
    return !b.pipe && (b.appends || b.listens || !gives(from) || !takes(to, NULL));
}

/* A blocking sendfile would wait in its middle: it goes in pieces that fit. */
static ssize_t send_file(ssize_t (*real)(int, int, off_t *, size_t), int to, int from, off_t *offset, size_t size)
{
    PCT_IO_ENTER(self, to);
    if (!self)
        return PCT_IO_PASS(PCT_OP_WRITE, to, real(to, from, offset, size));
    if (size > SSIZE_MAX || (offset && !pct_user_readable(offset, sizeof *offset)))
        return real(to, from, offset, size); /* EINVAL, EFAULT */
    const bool returns = !size || (pct_io_is_awaited(to, POLLOUT) && is_refused_file(to, from, offset, size));
    size_t done = 0;
    int error = errno;
    do {
        if (pct_io_begin_lasting(self, PCT_OP_WRITE, to, POLLOUT, returns))
            break;
        bool whole = returns || !pct_io_is_blocking(to);
        size_t piece = whole || size - done < PIPE_BUF ? size - done : PIPE_BUF;
        ssize_t sent = pct_io_end(self, PCT_OP_WRITE, to, real(to, from, offset, piece));
        if (sent < 0)
            break;
        errno = error;
        done += (size_t)sent;
        if (whole || !sent)
            return (ssize_t)done;
    } while (done < size);
    return done ? (ssize_t)done : -1;
}

PCT_EXPORT ssize_t sendfile(int to, int from, off_t *offset, size_t size)
{
    return send_file(&REAL(sendfile), to, from, offset, size);
}

PCT_EXPORT ssize_t sendfile64(int to, int from, off64_t *offset, size_t size)
{
    return send_file(&REAL(sendfile64), to, from, offset, size);
}

/* Wait for both ends of a splice; -1 and errno when that failed. Not for what can be read but not spliced, of which the
 * kernel says that when the other end is there; nor where nothing will come to be written, or to one that takes
 * nothing.
 */
static int both_ready(struct pct_shim_thread *self, int from, int to, bool returns)
{
    const struct end a = end_of(from), b = end_of(to);
    if (!pct_io_is_blocking(from) || !pct_io_is_blocking(to))
        returns = true;
    if (pct_fd_blocks(from) && !a.nothing && pct_io_begin(self, PCT_OP_READ, from, POLLIN, returns))
        return -1;
    if (a.pipe && !b.pipe && (b.listens || pct_io_polled(from, POLLIN) == POLLHUP))
        returns = true;
    return pct_fd_blocks(to) ? pct_io_begin(self, PCT_OP_WRITE, to, POLLOUT, returns) : 0;
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

/* Whether one of the ends would be waited for. */
static bool is_awaited(int from, int to)
{
    return pct_io_is_awaited(from, POLLIN) || pct_io_is_awaited(to, POLLOUT);
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
    const bool returns =
        !size || size > SSIZE_MAX || (is_awaited(from, to) && is_refused(from, from_offset, to, to_offset, flags));
    if (both_ready(self, from, to, nonblocking || returns))
        return -1;
    /* Both are ready; no call after that waits for more than there is. */
    size_t most = size < PIPE_BUF || nonblocking || returns ? size : PIPE_BUF;
    return moved(self, from, to, REAL(splice)(from, from_offset, to, to_offset, most, flags));
}

PCT_EXPORT ssize_t tee(int from, int to, size_t size, unsigned flags)
{
    PCT_ENTER(self);
    if (!self)
        return PCT_IO_PASS(PCT_OP_WRITE, to, REAL(tee)(from, to, size, flags));
    const bool returns = !size || (is_awaited(from, to) && is_refused_tee(from, to, flags));
    if (both_ready(self, from, to, flags & SPLICE_F_NONBLOCK || returns))
        return -1;
    return moved(self, from, to, REAL(tee)(from, to, size, flags));
}

PCT_EXPORT ssize_t vmsplice(int fd, const struct iovec *parts, size_t count, unsigned flags)
{
    PCT_IO_ENTER(self, fd);
    if (!self)
        return PCT_IO_PASS(PCT_OP_WRITE, fd, REAL(vmsplice)(fd, parts, count, flags));
    const struct end end = end_of(fd);
    bool returns = !count || count > IOV_MAX || !pct_user_readable(parts, count * sizeof *parts) || !end.pipe ||
                   flags & ~(unsigned)SPLICE_FLAGS || pct_io_are_bad(parts, count) || !pct_io_size(parts, (int)count);
    /* On a pipe's end to read it takes what is there. */
    bool takes = !end.writes;
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
