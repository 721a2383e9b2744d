/* Whether a write would have to wait. poll() says less than that: a pipe whose pages are all in use still takes what
 * fits into the last one, and a stream socket that poll() calls full may have most of its buffer left. So where poll()
 * says no, the kernel is asked for a write that does not wait, of memory that is not there: where it would take
 * something, it says EFAULT, and has taken nothing. */
#include "io.h"
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <sys/uio.h>

/* Nobody has a page there. */
static void *const nowhere = (void *)1;

/* A pipe takes what goes beyond whole pages first, where that fits. A multiple of any page: the rest decides. */
static bool pipe_has_room(int fd, size_t size)
{
    const struct iovec part = { nowhere, size % (1 << 16) };
    return part.iov_len && PCT_SYS6(SYS_pwritev2, fd, &part, 1, -1, -1, RWF_NOWAIT) == -EFAULT;
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
