/* Locks on files: flock, lockf, fcntl. Other processes may hold them, so waiting for one is waiting for the world.
 * Whether a lock is free is asked without taking it: by F_GETLK, or by trying it on a file description made for the
 * question.
 *
 * Locks that belong to processes may be waited for in a cycle of processes. The kernel finds that (EDEADLK), but only
 * among those that wait in it: so after 10 ms of virtual time such a wait goes on there, without the baton. */
#include <common/exploration.h>
#include <preload/core/order.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include <preload/memory/channel.h>
#include "io.h"
#include <preload/thread/cancel.h>
#include <preload/time/clock.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/stat.h>

/* Wait until the predicate says that the lock is free, or until the deadline; PCT_INTERRUPTED: with errno. */
static enum pct_result await(struct pct_shim_thread *self, int fd, const struct pct_io *io, uint64_t deadline)
{
    enum pct_result result = pct_io_wait(self, PCT_OP_FILE_LOCK, fd, io, PCT_REACH_WORLD, deadline, true);
    if (result == PCT_INTERRUPTED)
        errno = EINTR;
    return result;
}

static int done(struct pct_shim_thread *self, enum pct_op op, int fd, int result)
{
    return (int)pct_io_end(self, op, fd, result);
}

/* Files on which this process may hold locks of its own, as a process: by inode, one bit for many. To close any
 * descriptor of such a file gives these up. */
static PCT_OF_RUN uint64_t recorded[8];

static uint64_t *recorded_word(int fd, uint64_t *bit)
{
    struct stat status;
    if (PCT_SYS2(SYS_fstat, fd, &status))
        return NULL;
    *bit = UINT64_C(1) << (status.st_ino % 64);
    return &recorded[status.st_ino / 64 % 8];
}

static bool is_recorded(int fd)
{
    uint64_t bit, *word = recorded_word(fd, &bit);
    return !word || *word & bit;
}

/* Whatever comes of a call that takes, or gives up, a lock on a part of a file. own: a lock of the process. */
static void note_record(int fd, bool own)
{
    uint64_t bit, *word = own ? recorded_word(fd, &bit) : NULL;
    if (word)
        *word |= bit;
}

/* flock: the lock belongs to the file description. After an attempt that failed this one holds none. */

struct flock_wait {
    int fd, operation;
    bool refused; /* there is no asking: no descriptor left, no /proc; or it would give up other locks */
};

static bool flock_free(const struct pct_io *io)
{
    struct flock_wait *wait = (struct flock_wait *)io->arg;
    long fd = is_recorded(wait->fd) ? -EBUSY : pct_fd_reopen(wait->fd, O_RDONLY | O_NONBLOCK);
    wait->refused = fd < 0;
    if (wait->refused)
        return true;
    long failed = PCT_SYS2(SYS_flock, fd, wait->operation | LOCK_NB);
    PCT_SYS1(SYS_close, fd);
    return failed != -EWOULDBLOCK;
}

PCT_EXPORT int flock(int fd, int operation)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(operation & LOCK_UN ? PCT_OP_FILE_UNLOCK : PCT_OP_FILE_LOCK, PCT_CLASS_FD, pct_io_key(fd),
                    REAL(flock)(fd, operation));
    enum pct_op op = operation & LOCK_UN ? PCT_OP_FILE_UNLOCK : PCT_OP_FILE_LOCK;
    pct_io_try(self);
    pct_io_point(self, op, fd);
    int error = errno;
    for (;;) {
        int failed = REAL(flock)(fd, operation | LOCK_NB);
        if (!failed || errno != EWOULDBLOCK || operation & LOCK_NB)
            return done(self, op, fd, failed);
        errno = error;
        struct flock_wait wait = { .fd = fd, .operation = operation };
        const struct pct_io io = { .ready = flock_free, .arg = &wait, .attempted = true, .lasting = true };
        if (await(self, fd, &io, PCT_NEVER) != PCT_READY)
            return done(self, op, fd, -1);
        if (wait.refused) {
            failed = CALL_EXTERNAL(self, op, NULL, REAL(flock)(fd, operation));
            return done(self, op, fd, failed);
        }
    }
}

/* fcntl, lockf. A lock that belongs to the process can be waited for in a cycle of processes, which the kernel finds
 * (EDEADLK), but only when they wait in it. So what has not come after this much virtual time is waited for there,
 * without the baton: threads of one process never wait for each other in this way. Those that belong to a file
 * description have no such error. */

enum { PATIENCE_NS = 10000000 };

struct record_wait {
    int fd, ask; /* F_GETLK or F_OFD_GETLK */
    struct flock lock;
};

static bool record_free(const struct pct_io *io)
{
    const struct record_wait *wait = io->arg;
    struct flock lock = wait->lock;
    return PCT_SYS3(SYS_fcntl, wait->fd, wait->ask, &lock) || lock.l_type == F_UNLCK;
}

/* command: F_SETLKW or F_OFD_SETLKW. */
static int lock_record(struct pct_shim_thread *self, int (*real)(int, int, ...), int fd, int command,
                       const struct flock *lock)
{
    bool own = command == F_OFD_SETLKW; /* the file description's */
    if (lock->l_type == F_UNLCK)
        pct_order_world(self, PCT_RELEASES);
    note_record(fd, !own);
    pct_io_try(self);
    pct_io_point(self, PCT_OP_FILE_LOCK, fd);
    pct_cancel_behind(self);
    int error = errno;
    for (;;) {
        int failed = real(fd, own ? F_OFD_SETLK : F_SETLK, lock);
        if (!failed || (errno != EAGAIN && errno != EACCES))
            return done(self, PCT_OP_FILE_LOCK, fd, failed);
        errno = error;
        const struct record_wait wait = { fd, own ? F_OFD_GETLK : F_GETLK, *lock };
        const struct pct_io io = { .ready = record_free, .arg = &wait, .attempted = true };
        enum pct_result result = await(self, fd, &io, own ? PCT_NEVER : pct_deadline_in(PATIENCE_NS));
        if (result == PCT_TIMEOUT)
            failed = CALL_EXTERNAL(self, PCT_OP_FILE_LOCK, NULL, real(fd, command, lock));
        if (result != PCT_READY)
            return done(self, PCT_OP_FILE_LOCK, fd, failed);
    }
}

static int fcntl_by(int (*real)(int, int, ...), int fd, int command, void *argument)
{
    PCT_ENTER(self);
    struct flock lock;
    switch (command) {
    case F_SETLKW:
    case F_OFD_SETLKW:
        if (self)
            return pct_user_copy_in(&lock, argument, sizeof lock) ? lock_record(self, real, fd, command, &lock)
                                                                  : real(fd, command, argument); /* EFAULT */
        return PASS(PCT_OP_FILE_LOCK, PCT_CLASS_FD, pct_io_key(fd), real(fd, command, argument));
    case F_SETLK:
    case F_OFD_SETLK:
        if (!self || !pct_user_copy_in(&lock, argument, sizeof lock))
            return real(fd, command, argument);
        note_record(fd, command == F_SETLK);
        pct_io_point(self, lock.l_type == F_UNLCK ? PCT_OP_FILE_UNLOCK : PCT_OP_FILE_LOCK, fd);
        return done(self, lock.l_type == F_UNLCK ? PCT_OP_FILE_UNLOCK : PCT_OP_FILE_LOCK, fd,
                    real(fd, command, argument));
    case F_DUPFD:
    case F_DUPFD_CLOEXEC: {
        int copy = real(fd, command, argument);
        pct_explored_hidden(PCT_KEY_KERNEL, false);
        if (copy >= 0 && pct_sched_is_on(&pct_S))
            pct_fd_copied(fd, copy);
        return copy;
    }
    default:
        pct_explored_hidden(PCT_KEY_KERNEL, false);
        return real(fd, command, argument);
    }
}

/* The third argument is a pointer or an integer; to read it where there is none is harmless on this ABI. */
PCT_EXPORT int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return fcntl_by(&REAL(fcntl), fd, command, argument);
}

PCT_EXPORT int fcntl64(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return fcntl_by(&REAL(fcntl64), fd, command, argument);
}

/* As POSIX says: fcntl's lock from the current position. */
PCT_EXPORT int lockf(int fd, int command, off_t size)
{
    PCT_ENTER(self);
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_len = size };
    enum pct_op op = command == F_ULOCK ? PCT_OP_FILE_UNLOCK : PCT_OP_FILE_LOCK;
    if (!self)
        return PASS(op, PCT_CLASS_FD, pct_io_key(fd), REAL(lockf)(fd, command, size));
    if (command == F_LOCK)
        return lock_record(self, &REAL(fcntl), fd, F_SETLKW, &lock);
    if (command != F_TLOCK && command != F_ULOCK)
        return REAL(lockf)(fd, command, size); /* F_TEST changes nothing */
    note_record(fd, true);
    pct_io_point(self, op, fd);
    return done(self, op, fd, REAL(lockf)(fd, command, size));
}

PCT_EXPORT int lockf64(int fd, int command, off64_t size)
{
    return lockf(fd, command, size);
}
