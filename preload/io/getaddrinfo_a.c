/* getaddrinfo_a and its relatives: names are looked up by service threads, by the wrapper of getaddrinfo. */
#include <preload/core/order.h>
#include <preload/core/pass.h>
#include "request.h"
#include <preload/time/clock.h>

static long perform(void *what)
{
    struct gaicb *request = what;
    return getaddrinfo(request->ar_name, request->ar_service, request->ar_request, &request->ar_result);
}

static void done(void *what, long result)
{
    __atomic_store_n(&((struct gaicb *)what)->__return, (int)result, __ATOMIC_RELEASE);
}

static struct pct_pool pool = { .perform = perform, .done = done, .code = SI_ASYNCNL };

void pct_gai_forget(void)
{
    pct_pool_forget(&pool);
}

static bool in_progress(const struct gaicb *request)
{
    return __atomic_load_n(&request->__return, __ATOMIC_ACQUIRE) == EAI_INPROGRESS;
}

/* What a thread waits for: one of those that are in progress, or all. */
struct list {
    const struct gaicb *const *requests;
    int count;
    int left; /* of those in progress when it began to wait, as many as may still be */
};

static int count_in_progress(const struct list *list)
{
    int busy = 0;
    for (int i = 0; i < list->count; i++)
        busy += list->requests[i] && in_progress(list->requests[i]);
    return busy;
}

static bool over(const struct pct_thread *thread)
{
    const struct list *list = thread->wait.ready_arg;
    return count_in_progress(list) <= list->left;
}

static enum pct_result wait_for(struct pct_shim_thread *self, const struct list *list, uint64_t deadline)
{
    enum pct_result result = pct_wait_for(self, PCT_OP_REQUEST_WAIT, &pool.waiters, over, list, deadline);
    if (result != PCT_READY && count_in_progress(list) <= list->left)
        result = PCT_READY;
    for (int i = 0; i < list->count; i++)
        if (list->requests[i] && !in_progress(list->requests[i]))
            pct_order_at(self, list->requests[i], PCT_ACQUIRES);
    pct_request_waited(self, result);
    return result;
}

PCT_EXPORT int getaddrinfo_a(int mode, struct gaicb *requests[restrict], int count, struct sigevent *restrict event)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_REQUEST, PCT_CLASS_NONE, NULL, REAL(getaddrinfo_a)(mode, requests, count, event));
    if (mode != GAI_WAIT && mode != GAI_NOWAIT) {
        errno = EINVAL;
        return EAI_SYSTEM;
    }
    struct sigevent none = { .sigev_notify = SIGEV_NONE };
    struct pct_batch *batch = NULL;
    int result = 0;
    pct_here(self, PCT_OP_REQUEST);
    if (mode == GAI_NOWAIT) {
        batch = pct_batch_new(1, event ? event : &none);
        if (!batch)
            return EAI_AGAIN;
    }
    for (int i = 0; i < count; i++) {
        if (!requests[i])
            continue;
        requests[i]->__return = EAI_INPROGRESS;
        if (batch)
            batch->left++; /* one of them may be done before the next is there */
        const struct pct_request wanted = { .what = requests[i], .key = -1, .event = none, .batch = batch };
        if (pct_request_add(self, &pool, &wanted))
            continue;
        if (batch)
            batch->left--;
        errno = EAGAIN;
        result = EAI_SYSTEM;
    }
    pct_done(self, PCT_OP_REQUEST, result ? PCT_ARG_ERROR : 0, NULL);
    if (batch)
        pct_request_notify(&pool, &(struct pct_request){ .event = none, .batch = batch });
    const struct list list = { .requests = (const struct gaicb *const *)requests, .count = count };
    while (mode == GAI_WAIT && wait_for(self, &list, PCT_NEVER) != PCT_READY)
        continue;
    return result;
}

PCT_EXPORT int gai_error(struct gaicb *request)
{
    PCT_ENTER(self);
    if (!self)
        return REAL(gai_error)(request);
    pct_here(self, PCT_OP_REQUEST_WAIT);
    int error = request->__return;
    pct_order_at(self, request, PCT_ACQUIRES);
    pct_request_looked(self, error == EAI_INPROGRESS);
    return error;
}

PCT_EXPORT int gai_suspend(const struct gaicb *const requests[], int count, const struct timespec *timeout)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_REQUEST_WAIT, PCT_CLASS_NONE, NULL, REAL(gai_suspend)(requests, count, timeout));
    struct list list = { .requests = requests, .count = count };
    uint64_t deadline = PCT_NEVER, now = pct_sched_now(&pct_S);
    list.left = count_in_progress(&list) - 1;
    if (list.left < 0)
        return EAI_ALLDONE;
    if (timeout && !pct_valid(timeout)) {
        errno = EINVAL;
        return EAI_SYSTEM;
    }
    if (timeout) {
        uint64_t length = pct_nanoseconds(timeout);
        deadline = length < PCT_NEVER - now ? now + length : PCT_NEVER - 1;
    }
    switch (wait_for(self, &list, deadline)) {
    case PCT_READY:
        return 0;
    case PCT_TIMEOUT:
        return EAI_AGAIN;
    default:
        return EAI_INTR;
    }
}

PCT_EXPORT int gai_cancel(struct gaicb *request)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_REQUEST, PCT_CLASS_NONE, NULL, REAL(gai_cancel)(request));
    pct_here(self, PCT_OP_REQUEST);
    struct pct_request *found = pct_request_find(&pool, request);
    int result = !found ? EAI_ALLDONE : found->running ? EAI_NOTCANCELED : EAI_CANCELED;
    if (result == EAI_CANCELED)
        pct_request_remove(&pool, found); /* GLIBC: nobody is told */
    pct_done(self, PCT_OP_REQUEST, 0, NULL);
    return result;
}
