/* Making, copying and closing descriptors. Making one is no scheduling point: nobody can wait for it yet. Closing one
 * is: it may end another thread's wait. */
#include "fifo.h"
#include "news.h"
#include <common/exploration.h>
#include <preload/core/kernel.h>
#include <preload/core/order.h>
#include <preload/core/real.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include <preload/memory/channel.h>
#include <preload/time/absent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

static void note(int fd, enum pct_fd_kind kind)
{
    if (fd >= 0 && pct_running())
        pct_fd_made(fd, kind);
}

/* Note a new descriptor, if there is one. Who makes the next one gets the next number. */
static int made(int fd, enum pct_fd_kind kind)
{
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    note(fd, kind);
    return fd;
}

static int made_pair(int failed, const int fds[2], enum pct_fd_kind kind)
{
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    if (!failed) {
        note(fds[0], kind);
        note(fds[1], kind);
    }
    return failed;
}

PCT_EXPORT int pipe(int fds[2])
{
    return made_pair(REAL(pipe)(fds), fds, PCT_FD_INSIDE);
}

PCT_EXPORT int pipe2(int fds[2], int flags)
{
    return made_pair(REAL(pipe2)(fds, flags), fds, PCT_FD_INSIDE);
}

PCT_EXPORT int socketpair(int domain, int type, int protocol, int fds[2])
{
    return made_pair(REAL(socketpair)(domain, type, protocol, fds), fds, PCT_FD_INSIDE);
}

PCT_EXPORT int eventfd(unsigned count, int flags)
{
    return made(REAL(eventfd)(count, flags), PCT_FD_INSIDE);
}

PCT_EXPORT int epoll_create(int size)
{
    return made(REAL(epoll_create)(size), PCT_FD_EPOLL);
}

PCT_EXPORT int epoll_create1(int flags)
{
    return made(REAL(epoll_create1)(flags), PCT_FD_EPOLL);
}

PCT_EXPORT int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    int failed = REAL(epoll_ctl)(epoll, op, fd, event);
    if (!failed && op != EPOLL_CTL_DEL && pct_running())
        pct_fd_watched(epoll, fd);
    struct pct_shim_thread *self = failed ? NULL : pct_enter();
    if (self) {
        pct_order_world(self, PCT_RELEASES);
        pct_sched_kernel_changed(&pct_S); /* somebody may wait for this epoll */
    }
    return failed;
}

PCT_EXPORT int socket(int domain, int type, int protocol)
{
    const int fd = made(REAL(socket)(domain, type, protocol), PCT_FD_OUTSIDE), kind = type & 0xf; /* without flags */
    if (fd >= 0 && (kind == SOCK_DGRAM || kind == SOCK_RAW) && pct_running())
        pct_fd_add_others(fd, domain == AF_UNIX ? PCT_FD_LOCAL : PCT_FD_DATAGRAMS); /* or netlink's, and the like */
    return fd;
}

static int open_by(pct_fifo_opener *real, int folder, const char *path, int flags, mode_t mode)
{
    PCT_ENTER(self);
    if (self && pct_fifo_waits(folder, path, flags))
        return pct_fifo_open(self, real, folder, path, flags, mode, NULL);
    const long opened = pct_news_at(folder, path, pct_absent_note(real(folder, path, flags, mode)));
    const int fd = made((int)opened, PCT_FD_UNKNOWN);
    if (self)
        pct_fifo_opened(fd, flags);
    return fd;
}

/* The mode is there only with these flags; to read it without is harmless on this ABI. */
#define MODE(flags)                                                                                                    \
    ({                                                                                                                 \
        va_list arguments_;                                                                                            \
        va_start(arguments_, flags);                                                                                   \
        mode_t mode_ = (flags) & (O_CREAT | __O_TMPFILE) ? va_arg(arguments_, mode_t) : 0;                             \
        va_end(arguments_);                                                                                            \
        mode_;                                                                                                         \
    })

PCT_EXPORT int openat(int folder, const char *path, int flags, ...)
{
    return open_by(&REAL(openat), folder, path, flags, MODE(flags));
}

PCT_EXPORT int openat64(int folder, const char *path, int flags, ...)
{
    return open_by(&REAL(openat64), folder, path, flags, MODE(flags));
}

/* By the function that the program calls: a library that is preloaded behind us may replace it. */
static int open_here(int folder, const char *path, int flags, ...)
{
    (void)folder;
    return REAL(open)(path, flags, MODE(flags));
}

static int open64_here(int folder, const char *path, int flags, ...)
{
    (void)folder;
    return REAL(open64)(path, flags, MODE(flags));
}

PCT_EXPORT int open(const char *path, int flags, ...)
{
    return open_by(open_here, AT_FDCWD, path, flags, MODE(flags));
}

PCT_EXPORT int open64(const char *path, int flags, ...)
{
    return open_by(open64_here, AT_FDCWD, path, flags, MODE(flags));
}

/* Fortified: without a mode, as the compiler has checked. */
PCT_EXPORT int __open_2(const char *path, int flags)
{
    return flags & (O_CREAT | __O_TMPFILE) ? REAL(__open_2)(path, flags) : open(path, flags);
}

PCT_EXPORT int __open64_2(const char *path, int flags)
{
    return flags & (O_CREAT | __O_TMPFILE) ? REAL(__open64_2)(path, flags) : open64(path, flags);
}

PCT_EXPORT int __openat_2(int folder, const char *path, int flags)
{
    return flags & (O_CREAT | __O_TMPFILE) ? REAL(__openat_2)(folder, path, flags) : openat(folder, path, flags);
}

PCT_EXPORT int __openat64_2(int folder, const char *path, int flags)
{
    return flags & (O_CREAT | __O_TMPFILE) ? REAL(__openat64_2)(folder, path, flags) : openat64(folder, path, flags);
}

/* By the kernel's call: older libcs have no function of this name, but programs that look for it find ours. */
static int open_how(int folder, const char *path, const struct open_how *how, size_t size)
{
    long fd = PCT_SYS4(SYS_openat2, folder, path, how, size);
    if (fd < 0)
        errno = (int)-fd;
    return fd < 0 ? -1 : (int)fd;
}

/* The same with other flags and another mode, which stands behind these, and then what else it is to be like. */
static int open_like(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = va_arg(arguments, mode_t);
    struct open_how how = *va_arg(arguments, const struct open_how *);
    va_end(arguments);
    how.flags = (how.flags & ~(uint64_t)UINT32_MAX) | (uint32_t)flags;
    how.mode = mode ? how.mode : 0;
    return open_how(folder, path, &how, sizeof how);
}

PCT_EXPORT int openat2(int folder, const char *path, const struct open_how *how, size_t size)
{
    PCT_ENTER(self);
    struct open_how copy;
    const bool known = self && size >= sizeof copy && pct_user_copy_in(&copy, how, sizeof copy);
    const bool waits = known && pct_fifo_waits(folder, path, (int)copy.flags);
    if (waits && size > sizeof copy) /* what more there is, a newer kernel knows */
        return made(CALL_EXTERNAL(self, PCT_OP_OUTSIDE, NULL, open_how(folder, path, how, size)), PCT_FD_UNKNOWN);
    if (waits)
        return pct_fifo_open(self, open_like, folder, path, (int)copy.flags, copy.mode != 0, &copy);
    const long opened = pct_news_at(folder, path, pct_absent_note(open_how(folder, path, how, size)));
    const int fd = made((int)opened, PCT_FD_UNKNOWN);
    if (known)
        pct_fifo_opened(fd, (int)copy.flags);
    return fd;
}

/* What has a name of its own kind; nobody says when it came. */
static int made_named(int fd)
{
    pct_news_any();
    return made(pct_absent_note(fd), PCT_FD_UNKNOWN);
}

PCT_EXPORT int shm_open(const char *name, int flags, mode_t mode)
{
    return made_named(REAL(shm_open)(name, flags, mode));
}

PCT_EXPORT mqd_t mq_open(const char *name, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    struct mq_attr *limits = flags & O_CREAT ? va_arg(arguments, struct mq_attr *) : NULL;
    va_end(arguments);
    return made_named(REAL(mq_open)(name, flags, mode, limits));
}

PCT_EXPORT mqd_t __mq_open_2(const char *name, int flags)
{
    return made_named(REAL(__mq_open_2)(name, flags));
}

PCT_EXPORT int dup(int fd)
{
    int copy = REAL(dup)(fd);
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    if (copy >= 0 && pct_running())
        pct_fd_copied(fd, copy);
    return copy;
}

/* The target of dup2 is closed by it. */
static int replace(int (*real)(int, int, int), int fd, int copy, int flags)
{
    PCT_IO_ENTER(self, copy);
    struct pct_object *o = self ? pct_at(self, PCT_OP_CLOSE, pct_io_key(copy), PCT_CLASS_FD) : NULL;
    int result = real(fd, copy, flags);
    if (result >= 0 && fd != copy && pct_running())
        pct_fd_copied(fd, copy);
    if (result == 2)
        pct_error_note();
    if (!self)
        return result;
    int error = errno;
    pct_io_done(self, PCT_OP_CLOSE, result < 0 ? PCT_ARG_ERROR : 0, o);
    errno = error;
    return result;
}

static int real_dup2(int fd, int copy, int flags)
{
    (void)flags;
    return REAL(dup2)(fd, copy);
}

PCT_EXPORT int dup2(int fd, int copy)
{
    return replace(real_dup2, fd, copy, 0);
}

PCT_EXPORT int dup3(int fd, int copy, int flags)
{
    return replace(&REAL(dup3), fd, copy, flags);
}

PCT_EXPORT int close(int fd)
{
    PCT_IO_ENTER(self, fd);
    if (!self) {
        int failed = PCT_IO_PASS(PCT_OP_CLOSE, fd, REAL(close)(fd));
        if (pct_running())
            pct_fd_forget(fd);
        return failed;
    }
    pct_at(self, PCT_OP_CLOSE, pct_io_key(fd), PCT_CLASS_FD);
    pct_io_closes(fd);
    int result = CALL_MAY_BLOCK(self, REAL(close)(fd)), error = errno;
    pct_fd_forget(fd);
    struct pct_object *o = pct_io_object(fd);
    pct_io_done(self, PCT_OP_CLOSE, result < 0 ? PCT_ARG_ERROR : 0, o);
    pct_object_destroy(&pct_S.objects, o);
    errno = error;
    return result;
}

/* Closing many: no scheduling point, as a program does it before it starts another. */
PCT_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    int failed = REAL(close_range)(first, last, flags);
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    if (!failed && pct_running() && !(flags & (int)CLOSE_RANGE_CLOEXEC))
        pct_fd_forget_range(first, last);
    if (pct_enter())
        pct_sched_kernel_changed(&pct_S);
    return failed;
}

PCT_EXPORT void closefrom(int first)
{
    REAL(closefrom)(first);
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    if (pct_running())
        pct_fd_forget_range((unsigned)(first < 0 ? 0 : first), ~0U);
    if (pct_enter())
        pct_sched_kernel_changed(&pct_S);
}
