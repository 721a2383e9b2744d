/* System V's message queues and semaphores. Any process may use them, so waiting for one is waiting for the world; but
 * what a thread waits for can be asked without taking it, and so what threads of this process do for each other is a
 * matter of the schedule. Each operation is first tried without waiting, because the kernel alone knows which of its
 * errors comes first.
 *
 * That holds for IPC_PRIVATE, too: the id of a set or queue is good for every process of the same user, and that it
 * was handed on cannot be seen. So threads that wait for each other through these objects alone are no deadlock; such
 * a run ends by --timeout. */
#include "io.h"
#include <preload/core/kernel.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include <preload/thread/cancel.h>
#include <preload/time/clock.h>
#include <preload/time/family.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

/* What the kernel would say of an operation now. */
enum state {
    STATE_WAITS,
    STATE_GOES,
    STATE_REFUSED, /* one of its parts would wait, but must not: it fails */
    STATE_UNKNOWN
};

/* An operation that may wait. */
struct attempt {
    long (*now)(const struct attempt *attempt);        /* as libc's function, but never waits */
    long (*blocking)(const struct attempt *attempt);   /* libc's function */
    enum state (*look)(const struct attempt *attempt); /* asks, and takes nothing */
    int id;
    bool lasting; /* no cancellation point: semop */
    bool takes;   /* a message */
    /* Queues */
    void *message;
    size_t size;
    long type;
    int flags;
    /* Semaphores */
    struct sembuf *operations;
    size_t count;
    const struct timespec *timeout;
};

static bool goes(const struct pct_io *io)
{
    const struct attempt *attempt = io->arg;
    return attempt->look(attempt) != STATE_WAITS;
}

static long done(struct pct_shim_thread *self, uint32_t arg, long result)
{
    int error = errno;
    pct_io_done(self, PCT_OP_MESSAGE, arg, NULL);
    errno = error;
    return result;
}

static long failed(struct pct_shim_thread *self, uint32_t arg, int error)
{
    errno = error;
    return done(self, arg, -1);
}

/* Where no thread has to wait, no wait says that another process was there. Behind a message: whether it may be that
 * one's. */
static void heard(int queue)
{
    struct msqid_ds now;
    if (pct_io_may_meet() && !PCT_SYS3(SYS_msgctl, queue, IPC_STAT, &now) && now.msg_lspid != pct_shim.pid)
        pct_io_meets_foreign(false);
}

/* Before an operation on semaphores: whether another process, which lives, was the last to do one on them. */
static bool is_shared(const struct attempt *attempt)
{
    for (size_t i = 0; i < attempt->count && pct_io_may_meet(); i++) {
        const long last = PCT_SYS4(SYS_semctl, attempt->id, attempt->operations[i].sem_num, GETPID, 0);
        if (last <= 0 || last == pct_shim.pid)
            continue;
        const long failed = PCT_SYS2(SYS_kill, last, 0);
        if (!failed || failed == -EPERM)
            return true;
    }
    return false;
}

/* Do it, waiting as often as it takes, until the deadline (virtual ns). Returns its result. No handler's SA_RESTART
 * makes the kernel take up one of these calls again. */
static long perform(struct pct_shim_thread *self, const struct attempt *attempt, uint64_t deadline)
{
    const struct pct_io io = { .ready = goes, .arg = attempt, .attempted = true, .lasting = attempt->lasting };
    int error = errno;
    /* Whoever would wait has as good as waited once it stands at its point: whether it got to try is not in the trace.
     */
    bool waited = !pct_on_fast_path(&pct_S) && !pct_shim.confined && attempt->look(attempt) == STATE_WAITS;
    if (!attempt->lasting)
        pct_cancel_point(self);
    pct_io_try(self);
    self->core.wait.ready_arg = &io; /* count_waiters() */
    pct_here(self, PCT_OP_MESSAGE);
    for (;;) {
        pct_family_tell();
        const bool shared = is_shared(attempt);
        long result = attempt->now(attempt);
        if (result >= 0 && shared)
            pct_io_meets_foreign(false);
        if (result >= 0 && attempt->takes)
            heard(attempt->id);
        if (result >= 0)
            return done(self, 0, result);
        if (waited && errno == EINVAL) /* or what it waited for is gone */
            errno = attempt->look(attempt) == STATE_UNKNOWN ? EIDRM : EINVAL;
        if (errno != EAGAIN && errno != ENOMSG)
            return done(self, PCT_ARG_ERROR, result);
        enum state state = pct_shim.confined ? STATE_UNKNOWN : attempt->look(attempt);
        if (state == STATE_UNKNOWN) {
            errno = error;
            result = CALL_EXTERNAL(self, PCT_OP_MESSAGE, NULL, attempt->blocking(attempt));
            return done(self, result < 0 ? PCT_ARG_ERROR : 0, result);
        }
        if (state == STATE_REFUSED)
            return failed(self, PCT_ARG_BUSY, EAGAIN);
        errno = error;
        enum pct_result how = pct_io_wait(self, PCT_OP_MESSAGE, -1, &io, PCT_REACH_WORLD, deadline, false);
        if (how != PCT_READY)
            return how == PCT_TIMEOUT ? failed(self, PCT_ARG_TIMEOUT, EAGAIN) : failed(self, PCT_ARG_ERROR, EINTR);
        waited = true;
    }
}

/* An operation that does not wait, but may be what others wait for. */
#define AT_ONCE(self, call)                                                                                            \
    ({                                                                                                                 \
        self->core.wait.ready_arg = NULL;                                                                              \
        pct_here(self, PCT_OP_MESSAGE);                                                                                \
        pct_family_tell();                                                                                             \
        long result_ = (call);                                                                                         \
        done(self, result_ < 0 ? PCT_ARG_ERROR : 0, result_);                                                          \
    })

/* Message queues */

static long send_blocking(const struct attempt *a)
{
    return REAL(msgsnd)(a->id, a->message, a->size, a->flags);
}

static long send_now(const struct attempt *a)
{
    return REAL(msgsnd)(a->id, a->message, a->size, a->flags | IPC_NOWAIT);
}

/* msgsnd(2): the bytes fit, and not more messages than that. */
static enum state send_look(const struct attempt *a)
{
    struct msqid_ds queue;
    if (PCT_SYS3(SYS_msgctl, a->id, IPC_STAT, &queue))
        return STATE_UNKNOWN;
    return a->size + queue.__msg_cbytes > queue.msg_qbytes || queue.msg_qnum >= queue.msg_qbytes ? STATE_WAITS
                                                                                                 : STATE_GOES;
}

static long receive_blocking(const struct attempt *a)
{
    return REAL(msgrcv)(a->id, a->message, a->size, a->type, a->flags);
}

static long receive_now(const struct attempt *a)
{
    return REAL(msgrcv)(a->id, a->message, a->size, a->type, a->flags | IPC_NOWAIT);
}

static bool is_wanted(const struct attempt *a, long type)
{
    if (a->type > 0)
        return (type == a->type) != !!(a->flags & MSG_EXCEPT);
    return !a->type || type + a->type <= 0;
}

/* Room for a copy of any message in a queue of that many bytes; the old room stays, as it grows a few times at most. */
static long *copy_room(size_t bytes)
{
    static long *room;
    static size_t size;
    if (bytes > size) {
        size = bytes < 16384 ? 16384 : bytes * 2;
        room = pct_map(sizeof(long) + size);
        size = room ? size : 0;
    }
    return room;
}

/* Whether a message of the type is there: each is copied out, by its place in the queue. A kernel without MSG_COPY does
 * not say. */
static enum state receive_look(const struct attempt *a)
{
    struct msqid_ds queue;
    if (PCT_SYS3(SYS_msgctl, a->id, IPC_STAT, &queue))
        return STATE_UNKNOWN;
    if (!queue.msg_qnum || !a->type)
        return queue.msg_qnum ? STATE_GOES : STATE_WAITS;
    long *copy = copy_room(queue.__msg_cbytes);
    for (unsigned long i = 0; copy && i < queue.msg_qnum; i++) {
        long size = PCT_SYS6(SYS_msgrcv, a->id, copy, queue.__msg_cbytes, i, MSG_COPY | IPC_NOWAIT | MSG_NOERROR, 0);
        if (size == -ENOMSG)
            break; /* another process was faster */
        if (size < 0)
            return STATE_UNKNOWN;
        if (is_wanted(a, *copy))
            return STATE_GOES;
    }
    return copy ? STATE_WAITS : STATE_UNKNOWN;
}

PCT_EXPORT int msgsnd(int queue, const void *message, size_t size, int flags)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MESSAGE, PCT_CLASS_NONE, NULL, REAL(msgsnd)(queue, message, size, flags));
    if (flags & IPC_NOWAIT)
        return (int)AT_ONCE(self, REAL(msgsnd)(queue, message, size, flags));
    const struct attempt attempt = { .now = send_now,
                                     .blocking = send_blocking,
                                     .look = send_look,
                                     .id = queue,
                                     .message = (void *)message,
                                     .size = size,
                                     .flags = flags };
    return (int)perform(self, &attempt, PCT_NEVER);
}

PCT_EXPORT ssize_t msgrcv(int queue, void *message, size_t size, long type, int flags)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MESSAGE, PCT_CLASS_NONE, NULL, REAL(msgrcv)(queue, message, size, type, flags));
    if (flags & (IPC_NOWAIT | MSG_COPY)) {
        long got = AT_ONCE(self, REAL(msgrcv)(queue, message, size, type, flags));
        if (got >= 0)
            heard(queue);
        return got;
    }
    const struct attempt attempt = { .now = receive_now,
                                     .blocking = receive_blocking,
                                     .look = receive_look,
                                     .id = queue,
                                     .takes = true,
                                     .message = message,
                                     .size = size,
                                     .type = type,
                                     .flags = flags };
    return perform(self, &attempt, PCT_NEVER);
}

PCT_EXPORT int msgctl(int queue, int command, struct msqid_ds *data)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MESSAGE, PCT_CLASS_NONE, NULL, REAL(msgctl)(queue, command, data));
    return (int)AT_ONCE(self, REAL(msgctl)(queue, command, data));
}

/* Semaphores */

enum { MOST_OPERATIONS = 64 }; /* in one call, a bit each; with more, it is left to the kernel to wait */

static long operate_blocking(const struct attempt *a)
{
    return REAL(semtimedop)(a->id, a->operations, a->count, a->timeout);
}

static long operate_now(const struct attempt *a)
{
    uint64_t set = 0; /* in place: there may be little stack */
    for (size_t i = 0; i < a->count; i++)
        if (!(a->operations[i].sem_flg & IPC_NOWAIT)) {
            a->operations[i].sem_flg |= IPC_NOWAIT;
            set |= UINT64_C(1) << i;
        }
    long result = REAL(semop)(a->id, a->operations, a->count);
    for (size_t i = 0; i < a->count; i++)
        if (set >> i & 1)
            a->operations[i].sem_flg &= (short)~IPC_NOWAIT;
    return result;
}

/* semop(2): the operations are done in their order, all or none. *which is the one that cannot be done now. */
static enum state operate_find(const struct attempt *a, const struct sembuf **which)
{
    for (size_t i = 0; i < a->count; i++) {
        const struct sembuf *operation = &a->operations[i];
        long value = PCT_SYS4(SYS_semctl, a->id, operation->sem_num, GETVAL, 0);
        if (value < 0)
            return STATE_UNKNOWN;
        for (size_t before = 0; before < i; before++)
            if (a->operations[before].sem_num == operation->sem_num)
                value += a->operations[before].sem_op;
        *which = operation;
        if (operation->sem_op ? value + operation->sem_op < 0 : value != 0)
            return operation->sem_flg & IPC_NOWAIT ? STATE_REFUSED : STATE_WAITS;
    }
    return STATE_GOES;
}

static enum state operate_look(const struct attempt *a)
{
    const struct sembuf *which;
    return operate_find(a, &which);
}

/* What the thread wants to do, if it stands at the point of an operation that may wait, or waits for that; else NULL.
 */
static const struct attempt *attempt_of(const struct pct_thread *thread)
{
    enum pct_state state = pct_state(thread);
    const struct pct_io *io = thread->wait.ready_arg;
    bool stands = !pct_sched_holds(&pct_S, thread) && (state == PCT_STATE_ENABLED || state == PCT_STATE_BLOCKED) &&
                  thread->wait.op == PCT_OP_MESSAGE;
    return stands && io && io->ready == goes ? io->arg : NULL;
}

/* How many threads wait for this semaphore to grow (GETNCNT), or to become 0 (GETZCNT): the kernel does not know of
 * them. Those who stand at their points, too. */
static int count_waiters(int set, int number, int command)
{
    const struct sembuf *which;
    int count = 0;
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++) {
        const struct attempt *a = attempt_of(pct_sched_thread(&pct_S, id));
        if (a && a->look == operate_look && a->id == set && operate_find(a, &which) == STATE_WAITS &&
            which->sem_num == number && (which->sem_op < 0) == (command == GETNCNT))
            count++;
    }
    return count;
}

static int operate(int set, struct sembuf *operations, size_t count, const struct timespec *timeout)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MESSAGE, PCT_CLASS_NONE, NULL, REAL(semtimedop)(set, operations, count, timeout));
    /* Copies, as the kernel makes them: what becomes of the program's own while it waits does not matter. */
    struct sembuf copy[MOST_OPERATIONS];
    struct timespec length;
    if (count > MOST_OPERATIONS || (timeout && !pct_user_copy_in(&length, timeout, sizeof length)) ||
        (timeout && !pct_valid(&length)) || !pct_user_copy_in(copy, operations, count * sizeof *copy))
        return (int)AT_ONCE(self, REAL(semtimedop)(set, operations, count, timeout));
    uint64_t deadline = timeout ? pct_deadline_in(pct_nanoseconds(&length)) : PCT_NEVER;
    const struct attempt attempt = { .now = operate_now,
                                     .blocking = operate_blocking,
                                     .look = operate_look,
                                     .lasting = true,
                                     .id = set,
                                     .operations = copy,
                                     .count = count,
                                     .timeout = timeout ? &length : NULL };
    return (int)perform(self, &attempt, deadline);
}

PCT_EXPORT int semop(int set, struct sembuf *operations, size_t count)
{
    return operate(set, operations, count, NULL);
}

PCT_EXPORT int semtimedop(int set, struct sembuf *operations, size_t count, const struct timespec *timeout)
{
    return operate(set, operations, count, timeout);
}

/* The fourth argument is a pointer or an integer, if any; to read it where there is none is harmless on this ABI. */
PCT_EXPORT int semctl(int set, int number, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MESSAGE, PCT_CLASS_NONE, NULL, REAL(semctl)(set, number, command, argument));
    long result = AT_ONCE(self, REAL(semctl)(set, number, command, argument));
    if (result >= 0 && (command == GETNCNT || command == GETZCNT))
        result += count_waiters(set, number, command);
    return (int)result;
}
