/* Operations on descriptors: waiting until they would not block, and what is known of the descriptors.
 *
 * A wrapper of an operation that can block on a descriptor:
 *
 *     PCT_IO_ENTER(self, fd);                                        NULL also for regular files: they never block
 *     if (!self)
 *         return PCT_IO_PASS(PCT_OP_X, fd, REAL(x)(fd, ...));
 *     if (pct_io_begin(self, PCT_OP_X, fd, POLLIN, nonblocking))     passes the point; waits until the kernel says that
 *         return -1;                                                 x would not block. -1: errno is set, as by x
 *     return pct_io_end(self, PCT_OP_X, fd, REAL(x)(fd, ...));       records the step; others may be ready now
 *
 * For streams, await() in stdio.c does this before libc is called.
 */
#ifndef PCT_PRELOAD_IO_H
#define PCT_PRELOAD_IO_H

#include <preload/core/pass.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Who can end a wait: this process alone; its family, too, which shares its time (struct pct_host); anybody. */
enum pct_reach { PCT_REACH_INSIDE, PCT_REACH_FAMILY, PCT_REACH_WORLD };

/* What a kernel wait waits for: wait.ready_arg of every wait with `kernel` is one of these. */
struct pct_io {
    /* What poll() is to ask; none: nothing tells when to ask again, so that is done from time to time. */
    struct pollfd *fds;
    unsigned count;
    bool certain;                           /* it comes in the end */
    bool (*ready)(const struct pct_io *io); /* what to ask instead of poll(), or NULL */
    const void *arg;
    bool attempted; /* the call was tried after pct_io_try(): a handler since then interrupts the wait, too */
    bool lasting;   /* no cancellation ends it */
    bool signals;   /* it waits for a signal, too: where only this process could make it ready, it is like pause() */
};

/* Whether it is there: the predicate of kernel waits, asked now. */
bool pct_io_ask(const struct pct_io *io);

/* Wait in the kernel's name: passes a scheduling point; returns when the predicate holds (PCT_READY), at the deadline
 * (virtual ns: PCT_TIMEOUT), or after a signal handler (PCT_INTERRUPTED). fd: the descriptor that it waits for, -1:
 * none, or several. reach: who can make it ready. restarts: a handler with SA_RESTART does not end this wait. A
 * cancellation point. */
enum pct_result pct_io_wait(struct pct_shim_thread *self, enum pct_op op, int fd, const struct pct_io *io,
                            enum pct_reach reach, uint64_t deadline, bool restarts);

/* One such wait: whoever waits decides what is to be done after a handler (PCT_INTERRUPTED; self->restart says whether
 * all had SA_RESTART), and after a cancellation (PCT_CANCELLED) before it calls pct_cancel_point(). */
enum pct_result pct_io_attend(struct pct_shim_thread *self, enum pct_op op, int fd, const struct pct_io *io,
                              enum pct_reach reach, uint64_t deadline);

/* Who can make one of its descriptors ready now, at least these. */
enum pct_reach pct_io_reach(const struct pct_io *io, enum pct_reach least);
/* That may be more than when waits began that last: an epoll watches one more descriptor, a child has copies. */
void pct_io_reach_again(void);

/* Before the point of a call that is tried first and then waits with `attempted`: a handler that runs at the point
 * interrupts the call like one that runs while it waits. Which of the two it was is not in the trace. */
void pct_io_try(struct pct_shim_thread *self);

/* Pass the point of an operation on fd that does not wait. */
void pct_io_point(struct pct_shim_thread *self, enum pct_op op, int fd);

/* Before an operation on a descriptor: the calling thread if it holds the baton, the operation could block, and the
 * kernel may be asked whether it would. */
struct pct_shim_thread *pct_io_enter(int fd);

/* Pass the point of an operation on fd, waiting until poll() reports one of the events (or an error). nonblocking: the
 * call itself asks not to wait (MSG_DONTWAIT); otherwise O_NONBLOCK and the socket's timeouts are looked up. Returns 0,
 * or -1 with errno EINTR or EAGAIN. A cancellation point. */
int pct_io_begin(struct pct_shim_thread *self, enum pct_op op, int fd, short events, bool nonblocking);

/* The same for a write of this size: until it would not have to wait, at least with its first bytes. */
int pct_io_begin_write(struct pct_shim_thread *self, enum pct_op op, int fd, size_t size, bool nonblocking);

/* The same for a read that waits until this predicate holds, whose `arg` this is. */
int pct_io_begin_read(struct pct_shim_thread *self, int fd, bool (*ready)(const struct pct_io *io), const void *arg);

/* room.c: whether what would wait for this is a message, of which poll() says that it has to wait, and is tried first,
 * by pct_io_write(): a UNIX socket of messages takes more until its buffer is full, but who waits for it is woken only
 * when poll() says so. */
bool pct_io_is_tried(const struct pct_io *io);

/* room.c: whether it would not; pct_io.ready of such a wait, for one descriptor. arg: its size. */
bool pct_io_has_room(const struct pct_io *io);

/* room.c: a write that does not wait, if the kernel can do that: a pipe fills its pages by the size of the whole.
 * Returns what it took, or a negative errno; -EOPNOTSUPP, -EINVAL or -ENOSYS: it cannot. */
long pct_io_write_now(int fd, const struct iovec *parts, int count);

/* The same as pct_io_begin(), but no cancellation point. */
int pct_io_begin_lasting(struct pct_shim_thread *self, enum pct_op op, int fd, short events, bool nonblocking);

/* After the operation: records it, and asks those who wait for the kernel again. Returns the result, errno untouched.
 */
long pct_io_end(struct pct_shim_thread *self, enum pct_op op, int fd, long result);

/* The same for an operation without a descriptor of its own (poll). */
void pct_io_done(struct pct_shim_thread *self, enum pct_op op, uint32_t arg, const struct pct_object *object);

#define PCT_IO_ENTER(self, fd)                                                                                         \
    struct pct_shim_thread *self __attribute__((cleanup(pct_leave))) =                                                 \
        pct_mark(pct_io_enter(fd), __builtin_frame_address(0))

/* Pass the call through, when PCT_IO_ENTER() gave NULL. A regular file's is no operation between threads. */
#define PCT_IO_PASS(op, fd, call)                                                                                      \
    ({                                                                                                                 \
        bool pct_blocks_ = pct_sched_is_on(&pct_S) && !pct_is_unscheduled() && pct_fd_blocks(fd);                      \
        bool pct_left_ = pct_blocks_ && pct_passing(op, PCT_CLASS_FD, pct_io_key(fd));                                 \
        __typeof__(call) pct_result_ = (call);                                                                         \
        if (pct_left_)                                                                                                 \
            pct_reacquire(pct_self);                                                                                   \
        else if (pct_blocks_)                                                                                          \
            pct_passed(op, PCT_CLASS_FD, pct_io_key(fd));                                                              \
        pct_result_;                                                                                                   \
    })

/* The rest of a blocking operation that sends: all of the message, waiting as often as that takes. flags: of a socket's
 * send. pc: where the program called it. Returns what was sent, or -1. After pct_io_begin(). */
ssize_t pct_io_write(struct pct_shim_thread *self, enum pct_op op, int fd, const struct msghdr *message, int flags,
                     const void *pc);

/* How many bytes these parts have. */
size_t pct_io_size(const struct iovec *parts, int count);

/* Up to `most` bytes from this offset into parts, in at most `room` pieces. Returns how many they are. */
int pct_io_slice(struct iovec *out, int room, const struct iovec *parts, int count, size_t offset, size_t most);

/* Some socket is not readable from the first byte on: a read that does not wait would return less than one that does.
 */
extern bool pct_io_low_water;

/* Whether a call on this descriptor waits: no O_NONBLOCK. Leaves errno alone. */
bool pct_io_is_blocking(int fd);

/* Whether a call for these events would wait when they are not there: also not on the wrong end of a pipe. */
bool pct_io_would_wait(int fd, short events);

/* refused.c: what returns at once though poll() says that it would wait, as the kernel refuses it, or has nothing to
 * do. The first two: of a descriptor that would be waited for, asked of the kernel, where such a call is no socket's.
 */
bool pct_io_returns_read(int fd, const struct iovec *parts, int count);
bool pct_io_returns_write(int fd, const struct iovec *parts, int count);
/* Of a socket's calls: with this message, if it sends; NULL: it receives. */
bool pct_io_returns_message(int fd, const struct msghdr *message);
/* Parts that no call takes, whatever the descriptor is: they have been looked at. */
bool pct_io_are_bad(const struct iovec *parts, size_t count);
/* What a call moves at most. */
enum { PCT_IO_MOST = 0x7ffff000 };
/* Whether a call for these events would be waited for. */
bool pct_io_is_awaited(int fd, short events);
/* What poll() says. */
short pct_io_polled(int fd, short events);

/* Descriptors as objects. They are known by their own numbers: those depend on nothing but the schedule. */
static inline const void *pct_io_key(int fd)
{
    return (const void *)(intptr_t)(fd < 0 ? 0x7fffffff : fd + 1);
}

static inline struct pct_object *pct_io_object(int fd)
{
    struct pct_object *object = pct_object_at(&pct_S.objects, pct_io_key(fd), PCT_CLASS_FD);
    object->number = (uint32_t)fd & PCT_OBJECT_NUMBER;
    return object;
}

/* Virtual deadline of a timeout in milliseconds, negative: none. */
uint64_t pct_io_deadline(int milliseconds);
/* The value of an option of SOL_SOCKET that is an int (SO_TYPE, SO_ERROR, ...); 0 also: it is not a socket. Leaves
 * errno alone. */
int pct_io_socket_option(int fd, int name);
/* Virtual deadline of a call for these events (POLLIN, POLLOUT) that begins now: SO_RCVTIMEO or SO_SNDTIMEO of the
 * socket; PCT_NEVER: it has none, or is no socket. Leaves errno alone. */
uint64_t pct_io_socket_deadline(int fd, short events);

/* Whether one of the threads of this list, by kernel_next, waits for what poll() does not tell of: it has to ask now
 * and then. */
bool pct_io_must_ask(const struct pct_thread *kernel_waits);

/* The host's poll (struct pct_host). */
void pct_io_sleep(uint64_t when, const uint32_t *word, uint32_t value, struct pct_thread *kernel_waits);
/* Somebody else has changed the word: end that sleep. */
void pct_io_nudge(void);

/* fds.c: what is known of the descriptors of this process. */
enum pct_fd_kind {
    PCT_FD_UNKNOWN,
    PCT_FD_FILE,    /* regular file, directory, block device: poll() says ready always */
    PCT_FD_OUTSIDE, /* the world is at its other end, or may be */
    PCT_FD_INSIDE,  /* made by this process, with all its ends in it: pipe, socket pair, eventfd */
    PCT_FD_EPOLL    /* inside, if all in it are */
};
/* Others who may have sent what is read there, though no wait tells of them. */
enum pct_fd_others {
    PCT_FD_GIVEN = 1,     /* a pipe or socket that was open when the program started */
    PCT_FD_DATAGRAMS = 2, /* a socket to which anyone may send */
    PCT_FD_BOTH = 4,      /* a named pipe that was opened to read and to write */
    PCT_FD_LOCAL = 8,     /* a UNIX socket of datagrams, which may have a name */
    PCT_FD_SIGNALS = 16   /* a signalfd, as far as it was looked at (pct_fd_blocks()): no others, but each thread reads
                             signals of its own there, too */
};
void pct_fd_add_others(int fd, enum pct_fd_others others);
unsigned pct_fd_others(int fd);
/* Which descriptors the program finds open; by its first thread, before it has opened any. */
void pct_fd_start(void) PCT_STARTS;
/* A descriptor was made. */
void pct_fd_made(int fd, enum pct_fd_kind kind);
/* Descriptor `copy` is now another name of `fd`. */
void pct_fd_copied(int fd, int copy);
/* It was closed, or replaced by something unknown. */
void pct_fd_forget(int fd);
void pct_fd_forget_range(unsigned first, unsigned last);
/* fd was put into an epoll. Who waits for that may now wait for others. */
void pct_fd_watched(int epoll, int fd);
/* A timerfd, by the number of its timer (timerfd.c): mark it; which it is, 0: none; a descriptor of this one, -1: all
 * are closed. */
void pct_fd_set_timer(int fd, uint16_t timer);
uint16_t pct_fd_timer(int fd);
int pct_fd_of_timer(uint16_t timer, int probably);
/* Children have copies of the descriptors from now on; or any process may, as of all that was ever sent to one. */
void pct_fd_inherit_all(void);
void pct_fd_share_all(void);
/* Whether operations on it may block, as far as scheduling goes: not a regular file, unless it is the standard output
 * or error that the program was started with. */
bool pct_fd_blocks(int fd);
/* Whether it is one of the system's random devices, as far as it was looked at. What was read there is replaced by what
 * the seed gives (random.c): `size` bytes of these parts. */
bool pct_fd_is_random(int fd);
void pct_random_replace(int fd, const struct iovec *parts, size_t size);
/* syscall(SYS_getrandom): the kernel's answer, with the bytes of the seed. Unlike libc's function it never touches a
 * bad buffer itself. Returns how many bytes were given, or -1 with errno. On any thread's turn, or on none. */
long pct_random_syscall(void *buffer, size_t size, unsigned flags);
/* The random bytes that the kernel gives each program (AT_RANDOM) are the same ones in every run. environment: as on
 * the stack. */
void pct_random_begin(char **environment);
/* With the baton: whether a call on this socket names another one, which none of this process is; perhaps nobody is.
 * Never, once such a call was counted. Leaves errno alone. */
bool pct_io_is_foreign(int fd, const void *name, socklen_t length);
/* Whether another process is at the other end of this connected UNIX socket: who listened, or connected. */
bool pct_io_is_peer_other(int fd);
/* With the baton: whether it matters who has sent something: other threads are there, and nothing is counted yet. */
bool pct_io_may_meet(void);
/* Such a call was made: others have a say in the run, and an explored one depends on them. nobody: it was refused, as
 * nobody is there yet: only the latter. */
void pct_io_meets_foreign(bool nobody);
/* With the baton: a connection was accepted, and this is its descriptor: counted where another process made it. */
void pct_io_accepted(int fd);
/* With the baton: this socket connects to one of this process. */
void pct_io_connects(int fd);
/* The same: this one is about to be closed; what it has sent may be read later. */
void pct_io_closes(int fd);
/* With the baton: something has come from the socket of this name. */
void pct_io_heard(const void *name, socklen_t length);
/* With the baton: something, or the end, was read there: counted where it is another process's. */
void pct_io_came(int fd);
/* Something was written there, by this process. */
void pct_io_went(int fd);
/* A read from a socket to which anyone may send, of something: by a call that hears who has. */
ssize_t pct_io_receive(struct pct_shim_thread *self, int fd, const struct iovec *parts, int count);
/* With the baton: an end of a named pipe was opened; joined: the other end is, or was, open, too. */
void pct_io_pipe_opened(int fd, bool reads, bool joined);
/* This process sends to itself in a way in which the kernel may deliver when it is idle already. */
void pct_io_sends_itself(void);
/* Of the host (struct pct_host). */
bool pct_io_sent(const struct pct_thread *thread);
/* False: it is known not to be a socket, and need not be asked for what only sockets have. */
bool pct_fd_may_be_socket(int fd);
/* The same, where it matters: what only sockets have it refuses. */
bool pct_fd_is_no_socket(int fd);
/* What kind of descriptor without a file it is, as the kernel names it ("eventfd]"); "": none of these; NULL: nobody
 * tells. */
enum { PCT_FD_NAME = 64 };
const char *pct_fd_anonymous(int fd, char name[PCT_FD_NAME]);
/* Whether it is a regular file (or a directory, or a disk), whatever it counts as. */
bool pct_fd_is_file(int fd);
/* Who can make it ready. */
enum pct_reach pct_fd_reach(int fd);
/* Open the same file once more, with these flags: a description of its own. With the baton, and to be closed before it
 * is given on: other threads are not to see the number. Returns the descriptor, or a negative errno. */
long pct_fd_reopen(int fd, int flags);

#endif
