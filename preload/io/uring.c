/* io_uring, as programs use it through liburing, whose system calls stand inline in that library. A completion comes
 * from the kernel, so waiting for one is a wait on the ring's descriptor; submitting may bring some about at once.
 *
 * liburing's functions return errors as negative numbers and leave errno alone. One that both submits and waits returns
 * what it submitted, if that was anything, and an error of the wait otherwise. */
#include <preload/core/order.h>
#include <preload/core/user_memory.h>
#include "io.h"
#include <preload/thread/foreign_threads.h>
#include <preload/time/clock.h>
#include <errno.h>
#include <liburing.h>

struct completions {
    struct io_uring *ring;
    unsigned count;
};

static bool ready(const struct pct_io *io)
{
    const struct completions *wanted = io->arg;
    return io_uring_cq_ready(wanted->ring) >= wanted->count;
}

/* Rings whose completions only come while somebody waits in the kernel, and waits under a signal mask: for these the
 * real call runs, without the baton. */
static bool must_enter(const struct io_uring *ring, const sigset_t *mask)
{
    return mask || ring->flags & (IORING_SETUP_IOPOLL | IORING_SETUP_DEFER_TASKRUN);
}

/* Wait for this many completions. Returns 0 also when the deadline has passed: the real call will say so. */
static int await(struct pct_shim_thread *self, struct io_uring *ring, unsigned count, uint64_t deadline)
{
    const struct completions wanted = { .ring = ring, .count = count };
    struct pollfd fd = { .fd = ring->ring_fd, .events = POLLIN };
    /* poll() tells of the first one only. liburing's functions are no cancellation points. */
    const struct pct_io io = { .fds = &fd, .count = count == 1, .ready = ready, .arg = &wanted, .lasting = true };
    /* Also what a thread of this process brings about the kernel completes by work of its own, a moment later. */
    if (!ready(&io))
        pct_uncontrolled(PCT_UNCONTROLLED_OUTSIDE);
    if (pct_io_wait(self, PCT_OP_POLL, -1, &io, PCT_REACH_WORLD, deadline, false) != PCT_INTERRUPTED)
        return 0;
    pct_done(self, PCT_OP_POLL, PCT_ARG_ERROR, NULL);
    return -EINTR;
}

/* To the race detector, a request is a call: what it does (a write to a pipe that another thread reads) comes behind
 * all that was done before, and its completion behind what others have sent to the kernel. That may be found without a
 * call: the kernel writes the end of the completion queue, which the program's own code, inlined from liburing's
 * headers, reads as an atomic variable. */
static void submits(const struct pct_shim_thread *self, const struct io_uring *ring)
{
    pct_foreign_threads_of_kernel();
    pct_io_sends_itself();
    pct_order_world(self, PCT_RELEASES);
    pct_order_kernels(ring->cq.ktail);
}

static int finish(struct pct_shim_thread *self, int result)
{
    pct_io_done(self, PCT_OP_POLL, result == -ETIME ? PCT_ARG_TIMEOUT : result < 0 ? PCT_ARG_ERROR : 0, NULL);
    return result;
}

static uint64_t deadline_after(const struct __kernel_timespec *timeout)
{
    if (!timeout || timeout->tv_sec < 0 || timeout->tv_nsec < 0)
        return timeout ? 0 : PCT_NEVER;
    const struct timespec length = { .tv_sec = timeout->tv_sec, .tv_nsec = (long)timeout->tv_nsec };
    return pct_deadline_in(pct_nanoseconds(&length));
}

static struct __kernel_timespec no_time;

PCT_EXPORT int io_uring_submit(struct io_uring *ring)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_POLL, PCT_CLASS_NONE, NULL, REAL(io_uring_submit)(ring));
    pct_here(self, PCT_OP_POLL);
    submits(self, ring);
    return finish(self, REAL(io_uring_submit)(ring));
}

PCT_EXPORT int io_uring_submit_and_wait(struct io_uring *ring, unsigned count)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_POLL, PCT_CLASS_NONE, NULL, REAL(io_uring_submit_and_wait)(ring, count));
    submits(self, ring);
    if (must_enter(ring, NULL))
        return finish(self, CALL_EXTERNAL(self, PCT_OP_POLL, NULL, REAL(io_uring_submit_and_wait)(ring, count)));
    int submitted = io_uring_submit(ring);
    if (submitted < 0 || !count)
        return submitted;
    int interrupted = await(self, ring, count, PCT_NEVER);
    return interrupted && !submitted ? interrupted : finish(self, submitted);
}

/* What waits for a completion, and gives it out. submit: this many are to be submitted before. */
PCT_EXPORT int __io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **completion, unsigned submit,
                                  unsigned count, sigset_t *mask)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_POLL, PCT_CLASS_NONE, NULL, REAL(__io_uring_get_cqe)(ring, completion, submit, count, mask));
    if (submit)
        submits(self, ring);
    if (must_enter(ring, mask))
        return finish(self, CALL_EXTERNAL(self, PCT_OP_POLL, NULL,
                                          REAL(__io_uring_get_cqe)(ring, completion, submit, count, mask)));
    *completion = NULL;
    int submitted = submit ? io_uring_submit(ring) : 0;
    if (submitted < 0)
        return submitted;
    int error = count ? await(self, ring, count, PCT_NEVER) : 0;
    if (!error)
        error = finish(self, REAL(__io_uring_get_cqe)(ring, completion, 0, count, mask));
    return submitted ? submitted : error;
}

PCT_EXPORT int io_uring_wait_cqes(struct io_uring *ring, struct io_uring_cqe **completion, unsigned count,
                                  struct __kernel_timespec *timeout, sigset_t *mask)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_POLL, PCT_CLASS_NONE, NULL,
                    REAL(io_uring_wait_cqes)(ring, completion, count, timeout, mask));
    if (must_enter(ring, mask))
        return finish(self, CALL_EXTERNAL(self, PCT_OP_POLL, NULL,
                                          REAL(io_uring_wait_cqes)(ring, completion, count, timeout, mask)));
    if (timeout && !pct_user_readable(timeout, sizeof *timeout))
        return finish(self, REAL(io_uring_wait_cqes)(ring, completion, count, timeout, mask)); /* EFAULT */
    *completion = NULL;
    int error = await(self, ring, count, deadline_after(timeout));
    return error ? error
                 : finish(self, REAL(io_uring_wait_cqes)(ring, completion, count, timeout ? &no_time : NULL, mask));
}

PCT_EXPORT int io_uring_wait_cqe_timeout(struct io_uring *ring, struct io_uring_cqe **completion,
                                         struct __kernel_timespec *timeout)
{
    return io_uring_wait_cqes(ring, completion, 1, timeout, NULL);
}

PCT_EXPORT int io_uring_submit_and_wait_timeout(struct io_uring *ring, struct io_uring_cqe **completion, unsigned count,
                                                struct __kernel_timespec *timeout, sigset_t *mask)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_POLL, PCT_CLASS_NONE, NULL,
                    REAL(io_uring_submit_and_wait_timeout)(ring, completion, count, timeout, mask));
    submits(self, ring);
    if (must_enter(ring, mask))
        return finish(self,
                      CALL_EXTERNAL(self, PCT_OP_POLL, NULL,
                                    REAL(io_uring_submit_and_wait_timeout)(ring, completion, count, timeout, mask)));
    int submitted = io_uring_submit(ring);
    if (submitted < 0)
        return submitted;
    int error = io_uring_wait_cqes(ring, completion, count, timeout, mask);
    return submitted ? submitted : error;
}
