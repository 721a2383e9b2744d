/* POSIX message queues: they are descriptors, and waited for like them. */
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include "io.h"
#include <preload/thread/cancel.h>
#include <preload/time/clock.h>
#include <mqueue.h>

/* Whether the kernel would refuse this size at once: a message may not be larger than the limit, the room for one not
 * smaller. */
static bool wrong_size(mqd_t queue, short events, size_t size)
{
    struct mq_attr limits;
    if (PCT_SYS3(SYS_mq_getsetattr, queue, NULL, &limits))
        return true;
    return events & POLLIN ? size < (size_t)limits.mq_msgsize : size > (size_t)limits.mq_msgsize;
}

/* Wait until the queue is ready; -1 with errno ETIMEDOUT, EINTR, EINVAL or EFAULT. */
static int begin(struct pct_shim_thread *self, mqd_t queue, short events, size_t size, const struct timespec *until)
{
    struct pollfd asked = { .fd = queue, .events = events };
    const struct pct_io io = { .fds = &asked, .count = 1 };
    uint64_t deadline = PCT_NEVER;
    struct timespec limit;
    pct_cancel_point(self);
    if (until && (!pct_user_copy_in(&limit, until, sizeof limit) || !pct_deadline(CLOCK_REALTIME, &limit, &deadline))) {
        errno = pct_user_readable(until, sizeof limit) ? EINVAL : EFAULT;
        return -1;
    }
    if (!pct_io_would_wait(queue, events) || wrong_size(queue, events, size)) {
        pct_here(self, PCT_OP_MESSAGE);
        return 0;
    }
    enum pct_result result = pct_io_wait(self, PCT_OP_MESSAGE, -1, &io, PCT_REACH_WORLD, deadline, true);
    if (result == PCT_READY)
        return 0;
    pct_done(self, PCT_OP_MESSAGE, result == PCT_TIMEOUT ? PCT_ARG_TIMEOUT : PCT_ARG_ERROR, NULL);
    errno = result == PCT_TIMEOUT ? ETIMEDOUT : EINTR;
    return -1;
}

/* This process has sent messages, perhaps to itself. */
static PCT_OF_RUN bool has_sent;

static long end(struct pct_shim_thread *self, short events, long result)
{
    int error = errno;
    if (result >= 0 && events & POLLOUT)
        has_sent = true;
    if (result >= 0 && events & POLLIN && !has_sent && pct_io_may_meet())
        pct_io_meets_foreign(false);
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
    return (int)end(self, POLLOUT, REAL(mq_timedsend)(queue, message, size, priority, until));
}

PCT_EXPORT int mq_send(mqd_t queue, const char *message, size_t size, unsigned priority)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MESSAGE, PCT_CLASS_NONE, NULL, REAL(mq_send)(queue, message, size, priority));
    if (begin(self, queue, POLLOUT, size, NULL))
        return -1;
    return (int)end(self, POLLOUT, REAL(mq_send)(queue, message, size, priority));
}

PCT_EXPORT ssize_t mq_timedreceive(mqd_t queue, char *restrict message, size_t size, unsigned *restrict priority,
                                   const struct timespec *restrict until)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MESSAGE, PCT_CLASS_NONE, NULL, REAL(mq_timedreceive)(queue, message, size, priority, until));
    if (begin(self, queue, POLLIN, size, until))
        return -1;
    return end(self, POLLIN, REAL(mq_timedreceive)(queue, message, size, priority, until));
}

PCT_EXPORT ssize_t mq_receive(mqd_t queue, char *message, size_t size, unsigned *priority)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MESSAGE, PCT_CLASS_NONE, NULL, REAL(mq_receive)(queue, message, size, priority));
    if (begin(self, queue, POLLIN, size, NULL))
        return -1;
    return end(self, POLLIN, REAL(mq_receive)(queue, message, size, priority));
}
