/* aio_*, lio_listio: as libc does, requests for a descriptor are performed one after the other, by threads; here by
 * service threads, by the wrappers of read and write. GLIBC: the states of a request are the fields of struct aiocb
 * that begin with underscores. */
#include <preload/core/order.h>
#include <preload/core/pass.h>
#include <preload/core/user_memory.h>
#include "request.h"
#include <preload/thread/cancel.h>
#include <preload/time/clock.h>
#include <limits.h>

/* GLIBC: sysdeps/pthread/aio_misc.h, behind LIO_NOP. */
enum { SYNC_DATA = LIO_NOP + 1, SYNC };

static int fail(int error)
{
    errno = error;
    return -1;
}

static long perform(void *what)
{
    const struct aiocb *request = what;
    void *buffer = (void *)request->aio_buf;
    size_t size = request->aio_nbytes;
    int fd = request->aio_fildes;
    long result = -EINVAL;
    if (request->aio_lio_opcode == LIO_READ || request->aio_lio_opcode == LIO_WRITE) {
        bool reads = request->aio_lio_opcode == LIO_READ;
        long number = reads ? SYS_pread64 : SYS_pwrite64;
        do
            result = PCT_SYS4(number, fd, buffer, size, request->aio_offset);
        while (result == -EINTR);
        if (result != -ESPIPE)
            return result;
        do
            result = reads ? read(fd, buffer, size) : write(fd, buffer, size);
        while (result < 0 && errno == EINTR);
        return result < 0 ? -errno : result;
    }
    if (request->aio_lio_opcode == SYNC || request->aio_lio_opcode == SYNC_DATA)
        do
            result = PCT_SYS1(request->aio_lio_opcode == SYNC ? SYS_fsync : SYS_fdatasync, fd);
        while (result == -EINTR);
    return result;
}

/* The error goes last: who sees it may use the rest. */
static void set(struct aiocb *request, int error, ssize_t value)
{
    request->__return_value = value;
    __atomic_store_n(&request->__error_code, error, __ATOMIC_RELEASE);
}

static void done(void *what, long result)
{
    set(what, result < 0 ? (int)-result : 0, result < 0 ? -1 : result);
}

static struct pct_pool pool = { .perform = perform, .done = done, .code = SI_ASYNCIO };

void pct_aio_forget(void)
{
    pct_pool_forget(&pool);
}

/* GLIBC: how many threads counts until the first request; how long they stay without work does not matter here. */
PCT_EXPORT void aio_init(const struct aioinit *init)
{
    PCT_ENTER(self);
    if (self && !pool.begun)
        pool.most = init->aio_threads < 1 ? 1 : (unsigned)init->aio_threads;
    REAL(aio_init)(init);
}

static bool in_progress(const struct aiocb *request)
{
    return __atomic_load_n(&request->__error_code, __ATOMIC_ACQUIRE) == EINPROGRESS;
}

static int add(struct pct_shim_thread *self, struct aiocb *request, int operation, struct pct_batch *batch)
{
    struct sched_param scheduling = { 0 };
    if (operation == SYNC || operation == SYNC_DATA) {
        request->aio_reqprio = 0;
    } else if (request->aio_reqprio < 0 || request->aio_reqprio > AIO_PRIO_DELTA_MAX) {
        set(request, EINVAL, -1);
        return fail(EINVAL);
    }
    long policy = PCT_SYS1(SYS_sched_getscheduler, 0);
    PCT_SYS2(SYS_sched_getparam, 0, &scheduling);
    request->__abs_prio = scheduling.sched_priority - request->aio_reqprio;
    request->__policy = policy < 0 ? SCHED_OTHER : (int)policy;
    request->aio_lio_opcode = operation;
    set(request, EINPROGRESS, 0);
    const struct pct_request wanted = { .what = request,
                                        .key = request->aio_fildes < 0 ? INT_MAX : request->aio_fildes,
                                        .priority = request->__abs_prio,
                                        .event = request->aio_sigevent,
                                        .batch = batch };
    if (pct_request_add(self, &pool, &wanted))
        return 0;
    set(request, EAGAIN, -1);
    return fail(EAGAIN);
}

static int submit(struct pct_shim_thread *self, struct aiocb *request, int operation)
{
    pct_here(self, PCT_OP_REQUEST);
    int result = add(self, request, operation, NULL), error = errno;
    pct_done(self, PCT_OP_REQUEST, result ? PCT_ARG_ERROR : 0, NULL);
    errno = error;
    return result;
}

PCT_EXPORT int aio_read(struct aiocb *request)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_REQUEST, PCT_CLASS_NONE, NULL, REAL(aio_read)(request));
    return submit(self, request, LIO_READ);
}

PCT_EXPORT int aio_write(struct aiocb *request)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_REQUEST, PCT_CLASS_NONE, NULL, REAL(aio_write)(request));
    return submit(self, request, LIO_WRITE);
}

PCT_EXPORT int aio_fsync(int operation, struct aiocb *request)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_REQUEST, PCT_CLASS_NONE, NULL, REAL(aio_fsync)(operation, request));
    if (operation != O_SYNC && operation != O_DSYNC)
        return fail(EINVAL);
    long flags = PCT_SYS2(SYS_fcntl, request->aio_fildes, F_GETFL);
    if (flags < 0)
        return fail(EBADF);
    return submit(self, request, operation == O_SYNC ? SYNC : SYNC_DATA);
}

PCT_EXPORT int aio_error(const struct aiocb *request)
{
    PCT_ENTER(self);
    if (!self)
        return REAL(aio_error)(request);
    pct_here(self, PCT_OP_REQUEST_WAIT);
    int error = request->__error_code;
    pct_order_at(self, request, PCT_ACQUIRES);
    pct_request_looked(self, error == EINPROGRESS);
    return error;
}

PCT_EXPORT ssize_t aio_return(struct aiocb *request)
{
    struct pct_shim_thread *self = pct_enter();
    if (self)
        pct_order_at(self, request, PCT_ACQUIRES);
    return request->__return_value;
}

/* What a thread waits for: one of these, or all. */
struct list {
    const struct aiocb *const *requests;
    int count;
    bool all;
};

static bool is_over(const struct list *list)
{
    bool any = false;
    for (int i = 0; i < list->count; i++) {
        if (!list->requests[i] || list->requests[i]->aio_lio_opcode == LIO_NOP)
            continue;
        bool busy = in_progress(list->requests[i]);
        if (busy == list->all)
            return !list->all;
        any = true;
    }
    return list->all || !any;
}

static bool over(const struct pct_thread *thread)
{
    return is_over(thread->wait.ready_arg);
}

/* Returns 0, or -1 with errno EAGAIN (the deadline has passed) or EINTR. */
static int wait_for(struct pct_shim_thread *self, const struct list *list, uint64_t deadline)
{
    struct pct_wait wait = { .op = PCT_OP_REQUEST_WAIT,
                             .object = &pool.waiters,
                             .ready = over,
                             .ready_arg = list,
                             .deadline = deadline,
                             .cancellable = !self->cancel_disabled };
    enum pct_result result;
    /* GLIBC: it sleeps on a futex, which the kernel takes up again if it has no timeout. */
    do
        result = pct_wait(self, &wait);
    while (result == PCT_INTERRUPTED && self->restart && deadline == PCT_NEVER && !is_over(list));
    if (result == PCT_CANCELLED)
        pct_cancel_behind(self);
    if (result != PCT_READY && is_over(list))
        result = PCT_READY;
    for (int i = 0; i < list->count; i++)
        if (list->requests[i] && !in_progress(list->requests[i]))
            pct_order_at(self, list->requests[i], PCT_ACQUIRES);
    pct_request_waited(self, result);
    return result == PCT_READY ? 0 : fail(result == PCT_TIMEOUT ? EAGAIN : EINTR);
}

PCT_EXPORT int aio_suspend(const struct aiocb *const requests[], int count, const struct timespec *timeout)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_REQUEST_WAIT, PCT_CLASS_NONE, NULL, REAL(aio_suspend)(requests, count, timeout));
    const struct list list = { .requests = requests, .count = count };
    uint64_t deadline = PCT_NEVER, now = pct_sched_now(&pct_S);
    /* GLIBC: a timeout is looked at by who has to wait. */
    if (count < 0 || (timeout && !pct_valid(timeout) && !is_over(&list)))
        return fail(EINVAL);
    if (timeout && pct_valid(timeout)) {
        uint64_t length = pct_nanoseconds(timeout);
        deadline = length < PCT_NEVER - now ? now + length : PCT_NEVER - 1;
    }
    pct_cancel_point(self);
    return wait_for(self, &list, deadline);
}

static void cancel(struct pct_shim_thread *self, struct pct_request *request)
{
    struct pct_request was = pct_request_remove(&pool, request);
    set(was.what, ECANCELED, -1);
    pct_order_at(self, was.what, PCT_RELEASES);
    pct_program_changed(&pool.waiters);
    pct_request_notify(&pool, &was);
}

PCT_EXPORT int aio_cancel(int fd, struct aiocb *one)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_REQUEST, PCT_CLASS_NONE, NULL, REAL(aio_cancel)(fd, one));
    if (PCT_SYS2(SYS_fcntl, fd, F_GETFL) < 0)
        return fail(EBADF);
    if (one && one->aio_fildes != fd)
        return fail(EINVAL);
    pct_here(self, PCT_OP_REQUEST);
    int result = AIO_ALLDONE, error = 0;
    if (one) {
        struct pct_request *request = pct_request_find(&pool, one);
        if (request && !request->running) {
            result = AIO_CANCELED;
            cancel(self, request);
        } else if (request) {
            result = AIO_NOTCANCELED;
        } else if (in_progress(one)) {
            error = EINVAL;
        }
    } else {
        for (bool found = true; found;) {
            struct pct_request *request = pool.first;
            while (request && (request->key != fd || request->running)) {
                if (request->key == fd)
                    result = AIO_NOTCANCELED;
                request = request->next;
            }
            found = request != NULL;
            if (found && result == AIO_ALLDONE)
                result = AIO_CANCELED;
            if (found)
                cancel(self, request); /* which may pass points: from the beginning again */
        }
    }
    pct_done(self, PCT_OP_REQUEST, error ? PCT_ARG_ERROR : 0, NULL);
    return error ? fail(error) : result;
}

PCT_EXPORT int lio_listio(int mode, struct aiocb *const requests[restrict], int count, struct sigevent *restrict event)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_REQUEST, PCT_CLASS_NONE, NULL, REAL(lio_listio)(mode, requests, count, event));
    if (mode != LIO_WAIT && mode != LIO_NOWAIT)
        return fail(EINVAL);
    struct sigevent none = { .sigev_notify = SIGEV_NONE };
    struct pct_batch *batch = NULL;
    int result = 0, error = 0;
    pct_here(self, PCT_OP_REQUEST);
    if (mode == LIO_NOWAIT) {
        batch = pct_batch_new(1, event ? event : &none);
        if (!batch)
            return fail(EAGAIN);
    }
    for (int i = 0; i < count; i++) {
        if (!requests[i] || requests[i]->aio_lio_opcode == LIO_NOP)
            continue;
        if (batch)
            batch->left++; /* one of them may be done before the next is there */
        if (!add(self, requests[i], requests[i]->aio_lio_opcode, batch))
            continue;
        result = -1;
        error = errno;
        if (batch)
            batch->left--;
    }
    pct_done(self, PCT_OP_REQUEST, result ? PCT_ARG_ERROR : 0, NULL);
    if (batch)
        pct_request_notify(&pool, &(struct pct_request){ .event = none, .batch = batch });
    if (mode == LIO_NOWAIT)
        return result ? fail(error) : 0;
    const struct list list = { .requests = (const struct aiocb *const *)requests, .count = count, .all = true };
    if (wait_for(self, &list, PCT_NEVER))
        return -1;
    for (int i = 0; i < count; i++)
        if (requests[i] && requests[i]->aio_lio_opcode != LIO_NOP && requests[i]->__error_code)
            result = -1;
    return result ? fail(EIO) : 0;
}

/* The same functions: the two structures are alike. */
PCT_EXPORT int aio_read64(struct aiocb64 *request)
{
    return aio_read((struct aiocb *)request);
}

PCT_EXPORT int aio_write64(struct aiocb64 *request)
{
    return aio_write((struct aiocb *)request);
}

PCT_EXPORT int aio_fsync64(int operation, struct aiocb64 *request)
{
    return aio_fsync(operation, (struct aiocb *)request);
}

PCT_EXPORT int aio_error64(const struct aiocb64 *request)
{
    return aio_error((const struct aiocb *)request);
}

PCT_EXPORT ssize_t aio_return64(struct aiocb64 *request)
{
    return aio_return((struct aiocb *)request);
}

PCT_EXPORT int aio_suspend64(const struct aiocb64 *const requests[], int count, const struct timespec *timeout)
{
    return aio_suspend((const struct aiocb *const *)requests, count, timeout);
}

PCT_EXPORT int aio_cancel64(int fd, struct aiocb64 *request)
{
    return aio_cancel(fd, (struct aiocb *)request);
}

PCT_EXPORT int lio_listio64(int mode, struct aiocb64 *const requests[restrict], int count,
                            struct sigevent *restrict event)
{
    return lio_listio(mode, (struct aiocb *const *)requests, count, event);
}
