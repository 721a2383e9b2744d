/* Whether a write would have to wait. poll() says less than that: a pipe whose pages are all in use still takes what
 * fits into the last one, and a stream socket that poll() calls full may have most of its buffer left. So where poll()
 * says no, the kernel is asked for a write that does not wait, of memory that is not there: where it would take
 * something, it says EFAULT, and has taken nothing. */
#include "io.h"
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

/* Nobody has a page there. */
static void *const nowhere = (void *)1;

/* Named pipes cannot do RWF_NOWAIT, nor can others before Linux 6.4; another description of the same pipe can be told
 * not to wait. Packets (O_DIRECT) are the first one's. */
static long write_otherwise(int fd, const struct iovec *parts, int count)
{
    struct stat status;
    if (PCT_SYS2(SYS_fstat, fd, &status) || !S_ISFIFO(status.st_mode) || PCT_SYS2(SYS_fcntl, fd, F_GETFL) & O_DIRECT)
        return -EOPNOTSUPP;
    long other = pct_fd_reopen(fd, O_WRONLY | O_NONBLOCK);
    if (other < 0)
        return -EOPNOTSUPP;
    long sent = PCT_SYS3(SYS_writev, other, parts, count);
    PCT_SYS1(SYS_close, other);
    return sent;
}

long pct_io_write_now(int fd, const struct iovec *parts, int count)
{
    long sent = PCT_SYS6(SYS_pwritev2, fd, parts, count, -1, -1, RWF_NOWAIT);
    return sent == -EOPNOTSUPP ? write_otherwise(fd, parts, count) : sent;
}

/* A pipe takes what goes beyond whole pages first, where that fits. A multiple of any page: the rest decides. */
static bool pipe_has_room(int fd, size_t size)
{
    const struct iovec part = { nowhere, size % (1 << 16) };
    return part.iov_len && pct_io_write_now(fd, &part, 1) == -EFAULT;
}

static bool socket_has_room(int fd)
{
    int domain = pct_io_socket_option(fd, SO_DOMAIN);
    if (domain != AF_UNIX && domain != AF_INET && domain != AF_INET6)
        return false;
    long sent = PCT_SYS6(SYS_sendto, fd, nowhere, 1, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
    return sent == -EFAULT || sent == -EPIPE;
}

bool pct_io_is_tried(const struct pct_io *io)
{
    const int fd = io->fds->fd;
    if (io->ready != pct_io_has_room || !pct_fd_may_be_socket(fd) || pct_poll_now(io->fds, io->count) ||
        pct_io_socket_option(fd, SO_DOMAIN) != AF_UNIX)
        return false;
    int type = pct_io_socket_option(fd, SO_TYPE);
    return type == SOCK_DGRAM || type == SOCK_SEQPACKET;
}

bool pct_io_has_room(const struct pct_io *io)
{
    const size_t size = *(const size_t *)io->arg;
    const int fd = io->fds->fd;
    if (pct_poll_now(io->fds, io->count))
        return true; /* or an error: the call itself will say */
    if (pct_shim.confined || !size)
        return false; /* few filters know these calls */
    int type = pct_fd_may_be_socket(fd) ? pct_io_socket_option(fd, SO_TYPE) : 0;
    return type ? type == SOCK_STREAM && socket_has_room(fd) : pipe_has_room(fd, size);
}
