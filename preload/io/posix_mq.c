/* POSIX message queues: they are descriptors, and waited for like them. When the call comes another process may have
 * taken the message, or the room, that was there; so a call that may wait is made without waiting, and waits again in
 * the scheduler when that failed. */
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

/* One of these calls. */
struct call {
    mqd_t queue;
    short events; /* what it waits for: POLLIN, POLLOUT */
    void *message;
    size_t size;
    unsigned priority; /* of what is sent */
    unsigned *got;     /* that of what is received is put there */
    const struct timespec *until;
    bool timed; /* it is one of the functions that have `until` */
};

/* Whether the kernel looks at something first that is wrong, and fails. */
static bool is_refused(const struct call *call)
{
    return wrong_size(call->queue, call->events, call->size) ||
           (call->events & POLLOUT && (call->priority >= MQ_PRIO_MAX || !pct_user_readable(call->message, call->size)));
}

/* until: NULL: as the call itself. */
static long perform(const struct call *call, const struct timespec *until)
{
    const bool sends = call->events & POLLOUT;
    if (!until && !call->timed)
        return sends ? REAL(mq_send)(call->queue, call->message, call->size, call->priority)
                     : REAL(mq_receive)(call->queue, call->message, call->size, call->got);
    until = until ? until : call->until;
    return sends ? REAL(mq_timedsend)(call->queue, call->message, call->size, call->priority, until)
                 : REAL(mq_timedreceive)(call->queue, call->message, call->size, call->got, until);
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

static long run(struct pct_shim_thread *self, const struct call *call)
{
    struct pollfd asked = { .fd = call->queue, .events = call->events };
    const struct pct_io io = { .fds = &asked, .count = 1 };
    static const struct timespec past; /* of a deadline that has passed, only: it takes what is there */
    uint64_t deadline = PCT_NEVER;
    struct timespec limit;
    int error = errno;
    pct_cancel_point(self);
    if (call->until && (!pct_user_copy_in(&limit, call->until, sizeof limit) || !pct_valid(&limit) ||
                        !pct_deadline(CLOCK_REALTIME, &limit, &deadline))) {
        errno = pct_user_readable(call->until, sizeof limit) ? EINVAL : EFAULT;
        return -1;
    }
    if (!pct_io_would_wait(call->queue, call->events) || is_refused(call)) {
        pct_here(self, PCT_OP_MESSAGE);
        return end(self, call->events, perform(call, NULL));
    }
    for (;;) {
        enum pct_result result = pct_io_wait(self, PCT_OP_MESSAGE, -1, &io, PCT_REACH_WORLD, deadline, true);
        if (result != PCT_READY) {
            pct_done(self, PCT_OP_MESSAGE, result == PCT_TIMEOUT ? PCT_ARG_TIMEOUT : PCT_ARG_ERROR, NULL);
            errno = result == PCT_TIMEOUT ? ETIMEDOUT : EINTR;
            return -1;
        }
        long moved = perform(call, &past);
        if (moved >= 0 || (errno != ETIMEDOUT && errno != EINTR))
            return end(self, call->events, moved);
        pct_io_done(self, PCT_OP_MESSAGE, PCT_ARG_BUSY, NULL);
        errno = error;
    }
}

PCT_EXPORT int mq_timedsend(mqd_t queue, const char *message, size_t size, unsigned priority,
                            const struct timespec *until)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MESSAGE, PCT_CLASS_NONE, NULL, REAL(mq_timedsend)(queue, message, size, priority, until));
    const struct call call = { .queue = queue,
                               .events = POLLOUT,
                               .message = (void *)message,
                               .size = size,
                               .priority = priority,
                               .until = until,
                               .timed = true };
    return (int)run(self, &call);
}

PCT_EXPORT int mq_send(mqd_t queue, const char *message, size_t size, unsigned priority)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MESSAGE, PCT_CLASS_NONE, NULL, REAL(mq_send)(queue, message, size, priority));
    const struct call call = {
        .queue = queue, .events = POLLOUT, .message = (void *)message, .size = size, .priority = priority
    };
    return (int)run(self, &call);
}

PCT_EXPORT ssize_t mq_timedreceive(mqd_t queue, char *restrict message, size_t size, unsigned *restrict priority,
                                   const struct timespec *restrict until)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MESSAGE, PCT_CLASS_NONE, NULL, REAL(mq_timedreceive)(queue, message, size, priority, until));
    const struct call call = { .queue = queue,
                               .events = POLLIN,
                               .message = message,
                               .size = size,
                               .got = priority,
                               .until = until,
                               .timed = true };
    return run(self, &call);
}

PCT_EXPORT ssize_t mq_receive(mqd_t queue, char *message, size_t size, unsigned *priority)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MESSAGE, PCT_CLASS_NONE, NULL, REAL(mq_receive)(queue, message, size, priority));
    const struct call call = { .queue = queue, .events = POLLIN, .message = message, .size = size, .got = priority };
    return run(self, &call);
}
