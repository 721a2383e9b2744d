/* Calls that return at once though poll() says that they would have to wait: what the kernel refuses whatever comes,
 * and what has nothing to do. Waited for, they would be waited for for ever. Most of it can be asked by a call that
 * moves nothing. */
#include <preload/core/kernel.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include "io.h"
#include <common/text.h>
#include <errno.h>
#include <limits.h>

/* X86: the end of what a program can have. Above it lies no address that the kernel would try. */
#define USER_END UINT64_C(0x7ffffffff000)

bool pct_io_are_bad(const struct iovec *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t length = parts[i].iov_len;
        if (length > SSIZE_MAX || length > USER_END || (uintptr_t)parts[i].iov_base > USER_END - length)
            return true;
    }
    return false;
}

short pct_io_polled(int fd, short events)
{
    struct pollfd asked = { .fd = fd, .events = events };
    return pct_poll_now(&asked, 1) > 0 ? asked.revents : 0;
}

bool pct_io_is_awaited(int fd, short events)
{
    return !pct_poll_now(&(struct pollfd){ .fd = fd, .events = events }, 1);
}

/* Whether this kind of descriptor can be read, or written, at all: nothing is, as there is no room for it. */
static bool can(long number, int fd)
{
    const struct iovec nothing = { 0 };
    return pct_shim.confined || PCT_SYS6(number, fd, &nothing, 1, -1, -1, 0) != -EINVAL;
}

static bool listens(int fd)
{
    return pct_io_socket_option(fd, SO_ACCEPTCONN);
}

/* A read of fewer bytes is refused. */
static size_t least(const char *kind)
{
    enum { SIGNAL_INFO = 128 };
    return pct_text_same(kind, "eventfd]") || pct_text_same(kind, "timerfd]") ? sizeof(uint64_t)
           : pct_text_same(kind, "signalfd]")                                 ? SIGNAL_INFO
                                                                              : 0;
}

bool pct_io_returns_read(int fd, const struct iovec *parts, int count)
{
    const size_t size = pct_io_size(parts, count);
    char name[PCT_FD_NAME];
    if (!size || pct_io_are_bad(parts, (size_t)count))
        return true;
    if (!pct_io_is_awaited(fd, POLLIN))
        return false;
    if (!pct_fd_is_no_socket(fd))
        return listens(fd);
    const char *kind = pct_fd_anonymous(fd, name);
    return !can(SYS_preadv2, fd) || (kind && size < least(kind));
}

/* A full eventfd takes a 0, and what is no number that can be added it refuses. */
static bool is_no_wait(const struct iovec *parts, int count)
{
    uint64_t value;
    return count != 1 || parts->iov_len != sizeof value || !pct_user_copy_in(&value, parts->iov_base, sizeof value) ||
           !value || value == UINT64_MAX;
}

bool pct_io_returns_write(int fd, const struct iovec *parts, int count)
{
    char name[PCT_FD_NAME];
    if (!pct_io_size(parts, count) || pct_io_are_bad(parts, (size_t)count))
        return true;
    if (!pct_io_is_awaited(fd, POLLOUT))
        return false;
    if (!pct_fd_is_no_socket(fd))
        return listens(fd);
    const char *kind = pct_fd_anonymous(fd, name);
    return !can(SYS_pwritev2, fd) || (kind && pct_text_same(kind, "eventfd]") && is_no_wait(parts, count));
}

bool pct_io_returns_message(int fd, const struct msghdr *message)
{
    if (!pct_io_is_awaited(fd, message ? POLLOUT : POLLIN))
        return false;
    if (listens(fd))
        return true;
    if (!message)
        return false;
    const bool stream = pct_io_socket_option(fd, SO_TYPE) == SOCK_STREAM;
    const socklen_t length = message->msg_namelen;
    if (stream && (!pct_io_size(message->msg_iov, (int)message->msg_iovlen) ||
                   (message->msg_name && length && pct_io_socket_option(fd, SO_DOMAIN) == AF_UNIX)))
        return true;
    return (message->msg_name &&
            (length > sizeof(struct sockaddr_storage) || !pct_user_readable(message->msg_name, length))) ||
           (message->msg_control && !pct_user_readable(message->msg_control, message->msg_controllen));
}
