/* Asynchronous requests: request.h. */
#include "request.h"
#include <preload/core/kernel.h>
#include <preload/core/order.h>
#include <preload/core/point.h>

enum { THREADS = 20 };
#define IDLE_NS UINT64_C(1000000000)

static struct pct_request *spare;
static struct pct_batch *spare_batches;

static struct pct_request *next_to_run(const struct pct_pool *pool)
{
    for (struct pct_request *r = pool->first; r; r = r->next) {
        bool free = !r->running;
        for (const struct pct_request *other = pool->first; free && r->key >= 0 && other != r; other = other->next)
            free = other->key != r->key;
        if (free)
            return r;
    }
    return NULL;
}

static bool anything_to_run(const struct pct_thread *thread)
{
    return next_to_run(thread->wait.ready_arg);
}

static bool staff(struct pct_pool *pool);

/* What service threads do. */
static void *serve(void *argument)
{
    struct pct_pool *pool = argument;
    struct pct_shim_thread *self;
    while ((self = pct_enter())) { /* NULL: the run is over */
        struct pct_request *request = next_to_run(pool);
        if (!request) {
            pool->idle++;
            pct_wait_for(self, PCT_OP_REQUEST_WAIT, &pool->work, anything_to_run, pool,
                         pct_sched_now(&pct_S) + IDLE_NS);
            pool->idle--;
            request = next_to_run(pool);
            /* To take one is a step: who withdraws it finds out which came first, in a replay, too. */
            pct_done(self, PCT_OP_REQUEST_WAIT, request ? 0 : PCT_ARG_TIMEOUT, NULL);
        }
        if (!request) {
            pool->threads--;
            return NULL;
        }
        request->running = true;
        void *what = request->what;
        pct_order_at(self, what, PCT_ACQUIRES);
        staff(pool);
        long result = pool->perform(what);
        self = pct_enter();
        if (!self)
            return NULL;
        pct_here(self, PCT_OP_REQUEST_DONE);
        pool->done(what, result);
        pct_order_at(self, what, PCT_RELEASES);
        pct_done(self, PCT_OP_REQUEST_DONE, 0, NULL);
        struct pct_request was = pct_request_remove(pool, request);
        pct_program_changed(&pool->waiters);
        pct_request_notify(pool, &was);
    }
    return NULL;
}

/* Have a thread for what is to be run. False: there is none at all. */
static bool staff(struct pct_pool *pool)
{
    if (!next_to_run(pool))
        return true;
    if (pool->idle || pool->threads >= (pool->most ? pool->most : THREADS)) {
        pct_program_changed(&pool->work);
        return true;
    }
    pool->threads++; /* others may come here while it is made */
    if (!pct_service_thread(serve, pool))
        pool->threads--;
    return pool->threads;
}

static void unlink_request(struct pct_pool *pool, const struct pct_request *request)
{
    struct pct_request **at = &pool->first;
    while (*at != request)
        at = &(*at)->next;
    *at = request->next;
}

struct pct_request pct_request_remove(struct pct_pool *pool, struct pct_request *request)
{
    struct pct_request was = *request;
    unlink_request(pool, request);
    request->next = spare;
    spare = request;
    return was;
}

bool pct_request_add(struct pct_shim_thread *self, struct pct_pool *pool, const struct pct_request *request)
{
    struct pct_request *mine = spare;
    pool->begun = true;
    if (mine)
        spare = mine->next;
    else
        mine = pct_map(sizeof *mine);
    if (!mine)
        return false;
    *mine = *request;
    mine->running = false;
    /* Behind those of its key with the same priority or a higher one; the one that runs stays the first. */
    struct pct_request **at = &pool->first;
    while (*at && ((*at)->running || (*at)->key != mine->key || (*at)->key < 0 || (*at)->priority >= mine->priority))
        at = &(*at)->next;
    mine->next = *at;
    *at = mine;
    pct_order_at(self, mine->what, PCT_RELEASES);
    if (staff(pool))
        return true;
    mine = pct_request_find(pool, request->what);
    if (mine)
        pct_request_remove(pool, mine);
    return false;
}

struct pct_request *pct_request_find(const struct pct_pool *pool, const void *what)
{
    struct pct_request *r = pool->first;
    while (r && r->what != what)
        r = r->next;
    return r;
}

struct pct_batch *pct_batch_new(unsigned count, const struct sigevent *event)
{
    struct pct_batch *batch = spare_batches;
    if (batch)
        spare_batches = batch->next;
    else
        batch = pct_map(sizeof *batch);
    if (batch)
        *batch = (struct pct_batch){ .left = count, .event = *event };
    return batch;
}

/* Notify as this event says, with signals of this code. */
static void notify(const struct sigevent *event, int code)
{
    struct pct_notice notice;
    if (event->sigev_notify == SIGEV_THREAD) {
        pct_notice_from(&notice, event);
        pct_notice_start(&notice, 0);
    } else if (event->sigev_notify == SIGEV_SIGNAL) {
        siginfo_t info = { .si_signo = event->sigev_signo, .si_code = code };
        info.si_pid = (int)PCT_SYS0(SYS_getpid);
        info.si_uid = (unsigned)PCT_SYS0(SYS_getuid);
        info.si_value = event->sigev_value;
        if (!pct_signal_direct_any(NULL, &info) && !pct_signal_queue(NULL, &info))
            pct_signal_given(NULL, info.si_signo);
        pct_signal_sent();
    }
}

void pct_request_notify(const struct pct_pool *pool, const struct pct_request *request)
{
    struct pct_batch *batch = request->batch;
    notify(&request->event, pool->code);
    if (!batch || --batch->left)
        return;
    struct sigevent event = batch->event;
    batch->next = spare_batches;
    spare_batches = batch;
    notify(&event, pool->code);
}

void pct_request_waited(struct pct_shim_thread *self, enum pct_result result)
{
    uint32_t arg = result == PCT_TIMEOUT ? PCT_ARG_TIMEOUT : PCT_ARG_ERROR;
    pct_done(self, PCT_OP_REQUEST_WAIT, result == PCT_READY ? 0 : arg, NULL);
}

void pct_request_looked(struct pct_shim_thread *self, bool busy)
{
    pct_done(self, PCT_OP_REQUEST_WAIT, busy ? PCT_ARG_BUSY : 0, NULL);
    if (busy)
        pct_sched_spin(&pct_S, &self->core);
}

void pct_pool_forget(struct pct_pool *pool)
{
    pool->first = NULL;
    pool->threads = pool->idle = 0;
    pool->work = pool->waiters = (struct pct_object){ 0 };
}
