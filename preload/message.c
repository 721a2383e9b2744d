/* Message queues and semaphores between processes: POSIX queues are descriptors, and waited for like them; System V's cannot
 * be asked, so an operation that would wait is done outside the scheduler. */
#include "io.h"
#include "sys.h"
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

/* Whether the kernel would refuse this size at once: a message may not be larger than the limit, the room for one not
 * smaller. */
static bool wrong_size(mqd_t queue, short events, size_t size)
{
    struct mq_attr limits;
    if (PCT_SYS3(SYS_mq_getsetattr, queue, NULL, &limits))
        return true;
    return events & POLLIN ? size < (size_t)limits.mq_msgsize : size > (size_t)limits.mq_msgsize;
}

/* Wait until the queue is ready; -1 with errno ETIMEDOUT, EINTR or EINVAL. */
static int begin(struct pct_shim_thread *self, mqd_t queue, short events, size_t size, const struct timespec *until)
{
    struct pollfd asked = { .fd = queue, .events = events };
    const struct pct_io io = { .fds = &asked, .count = 1 };
    uint64_t deadline = PCT_NEVER;
    pct_cancel_point(self);
    if (until && !pct_deadline(CLOCK_REALTIME, until, &deadline)) {
        errno = EINVAL;
        return -1;
    }
    if (!pct_io_is_blocking(queue) || wrong_size(queue, events, size)) {
        pct_here(self, PCT_OP_MESSAGE);
        return 0;
    }
    enum pct_result result = pct_io_wait(self, PCT_OP_MESSAGE, -1, &io, true, deadline, true);
    if (result == PCT_READY)
        return 0;
    pct_done(self, PCT_OP_MESSAGE, result == PCT_TIMEOUT ? PCT_ARG_TIMEOUT : PCT_ARG_ERROR, NULL);
    errno = result == PCT_TIMEOUT ? ETIMEDOUT : EINTR;
    return -1;
}

static long end(struct pct_shim_thread *self, long result)
{
    int error = errno;
    pct_io_done(self, PCT_OP_MESSAGE, result < 0 ? PCT_ARG_ERROR : 0, NULL);
    errno = error;
    return result;
}

PCT_EXPORT int mq_timedsend(mqd_t queue, const char *message, size_t size, unsigned priority,
                            const struct timespec *until)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MESSAGE, PCT_CLASS_NONE, NULL, REAL(mq_timedsend)(queue, message, size, priority, until));
    if (begin(self, queue, POLLOUT, size, until))
        return -1;
    return (int)end(self, REAL(mq_timedsend)(queue, message, size, priority, until));
}

PCT_EXPORT int mq_send(mqd_t queue, const char *message, size_t size, unsigned priority)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MESSAGE, PCT_CLASS_NONE, NULL, REAL(mq_send)(queue, message, size, priority));
    if (begin(self, queue, POLLOUT, size, NULL))
        return -1;
    return (int)end(self, REAL(mq_send)(queue, message, size, priority));
}

PCT_EXPORT ssize_t mq_timedreceive(mqd_t queue, char *restrict message, size_t size, unsigned *restrict priority,
                                   const struct timespec *restrict until)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MESSAGE, PCT_CLASS_NONE, NULL, REAL(mq_timedreceive)(queue, message, size, priority, until));
    if (begin(self, queue, POLLIN, size, until))
        return -1;
    return end(self, REAL(mq_timedreceive)(queue, message, size, priority, until));
}

PCT_EXPORT ssize_t mq_receive(mqd_t queue, char *message, size_t size, unsigned *priority)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MESSAGE, PCT_CLASS_NONE, NULL, REAL(mq_receive)(queue, message, size, priority));
    if (begin(self, queue, POLLIN, size, NULL))
        return -1;
    return end(self, REAL(mq_receive)(queue, message, size, priority));
}

/* Do `now` first, which does not wait; when that would have waited, `later`, outside the scheduler. */
#define TRY_THEN_LEAVE(self, now, later)                                                                               \
    ({                                                                                                                 \
        int error_ = errno;                                                                                            \
        pct_cancel_point(self);                                                                                        \
        pct_here(self, PCT_OP_MESSAGE);                                                                                \
        long result_ = (now);                                                                                          \
        if (result_ < 0 && (errno == EAGAIN || errno == ENOMSG)) {                                                     \
            errno = error_;                                                                                            \
            result_ = OUTSIDE(self, PCT_OP_MESSAGE, NULL, (long)(later));                                              \
        }                                                                                                              \
        end(self, result_);                                                                                            \
    })

PCT_EXPORT int msgsnd(int queue, const void *message, size_t size, int flags)
{
    PCT_ENTER(self);
    if (!self || flags & IPC_NOWAIT)
        return REAL(msgsnd)(queue, message, size, flags);
    return (int)TRY_THEN_LEAVE(self, REAL(msgsnd)(queue, message, size, flags | IPC_NOWAIT),
                               REAL(msgsnd)(queue, message, size, flags));
}

PCT_EXPORT ssize_t msgrcv(int queue, void *message, size_t size, long type, int flags)
{
    PCT_ENTER(self);
    if (!self || flags & IPC_NOWAIT)
        return REAL(msgrcv)(queue, message, size, type, flags);
    return TRY_THEN_LEAVE(self, REAL(msgrcv)(queue, message, size, type, flags | IPC_NOWAIT),
                          REAL(msgrcv)(queue, message, size, type, flags));
}

/* The same operations, none of which waits. */
static long try_semop(int set, const struct sembuf *operations, size_t count)
{
    struct sembuf copy[64];
    if (count > sizeof copy / sizeof *copy) {
        errno = EAGAIN;
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        copy[i] = operations[i];
        copy[i].sem_flg |= IPC_NOWAIT;
    }
    return REAL(semop)(set, copy, count);
}

static bool may_wait(const struct sembuf *operations, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (operations[i].sem_op <= 0 && !(operations[i].sem_flg & IPC_NOWAIT))
            return true;
    return false;
}

PCT_EXPORT int semop(int set, struct sembuf *operations, size_t count)
{
    PCT_ENTER(self);
    if (!self || !may_wait(operations, count))
        return REAL(semop)(set, operations, count);
    return (int)TRY_THEN_LEAVE(self, try_semop(set, operations, count), REAL(semop)(set, operations, count));
}

PCT_EXPORT int semtimedop(int set, struct sembuf *operations, size_t count, const struct timespec *timeout)
{
    PCT_ENTER(self);
    if (!self || !may_wait(operations, count))
        return REAL(semtimedop)(set, operations, count, timeout);
    return (int)TRY_THEN_LEAVE(self, try_semop(set, operations, count),
                               REAL(semtimedop)(set, operations, count, timeout));
}
