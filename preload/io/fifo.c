/* Opening a named pipe: each end waits for the other. A thread that waits there is scheduled like one that waits for
 * data, so that which of two threads opens its end first is a matter of the schedule. As any process may open the pipe,
 * too, waiting for its other end is waiting for the world.
 *
 * fifo(7): the end to read can always be opened without waiting, and counts from then on; so that is done first, and
 * only then the other end is waited for. The end to write cannot be opened before there is a reader; until then its
 * number is taken by a descriptor that stands for the pipe alone (O_PATH). Either way the thread has the number that
 * the kernel would have kept for it. */
#include "fifo.h"
#include <preload/core/sys.h>
#include <preload/thread/cancel.h>
#include <fcntl.h>
#include <sys/stat.h>

/* An end that is half open. */
struct half {
    int fd;     /* to read: the end itself; to write: the pipe, and in the end the end itself */
    int flags;  /* of the call */
    bool found; /* to write: the other end was there, and fd is ours now */
    long error; /* it cannot be asked: a negative errno */
};

/* Whether somebody has opened the end to write since this one, which does not wait. A read of something that there is,
 * to where it cannot be put, fails, and takes nothing away. */
static bool is_written(int fd)
{
    struct pollfd asked = { .fd = fd, .events = POLLIN };
    return (pct_poll_now(&asked, 1) > 0 && asked.revents) || PCT_SYS3(SYS_read, fd, (void *)8, 1) != 0;
}

static bool has_writer(const struct pct_io *io)
{
    const struct half *half = io->arg;
    return is_written(half->fd);
}

/* Whether somebody has opened the end to read. If so, ours is open from this moment on, and the other thread sees it,
 * as it would if this one waited in the kernel. */
static bool has_reader(const struct pct_io *io)
{
    struct half *half = (struct half *)io->arg;
    if (half->found || half->error)
        return true;
    long fd = pct_fd_reopen(half->fd, (half->flags & ~(O_CREAT | O_TRUNC | O_NOFOLLOW)) | O_NONBLOCK);
    if (fd == -ENXIO)
        return false;
    if (fd >= 0) {
        long failed = PCT_SYS3(SYS_dup3, fd, half->fd, O_CLOEXEC);
        PCT_SYS1(SYS_close, fd);
        half->error = failed < 0 ? failed : 0;
        half->found = failed >= 0;
    } else {
        half->error = fd;
    }
    return true;
}

bool pct_fifo_waits(int folder, const char *path, int flags)
{
    struct stat status;
    return !pct_sched_alone(&pct_S) && !(flags & (O_NONBLOCK | O_EXCL | O_DIRECTORY | O_PATH)) &&
           (flags & O_ACCMODE) <= O_WRONLY && !pct_shim.confined &&
           !PCT_SYS4(SYS_newfstatat, folder, path, &status, 0) && S_ISFIFO(status.st_mode);
}

void pct_fifo_opened(int fd, int flags)
{
    struct stat status;
    const int mode = flags & O_ACCMODE;
    if (fd < 0 || flags & (O_PATH | O_DIRECTORY) || (mode != O_RDWR && !(flags & O_NONBLOCK)) || pct_shim.confined ||
        PCT_SYS2(SYS_fstat, fd, &status) || !S_ISFIFO(status.st_mode))
        return;
    /* Opened without waiting, the end to read tells nothing of the other one; both ends at once join themselves. */
    if (mode == O_RDWR)
        pct_fd_add_others(fd, PCT_FD_BOTH);
    if (mode != O_WRONLY)
        pct_io_pipe_opened(fd, true, mode == O_RDONLY && is_written(fd));
    if (mode != O_RDONLY)
        pct_io_pipe_opened(fd, false, mode == O_WRONLY);
}

/* The end is open: as the program wants it. */
static int finish(struct pct_shim_thread *self, const struct half *half)
{
    long flags = PCT_SYS2(SYS_fcntl, half->fd, F_GETFL);
    PCT_SYS3(SYS_fcntl, half->fd, F_SETFL, flags & ~O_NONBLOCK);
    PCT_SYS3(SYS_fcntl, half->fd, F_SETFD, half->flags & O_CLOEXEC ? FD_CLOEXEC : 0);
    self->half_open = 0;
    pct_fd_made(half->fd, PCT_FD_UNKNOWN);
    pct_io_pipe_opened(half->fd, (half->flags & O_ACCMODE) == O_RDONLY, true);
    return (int)pct_io_end(self, PCT_OP_OPEN, half->fd, half->fd);
}

static void give_up(struct pct_shim_thread *self, const struct half *half)
{
    pct_fd_forget(half->fd);
    self->half_open = 0;
    struct pct_object *object = pct_io_object(half->fd);
    PCT_SYS1(SYS_close, half->fd);
    pct_io_done(self, PCT_OP_OPEN, PCT_ARG_ERROR, object);
    pct_object_destroy(&pct_S.objects, object);
}

int pct_fifo_open(struct pct_shim_thread *self, pct_fifo_opener *real, int folder, const char *path, int flags,
                  mode_t mode, const void *more)
{
    bool reads = (flags & O_ACCMODE) == O_RDONLY;
    struct half half = { .flags = flags };
    const struct pct_io io = { .ready = reads ? has_writer : has_reader, .arg = &half };
    int error = errno;
    pct_cancel_point(self);
    pct_here(self, PCT_OP_OPEN);
    half.fd = CALL_MAY_BLOCK(self, real(folder, path, flags | O_NONBLOCK | O_CLOEXEC, mode, more));
    if (half.fd < 0 && (errno != ENXIO || reads))
        return half.fd;
    bool waits = half.fd < 0 || (reads && !has_writer(&io));
    if (half.fd < 0) {
        half.fd = CALL_MAY_BLOCK(self, real(folder, path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW), 0, more));
        if (half.fd < 0)
            return half.fd;
    }
    errno = error;
    pct_fd_made(half.fd, PCT_FD_UNKNOWN);
    if (!waits)
        return finish(self, &half);
    self->half_open = half.fd + 1;
    /* A step of its own: from here on the other end need not wait for this one. */
    pct_io_done(self, PCT_OP_OPEN, PCT_ARG_BUSY, pct_io_object(half.fd));
    for (;;) {
        enum pct_result result = pct_io_attend(self, PCT_OP_OPEN, half.fd, &io, PCT_REACH_WORLD, PCT_NEVER);
        if (result == PCT_READY && !half.error)
            return finish(self, &half);
        /* While the handler ran, the other end may have been opened, and closed again, for ours was there: nobody would
         * come any more. As if the handler had come behind that. */
        if (result == PCT_INTERRUPTED && (self->restart || pct_io_ask(&io)))
            continue;
        give_up(self, &half);
        if (result == PCT_READY) {
            /* No /proc, no descriptor left: the kernel waits. */
            errno = error;
            return CALL_EXTERNAL(self, PCT_OP_OPEN, NULL, real(folder, path, flags, mode, more));
        }
        if (result == PCT_CANCELLED)
            pct_cancel_behind(self);
        errno = EINTR;
        return -1;
    }
}

unsigned pct_fifo_half_open(int *fds, unsigned most)
{
    unsigned count = 0;
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++)
        if (pct_shim.slots[id].half_open && pct_shim.slots[id].core.state != PCT_STATE_FINISHED && count < most)
            fds[count++] = pct_shim.slots[id].half_open - 1;
    return count;
}
