/* Waiting for the kernel: io.h. */
#include "io.h"
#include <preload/core/kernel.h>
#include <preload/core/registers.h>
#include <preload/core/seccomp.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/signals/doorbell.h>
#include <preload/signals/signals.h>
#include <preload/thread/cancel.h>
#include <preload/time/clock.h>
#include <preload/time/family.h>
#include <sched/log.h>
#include <fcntl.h>
#include <sys/socket.h>

static PCT_OF_RUN int sleeper; /* tid of who sleeps in pct_io_sleep(), 0: nobody */

bool pct_io_ask(const struct pct_io *io)
{
    if (io->ready)
        return io->ready(io);
    return pct_poll_now(io->fds, io->count) != 0; /* an error: the call itself will say */
}

/* poll() tells of a signalfd which signals are there for its caller. */
static bool hears(const struct pct_shim_thread *thread, const struct pct_io *io)
{
    for (unsigned i = 0; thread != pct_self && i < io->count; i++)
        if (PCT_UNLIKELY(pct_fd_others(io->fds[i].fd) & PCT_FD_SIGNALS) && io->fds[i].events & POLLIN &&
            pct_signal_pending(thread) & pct_signal_of_fd(io->fds[i].fd))
            return true;
    return false;
}

/* The predicate of kernel waits. */
static bool is_ready(const struct pct_thread *thread)
{
    const struct pct_io *io = thread->wait.ready_arg;
    return pct_io_ask(io) || hears(pct_shim_of(thread), io);
}

enum pct_result pct_io_attend(struct pct_shim_thread *self, enum pct_op op, int fd, const struct pct_io *io,
                              enum pct_reach reach, uint64_t deadline)
{
    struct pct_wait wait = { .op = op,
                             .object = fd < 0 ? &self->sleep_object : pct_io_object(fd),
                             .ready = is_ready,
                             .ready_arg = io,
                             .deadline = deadline,
                             .kernel = true,
                             .outside = reach != PCT_REACH_INSIDE,
                             .attention = io->signals && reach == PCT_REACH_INSIDE && deadline == PCT_NEVER,
                             .certain = io->certain,
                             .kin = reach == PCT_REACH_FAMILY,
                             .cancellable = !self->cancel_disabled && !io->lasting };
    return pct_wait(self, &wait);
}

enum pct_reach pct_io_reach(const struct pct_io *io, enum pct_reach least)
{
    for (unsigned i = 0; i < io->count && least != PCT_REACH_WORLD; i++) {
        const int fd = io->fds[i].fd;
        enum pct_reach reach = fd < 0 ? PCT_REACH_INSIDE : pct_fd_reach(fd);
        least = reach > least ? reach : least;
    }
    return least;
}

void pct_io_reach_again(void)
{
    if (PCT_LIKELY(!pct_sched_kernel_waits(&pct_S)) || !pct_holder())
        return;
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++) {
        struct pct_thread *thread = pct_sched_thread(&pct_S, id);
        if (!thread->wait.kernel)
            continue;
        enum pct_reach reach = pct_io_reach(thread->wait.ready_arg, PCT_REACH_INSIDE);
        if (reach != PCT_REACH_INSIDE && (!thread->wait.outside || thread->wait.kin))
            pct_sched_widen(&pct_S, thread, reach == PCT_REACH_WORLD);
    }
}

void pct_io_try(struct pct_shim_thread *self)
{
    self->handled = 0;
    self->restart = true;
}

static enum pct_result wait_for(struct pct_shim_thread *self, enum pct_op op, int fd, const struct pct_io *io,
                                enum pct_reach reach, uint64_t deadline, bool restarts)
{
    for (bool before = io->attempted, again = false;; before = false, again = true) {
        enum pct_result result = PCT_INTERRUPTED;
        if (!before || !self->handled) {
            self->handled = 0;
            reach = again ? pct_io_reach(io, reach) : reach;
            result = pct_io_attend(self, op, fd, io, reach, deadline);
        }
        if (io->attempted && result == PCT_INTERRUPTED && pct_io_ask(io))
            return PCT_READY; /* as if it had been tried only now */
        if (result == PCT_READY) {
            const bool there = !self->handled || pct_io_ask(io);
            if (!self->handled || (there && !pct_replay_waits_again(&pct_S, &self->core)))
                return result;
            if (!there && !(restarts && self->restart))
                return PCT_INTERRUPTED;
            continue; /* a handler has taken what there was; or a recorded one came before that */
        }
        /* Both at once: the operation goes before its deadline. */
        if (result == PCT_TIMEOUT)
            return pct_io_ask(io) ? PCT_READY : PCT_TIMEOUT;
        if (result == PCT_CANCELLED)
            pct_cancel_behind(self);
        else if (!restarts || !self->restart)
            return PCT_INTERRUPTED;
    }
}

/* What it is about to do a relative may see at once: by then the family's clock shows when that is. */
enum pct_result pct_io_wait(struct pct_shim_thread *self, enum pct_op op, int fd, const struct pct_io *io,
                            enum pct_reach reach, uint64_t deadline, bool restarts)
{
    enum pct_result result = wait_for(self, op, fd, io, reach, deadline, restarts);
    pct_family_tell();
    return result;
}

void pct_io_point(struct pct_shim_thread *self, enum pct_op op, int fd)
{
    pct_io_object(fd); /* gives it its number */
    pct_at(self, op, pct_io_key(fd), PCT_CLASS_FD);
    pct_family_tell();
}

struct pct_shim_thread *pct_io_enter(int fd)
{
    struct pct_shim_thread *self = pct_enter();
    if (self)
        pct_log_hidden(&pct_S, PCT_KEY_KERNEL, false); /* also what is no scheduling point: a regular file */
    return self && pct_fd_blocks(fd) && !pct_seccomp_refuses(PCT_QUESTION_READY) ? self : NULL;
}

int pct_io_socket_option(int fd, int name)
{
    int value = 0;
    unsigned size = sizeof value;
    return PCT_SYS6(SYS_getsockopt, fd, SOL_SOCKET, name, &value, &size, 0) ? 0 : value;
}

uint64_t pct_io_socket_deadline(int fd, short events)
{
    struct timeval limit = { 0 };
    unsigned size = sizeof limit;
    int option = events & POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO;
    if (!pct_fd_may_be_socket(fd) || PCT_SYS6(SYS_getsockopt, fd, SOL_SOCKET, option, &limit, &size, 0) ||
        (!limit.tv_sec && !limit.tv_usec))
        return PCT_NEVER;
    const struct timespec length = { .tv_sec = limit.tv_sec, .tv_nsec = limit.tv_usec * 1000 };
    return pct_deadline_in(pct_nanoseconds(&length));
}

bool pct_io_is_blocking(int fd)
{
    return !(PCT_SYS2(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK);
}

bool pct_io_would_wait(int fd, short events)
{
    long flags = PCT_SYS2(SYS_fcntl, fd, F_GETFL), mode = flags & O_ACCMODE;
    return !(flags & O_NONBLOCK) && mode != (events & POLLIN ? O_WRONLY : O_RDONLY);
}

static int begin(struct pct_shim_thread *self, enum pct_op op, struct pct_io io, bool nonblocking)
{
    const struct pollfd asked = *io.fds;
    const int fd = asked.fd;
    pct_io_object(fd); /* a number, whichever way it goes from here: a replay takes the slow one */
    if (pct_on_fast_path(&pct_S) && !nonblocking && !(pct_family_clock && pct_family_behind()) && pct_io_ask(&io)) {
        pct_family_tell();
        return 0;
    }
    if (nonblocking || !pct_io_would_wait(fd, asked.events) || pct_io_is_tried(&io)) {
        pct_io_point(self, op, fd);
        return 0;
    }
    uint64_t deadline = pct_io_socket_deadline(fd, asked.events);
    /* With a timeout, the system calls of sockets are never restarted. */
    enum pct_result result = pct_io_wait(self, op, fd, &io, pct_fd_reach(fd), deadline, deadline == PCT_NEVER);
    if (result == PCT_READY)
        return 0;
    pct_done(self, op, result == PCT_TIMEOUT ? PCT_ARG_TIMEOUT : PCT_ARG_ERROR, pct_io_object(fd));
    errno = result == PCT_TIMEOUT ? EAGAIN : EINTR;
    return -1;
}

int pct_io_begin(struct pct_shim_thread *self, enum pct_op op, int fd, short events, bool nonblocking)
{
    struct pollfd asked = { .fd = fd, .events = events };
    pct_cancel_point(self);
    return begin(self, op, (struct pct_io){ .fds = &asked, .count = 1 }, nonblocking);
}

int pct_io_begin_write(struct pct_shim_thread *self, enum pct_op op, int fd, size_t size, bool nonblocking)
{
    struct pollfd asked = { .fd = fd, .events = POLLOUT };
    pct_cancel_point(self);
    return begin(self, op, (struct pct_io){ .fds = &asked, .count = 1, .ready = pct_io_has_room, .arg = &size },
                 nonblocking);
}

int pct_io_begin_read(struct pct_shim_thread *self, int fd, bool (*ready)(const struct pct_io *io), const void *arg)
{
    struct pollfd asked = { .fd = fd, .events = POLLIN };
    pct_cancel_point(self);
    return begin(self, PCT_OP_READ, (struct pct_io){ .fds = &asked, .count = 1, .ready = ready, .arg = arg }, false);
}

int pct_io_begin_lasting(struct pct_shim_thread *self, enum pct_op op, int fd, short events, bool nonblocking)
{
    struct pollfd asked = { .fd = fd, .events = events };
    return begin(self, op, (struct pct_io){ .fds = &asked, .count = 1, .lasting = true }, nonblocking);
}

void pct_io_done(struct pct_shim_thread *self, enum pct_op op, uint32_t arg, const struct pct_object *object)
{
    pct_ensure_baton(self);
    pct_done(self, op, arg, object);
    pct_family_tell();
    pct_sched_kernel_changed(&pct_S);
}

long pct_io_end(struct pct_shim_thread *self, enum pct_op op, int fd, long result)
{
    int error = errno;
    bool again = result < 0 && error == EAGAIN;
    pct_ensure_baton(self);
    if (PCT_UNLIKELY(pct_fd_others(fd)) && result >= 0) {
        if (op == PCT_OP_READ)
            pct_io_came(fd);
        else if (op == PCT_OP_WRITE)
            pct_io_went(fd);
    }
    pct_io_done(self, op, again ? PCT_ARG_BUSY : result < 0 ? PCT_ARG_ERROR : 0, pct_io_object(fd));
    if (again)
        pct_sched_spin(&pct_S, &self->core); /* it asks without waiting: others go first */
    errno = error;
    return result;
}

uint64_t pct_io_deadline(int milliseconds)
{
    return milliseconds < 0 ? PCT_NEVER : pct_deadline_in((uint64_t)milliseconds * 1000000);
}

bool pct_io_must_ask(const struct pct_thread *kernel_waits)
{
    for (; kernel_waits; kernel_waits = kernel_waits->kernel_next)
        if (!((const struct pct_io *)kernel_waits->wait.ready_arg)->count)
            return true;
    return false;
}

/* All that the threads of the list wait for, for one poll(). Those that are enabled know already. */
static unsigned gather(struct pct_thread *kernel_waits, struct pollfd **all, bool *again)
{
    static struct pollfd *room;
    static unsigned size;
    unsigned count = 0, need = 0;
    *again = false;
    for (const struct pct_thread *t = kernel_waits; t; t = t->kernel_next)
        need += ((const struct pct_io *)t->wait.ready_arg)->count;
    if (need > size) {
        size = need < 4096 ? 4096 : need * 2; /* the old room stays: this happens a few times at most */
        room = pct_map(size * sizeof *room);
        size = room ? size : 0;
    }
    for (const struct pct_thread *t = kernel_waits; t; t = t->kernel_next) {
        const struct pct_io *io = t->wait.ready_arg;
        if (!io->count || count + io->count > size)
            *again = true;
        if ((pct_state(t) == PCT_STATE_ENABLED && !t->early) || count + io->count > size)
            continue;
        for (unsigned i = 0; i < io->count; i++)
            room[count++] = io->fds[i];
    }
    *all = room;
    return count;
}

void pct_io_sleep(uint64_t when, const uint32_t *word, uint32_t value, struct pct_thread *kernel_waits)
{
    struct pollfd *fds;
    bool again;
    unsigned count = gather(kernel_waits, &fds, &again);
    uint64_t now = pct_real_now();
    /* How often to ask those that poll() cannot ask: ever more seldom, until a step is made. */
    static PCT_OF_RUN uint64_t slice, step;
    if (again) {
        slice = slice && step == pct_steps(&pct_S) ? slice + slice / 8 : 50000;
        slice = slice < 5000000 ? slice : 5000000;
        step = pct_steps(&pct_S);
        when = when < now + slice ? when : now + slice;
    } else {
        slice = 0;
    }
    if (when <= now)
        return;
    struct timespec left = { .tv_sec = (time_t)((when - now) / 1000000000),
                             .tv_nsec = (long)((when - now) % 1000000000) };
    if (pct_self)
        pct_save_registers(pct_self->regs); /* for a report that is made meanwhile */
    if (!count && pct_family_sleep(word, value, when == PCT_NEVER ? NULL : &left))
        return;
    pct_doorbell_install();
    const uint64_t mask = pct_signal_mask(SIG_BLOCK, PCT_DOORBELL_BIT), open = mask & ~PCT_DOORBELL_BIT;
    __atomic_store_n(&sleeper, (int)PCT_SYS0(SYS_gettid), __ATOMIC_SEQ_CST);
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value &&
        pct_refused(PCT_SYS6(SYS_ppoll, fds, count, when == PCT_NEVER ? NULL : &left, &open, sizeof open, 0))) {
        left = (struct timespec){ .tv_nsec = 1000000 };
        pct_futex_wait(word, value, &left); /* asked from time to time, then */
    }
    __atomic_store_n(&sleeper, 0, __ATOMIC_SEQ_CST);
    pct_signal_mask(SIG_SETMASK, mask);
    pct_family_woken();
}

void pct_io_nudge(void)
{
    pct_bell_begin();
    int tid = __atomic_load_n(&sleeper, __ATOMIC_SEQ_CST);
    if (tid)
        pct_doorbell_ring(tid);
    pct_bell_end();
}
