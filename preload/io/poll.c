/* Waiting for several descriptors: poll, select, epoll and their relatives. They are asked with a timeout of 0; a
 * thread that would wait, waits in the scheduler (io.h), until a deadline in virtual time. */
#include "io.h"
#include <common/text.h>
#include <preload/core/kernel.h>
#include <preload/core/seccomp.h>
#include <preload/core/shim.h>
#include <preload/core/user_memory.h>
#include <preload/signals/signals.h>
#include <preload/thread/cancel.h>
#include <preload/time/clock.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>

static bool refused(void)
{
    return pct_seccomp_refuses(PCT_QUESTION_READY);
}

/* One of these calls: how to ask without waiting, and what to wait for. */
struct call {
    struct pct_io io;
    int (*ask)(struct call *call); /* as the call itself with a timeout of 0: its result and errno */
    void *what;
    size_t size;
    int epoll;
    enum pct_reach reach;
};

/* It waits for this descriptor, too; negative: for none. */
static void add_reach(struct call *call, int fd)
{
    if (fd >= 0)
        pct_fd_blocks(fd); /* looks what it is */
    enum pct_reach reach = fd < 0 || call->reach == PCT_REACH_WORLD ? PCT_REACH_INSIDE : pct_fd_reach(fd);
    if (reach > call->reach)
        call->reach = reach;
}

/* Even a call that does not wait fails with EINTR while a signal is pending (pct_poll_now). */
static int ask(struct call *call)
{
    int ready;
    do
        ready = call->ask(call);
    while (ready < 0 && errno == EINTR);
    return ready;
}

static int run(struct pct_shim_thread *self, struct call *call, bool waits, uint64_t deadline)
{
    pct_cancel_point(self);
    if (!waits)
        pct_here(self, PCT_OP_POLL);
    for (;;) {
        enum pct_result result = PCT_READY;
        if (waits)
            result = pct_io_wait(self, PCT_OP_POLL, -1, &call->io, call->reach, deadline, false);
        if (result == PCT_INTERRUPTED) {
            pct_done(self, PCT_OP_POLL, PCT_ARG_ERROR, NULL);
            errno = EINTR;
            return -1;
        }
        int ready = ask(call), error = errno;
        if (!ready && waits && result == PCT_READY) {
            /* What poll() saw is not what this call is about, or an edge that has passed. */
            call->reach = pct_io_reach(&call->io, call->reach);
            continue;
        }
        pct_io_done(self, PCT_OP_POLL, ready < 0 ? PCT_ARG_ERROR : ready ? 0 : PCT_ARG_TIMEOUT, NULL);
        if (!ready && !waits)
            pct_sched_spin(&pct_S, &self->core); /* asks again and again, perhaps: others go first */
        errno = error;
        return ready;
    }
}

/* The same under a signal mask, NULL: none. Where signals that it lets in are handled right away, the call is
 * interrupted. */
static int run_masked(struct pct_shim_thread *self, struct call *call, bool waits, uint64_t deadline,
                      const sigset_t *mask)
{
    uint64_t set;
    struct pct_masked outer;
    if (!mask)
        return run(self, call, waits, deadline);
    call->io.signals = true;
    pct_cancel_point(self);
    if (!pct_user_copy_in(&set, mask, sizeof set)) {
        errno = EFAULT;
        return -1;
    }
    bool interrupted = pct_signal_mask_begin(self, set, &outer);
    int ready = run(self, call, waits && !interrupted, deadline), error = errno;
    pct_signal_mask_end(self, &outer);
    if (!ready && interrupted) {
        ready = -1;
        error = EINTR;
    }
    errno = error;
    return ready;
}

/* poll */

enum { FEW = 32, MOST = 1024 };

/* Room to say which descriptors: on the stack for a few, as threads may have small ones; else once for each thread, but
 * not for a handler's call, which may have interrupted another one: NULL. */
static struct pollfd *room_for(struct pct_shim_thread *self, struct pollfd *few, int need)
{
    if (need <= FEW)
        return few;
    if (pct_signal_is_handling(self))
        return NULL;
    if (!self->descriptors)
        self->descriptors = pct_map(MOST * sizeof *self->descriptors);
    return self->descriptors;
}

/* Of the copy, as the kernel has one: what another thread makes of `fds` meanwhile is for the next call. */
static int ask_poll(struct call *call)
{
    struct pollfd *fds = call->what;
    int ready = REAL(poll)(call->io.fds, call->size, 0);
    for (size_t i = 0; ready >= 0 && call->io.fds != fds && i < call->size; i++)
        fds[i].revents = call->io.fds[i].revents;
    return ready;
}

static int poll_until(struct pct_shim_thread *self, struct pollfd *fds, nfds_t count, bool waits, uint64_t deadline,
                      const sigset_t *mask)
{
    /* A copy: what another thread sees in `fds` meanwhile is what the program wrote there. */
    struct pollfd few[FEW], *copy;
    struct call call = { .ask = ask_poll, .what = fds, .size = count };
    if (waits) {
        waits = pct_poll_now(fds, count) >= 0; /* EFAULT, EINVAL: the call itself will say */
    }
    if (waits && count <= MOST && (copy = room_for(self, few, (int)count))) {
        if (count)
            memcpy(copy, fds, count * sizeof *copy);
        call.io = (struct pct_io){ .fds = copy, .count = (unsigned)count };
    } else {
        call.io = (struct pct_io){ .fds = fds, .count = (unsigned)count };
    }
    call.io.signals = true;
    for (nfds_t i = 0; waits && i < count; i++) {
        add_reach(&call, call.io.fds[i].fd);
        call.io.signals &= call.io.fds[i].fd < 0;
    }
    return run_masked(self, &call, waits, deadline, mask);
}

PCT_EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    PCT_ENTER(self);
    if (!self || refused())
        return PASS(PCT_OP_POLL, PCT_CLASS_NONE, NULL, REAL(poll)(fds, count, timeout));
    return poll_until(self, fds, count, timeout != 0, pct_io_deadline(timeout), NULL);
}

PCT_EXPORT int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size)
{
    return size / sizeof *fds < count ? REAL(__poll_chk)(fds, count, timeout, size) : poll(fds, count, timeout);
}

/* A relative timeout as a virtual deadline. False: it is not a valid one. */
static bool deadline_after(const struct timespec *timeout, uint64_t *deadline)
{
    *deadline = PCT_NEVER;
    if (timeout && !pct_valid(timeout))
        return false;
    if (timeout)
        *deadline = pct_deadline_in(pct_nanoseconds(timeout));
    return true;
}

static bool is_zero(const struct timespec *timeout)
{
    return timeout && !timeout->tv_sec && !timeout->tv_nsec;
}

PCT_EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    PCT_ENTER(self);
    uint64_t deadline;
    if (!self || refused())
        return PASS(PCT_OP_POLL, PCT_CLASS_NONE, NULL, REAL(ppoll)(fds, count, timeout, mask));
    if (!deadline_after(timeout, &deadline))
        return REAL(ppoll)(fds, count, timeout, mask); /* EINVAL */
    return poll_until(self, fds, count, !is_zero(timeout), deadline, mask);
}

PCT_EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
                           size_t size)
{
    return size / sizeof *fds < count ? REAL(__ppoll_chk)(fds, count, timeout, mask, size)
                                      : ppoll(fds, count, timeout, mask);
}

/* select */

enum { WORDS = 1024 / 64 };

struct sets {
    int count;
    fd_set *set[3];      /* to read, to write, exceptional: may be NULL */
    uint64_t *wanted[3]; /* of a call that waits: what it is about, which the answer overwrites */
    bool asked;          /* so it has */
};

/* Programs name as many descriptors as there might be (getdtablesize()); the kernel looks at as many as its table has.
 * Not inline: handlers may have small stacks. */
__attribute__((noinline)) static int looked_at(int count)
{
    static const char name[] = "FDSize:\t";
    char text[1024];
    int size = 0;
    if (count <= WORDS * 64 || pct_shim.confined)
        return count;
    const long fd = PCT_SYS3(SYS_open, "/proc/thread-self/status", O_RDONLY | O_CLOEXEC, 0);
    const long got = fd < 0 ? 0 : PCT_SYS3(SYS_read, fd, text, sizeof text - 1);
    if (fd >= 0)
        PCT_SYS1(SYS_close, fd);
    text[got > 0 ? got : 0] = 0;
    const char *c = text;
    while (*c && strncmp(c, name, sizeof name - 1))
        c++;
    for (c += *c ? sizeof name - 1 : 0; *c >= '0' && *c <= '9'; c++)
        size = size * 10 + (*c - '0');
    return size && size < count ? size : count;
}

/* The sets may be larger than fd_set, and are as large as count says. */
static size_t bytes(int count)
{
    return ((size_t)count + 63) / 64 * 8;
}

/* For arrays, which have at least one: as many as are needed, as handlers may have small stacks. */
static size_t words_of(int count)
{
    return count > 0 && count <= WORDS * 64 ? bytes(count) / sizeof(uint64_t) : 1;
}

static int ask_select(struct call *call)
{
    struct sets *sets = call->what;
    struct timeval none = { 0 };
    for (int i = 0; i < 3; i++)
        if (sets->asked && sets->wanted[i])
            memcpy(sets->set[i], sets->wanted[i], bytes(sets->count));
    sets->asked = true;
    return REAL(select)(sets->count, sets->set[0], sets->set[1], sets->set[2], &none);
}

/* The same on copies. */
static bool ready_select(const struct pct_io *io)
{
    const struct sets *sets = io->arg;
    uint64_t copy[3][words_of(sets->count)];
    void *at[3];
    const struct timespec none = { 0 };
    for (int i = 0; i < 3; i++)
        at[i] = sets->set[i] ? memcpy(copy[i], sets->wanted[i], bytes(sets->count)) : NULL;
    long ready;
    do
        ready = PCT_SYS6(SYS_pselect6, sets->count, at[0], at[1], at[2], &none, 0);
    while (ready == -EINTR);
    return ready != 0;
}

static bool in(const fd_set *set, int fd)
{
    return set && ((const uint64_t *)set)[fd / 64] >> (fd % 64) & 1;
}

static int select_until(struct pct_shim_thread *self, struct sets *sets, bool waits, uint64_t deadline,
                        const sigset_t *mask)
{
    struct pollfd few[FEW], *fds = few;
    uint64_t wanted[3][words_of(sets->count)];
    if (sets->count < 0 || sets->count > WORDS * 64)
        waits = false;
    for (int i = 0; i < 3; i++) /* EFAULT: the call itself will say */
        waits = waits && (!sets->set[i] || pct_user_readable(sets->set[i], bytes(sets->count)));
    for (int i = 0; waits && i < 3; i++)
        if (sets->set[i])
            sets->wanted[i] = memcpy(wanted[i], sets->set[i], bytes(sets->count));
    if (waits)
        fds = room_for(self, few, sets->count);
    struct call call = { .ask = ask_select, .what = sets, .io = { .fds = fds, .ready = ready_select, .arg = sets } };
    for (int fd = 0; waits && fd < sets->count; fd++) {
        short events = (short)((in(sets->set[0], fd) ? POLLIN : 0) | (in(sets->set[1], fd) ? POLLOUT : 0) |
                               (in(sets->set[2], fd) ? POLLPRI : 0));
        if (!events)
            continue;
        if (fds)
            fds[call.io.count++] = (struct pollfd){ .fd = fd, .events = events };
        add_reach(&call, fd);
    }
    call.io.signals = !call.io.count;
    return run_masked(self, &call, waits, deadline, mask);
}

PCT_EXPORT int select(int count, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *timeout)
{
    PCT_ENTER(self);
    if (!self || refused())
        return PASS(PCT_OP_POLL, PCT_CLASS_NONE, NULL, REAL(select)(count, reads, writes, exceptions, timeout));
    if (timeout && (timeout->tv_sec < 0 || timeout->tv_usec < 0))
        return REAL(select)(count, reads, writes, exceptions, timeout); /* EINVAL */
    count = looked_at(count);
    if (count > WORDS * 64)
        return CALL_EXTERNAL(self, PCT_OP_POLL, NULL, REAL(select)(count, reads, writes, exceptions, timeout));
    struct sets sets = { .count = count, .set = { reads, writes, exceptions } };
    struct timespec length = { 0 };
    uint64_t deadline;
    if (timeout)
        length = (struct timespec){ .tv_sec = timeout->tv_sec + timeout->tv_usec / 1000000,
                                    .tv_nsec = timeout->tv_usec % 1000000 * 1000 };
    deadline_after(timeout ? &length : NULL, &deadline);
    int ready = select_until(self, &sets, !timeout || !is_zero(&length), deadline, NULL);
    if (timeout && deadline != PCT_NEVER) { /* Linux says what is left */
        int error = errno;
        uint64_t now = pct_sched_now(&pct_S), left = deadline > now ? deadline - now : 0;
        *timeout = (struct timeval){ .tv_sec = (time_t)(left / 1000000000),
                                     .tv_usec = (suseconds_t)(left % 1000000000 / 1000) };
        errno = error;
    }
    return ready;
}

PCT_EXPORT int pselect(int count, fd_set *reads, fd_set *writes, fd_set *exceptions, const struct timespec *timeout,
                       const sigset_t *mask)
{
    PCT_ENTER(self);
    uint64_t deadline;
    if (!self || refused())
        return PASS(PCT_OP_POLL, PCT_CLASS_NONE, NULL, REAL(pselect)(count, reads, writes, exceptions, timeout, mask));
    if (!deadline_after(timeout, &deadline))
        return REAL(pselect)(count, reads, writes, exceptions, timeout, mask); /* EINVAL */
    count = looked_at(count);
    if (count > WORDS * 64)
        return CALL_EXTERNAL(self, PCT_OP_POLL, NULL, REAL(pselect)(count, reads, writes, exceptions, timeout, mask));
    struct sets sets = { .count = count, .set = { reads, writes, exceptions } };
    return select_until(self, &sets, !is_zero(timeout), deadline, mask);
}

/* epoll: an epoll descriptor can itself be polled. */

static int ask_epoll(struct call *call)
{
    return REAL(epoll_wait)(call->epoll, call->what, (int)call->size, 0);
}

static int epoll_until(struct pct_shim_thread *self, int epoll, struct epoll_event *events, int count, bool waits,
                       uint64_t deadline, const sigset_t *mask)
{
    struct pollfd fd = { .fd = epoll, .events = POLLIN };
    char name[PCT_FD_NAME];
    const char *kind = waits && pct_io_is_awaited(epoll, POLLIN) ? pct_fd_anonymous(epoll, name) : NULL;
    /* EINVAL, EBADF: the call itself will say. */
    waits = waits && (!kind || pct_text_same(kind, "eventpoll]")) && PCT_SYS2(SYS_fcntl, epoll, F_GETFL) != -EBADF;
    struct call call = { .ask = ask_epoll,
                         .what = events,
                         .size = (size_t)count,
                         .epoll = epoll,
                         .io = { .fds = &fd, .count = 1 },
                         .reach = pct_fd_reach(epoll) };
    return run_masked(self, &call, waits && count > 0, deadline, mask);
}

PCT_EXPORT int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout)
{
    PCT_ENTER(self);
    if (!self || refused())
        return PASS(PCT_OP_POLL, PCT_CLASS_NONE, NULL, REAL(epoll_wait)(epoll, events, count, timeout));
    return epoll_until(self, epoll, events, count, timeout != 0, pct_io_deadline(timeout), NULL);
}

PCT_EXPORT int epoll_pwait(int epoll, struct epoll_event *events, int count, int timeout, const sigset_t *mask)
{
    PCT_ENTER(self);
    if (!self || refused())
        return PASS(PCT_OP_POLL, PCT_CLASS_NONE, NULL, REAL(epoll_pwait)(epoll, events, count, timeout, mask));
    return epoll_until(self, epoll, events, count, timeout != 0, pct_io_deadline(timeout), mask);
}

PCT_EXPORT int epoll_pwait2(int epoll, struct epoll_event *events, int count, const struct timespec *timeout,
                            const sigset_t *mask)
{
    PCT_ENTER(self);
    struct timespec length;
    uint64_t deadline;
    if (!self || refused())
        return PASS(PCT_OP_POLL, PCT_CLASS_NONE, NULL, REAL(epoll_pwait2)(epoll, events, count, timeout, mask));
    /* The only one of these whose timeout libc does not look at. */
    if (timeout && !pct_user_copy_in(&length, timeout, sizeof length))
        return REAL(epoll_pwait2)(epoll, events, count, timeout, mask); /* EFAULT */
    if (!deadline_after(timeout ? &length : NULL, &deadline))
        return REAL(epoll_pwait2)(epoll, events, count, timeout, mask); /* EINVAL */
    return epoll_until(self, epoll, events, count, !timeout || !is_zero(&length), deadline, mask);
}
