/* Threads of libc's own, under control: see service.h. */
#include "service.h"
#include <preload/core/kernel.h>
#include <preload/core/pass.h>
#include "thread.h"

/* With a stack of these sizes; stack_size 0: the usual ones. */
static struct pct_shim_thread *make(void *(*start)(void *), void *argument, uint64_t mask, size_t stack_size,
                                    size_t guard_size)
{
    pthread_t handle;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (stack_size) {
        pthread_attr_setstacksize(&attr, stack_size);
        pthread_attr_setguardsize(&attr, guard_size);
    }
    int error = pct_thread_create(&handle, &attr, start, argument, false);
    pthread_attr_destroy(&attr);
    struct pct_shim_thread *thread = error ? NULL : pct_thread_find(handle);
    if (thread)
        thread->signal_mask = mask;
    if (pct_self)
        pct_ensure_baton(pct_self); /* that was a step, and the caller is about to record its own */
    return thread;
}

struct pct_shim_thread *pct_service_thread(void *(*start)(void *), void *argument)
{
    return make(start, argument, PCT_SIGNALS_ALL, 0, 0);
}

static bool is_made(const struct pct_thread *thread)
{
    return !((const struct pct_service *)thread->wait.ready_arg)->starting;
}

bool pct_service_start(struct pct_shim_thread *self, struct pct_service *service, void *(*serve)(void *))
{
    while (service->starting)
        pct_wait_for(self, PCT_OP_THREAD_CREATE, &service->queue, is_made, service, PCT_NEVER);
    if (service->thread)
        return true;
    service->starting = true;
    service->thread = pct_service_thread(serve, NULL);
    service->starting = false;
    pct_program_changed(&service->queue);
    return service->thread;
}

void pct_notice_from(struct pct_notice *notice, const struct sigevent *event)
{
    const pthread_attr_t *attr = event->sigev_notify_attributes;
    *notice = (struct pct_notice){ .function = event->sigev_notify_function, .value = event->sigev_value };
    if (attr) {
        pthread_attr_getstacksize(attr, &notice->stack_size);
        pthread_attr_getguardsize(attr, &notice->guard_size);
    }
}

/* What a started thread needs; it belongs to that thread until it has read it. */
struct errand {
    struct pct_notice notice;
    struct errand *next; /* in the list of spare ones */
};
static struct errand *spare; /* with the baton */

static void *notify(void *argument)
{
    struct errand *errand = argument;
    struct pct_notice notice = errand->notice;
    errand->next = spare;
    spare = errand;
    notice.function(notice.value);
    return NULL;
}

void pct_notice_start(const struct pct_notice *notice, uint64_t mask)
{
    struct errand *errand = spare ? spare : pct_map(sizeof *errand);
    if (!errand)
        return;
    if (errand == spare)
        spare = errand->next;
    *errand = (struct errand){ .notice = *notice };
    make(notify, errand, mask, notice->stack_size, notice->guard_size);
}
