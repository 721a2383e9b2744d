/* mq_notify. SIGEV_THREAD is libc's business: the kernel sends a cookie to a socket when a message comes, and a thread,
 * here a service thread, waits for that and starts one that calls the function. */
#include <preload/core/order.h>
#include <preload/core/real.h>
#include <preload/core/sys.h>
#include "io.h"
#include "request.h"
#include <mqueue.h>
#include <sys/socket.h>

/* Linux: include/uapi/linux/mqueue.h. The last byte is the kernel's to say what has happened. */
enum { COOKIE = 32, WOKEN = 1 };
struct cookie { /* the rest is a struct pct_notice: as the attributes were when it was asked for */
    void (*function)(union sigval);
    union sigval value;
    size_t stack_size;
    size_t guard_size : 56, happened : 8;
};
_Static_assert(sizeof(struct cookie) == COOKIE, "the kernel's size");

static int channel = -1;
static unsigned registered; /* notifications that have not come yet */
static struct pct_service service;

/* A child that kept its parent's channel could take what its parent is told, and lose to it what it is told itself. */
void pct_mq_notify_forget(void)
{
    if (channel >= 0) {
        PCT_SYS1(SYS_close, channel);
        pct_fd_forget(channel);
    }
    channel = -1;
    service = (struct pct_service){ 0 };
    registered = 0;
}

static bool any_registered(const struct pct_thread *thread)
{
    (void)thread;
    return registered;
}

/* Another process may send the message, too: only while somebody is to be notified is it waited for. */
static void *serve(void *unused)
{
    struct cookie cookie;
    struct pct_shim_thread *self;
    while ((self = pct_enter())) {
        pct_wait_for(self, PCT_OP_MESSAGE, &self->sleep_object, any_registered, NULL, PCT_NEVER);
        ssize_t got = recv(channel, &cookie, sizeof cookie, MSG_NOSIGNAL | MSG_WAITALL);
        self = pct_enter();
        if (got != COOKIE || !self)
            continue;
        registered--;
        if (cookie.happened != WOKEN)
            continue;
        const struct pct_notice notice = { cookie.function, cookie.value, cookie.stack_size, cookie.guard_size };
        pct_order_at(self, &service, PCT_ACQUIRES);
        pct_notice_start(&notice, 0);
    }
    return unused;
}

PCT_EXPORT int mq_notify(mqd_t queue, const struct sigevent *event)
{
    PCT_ENTER(self);
    if (!self || !event || event->sigev_notify != SIGEV_THREAD) {
        int result = REAL(mq_notify)(queue, event), error = errno;
        if (self)
            pct_sched_kernel_changed(&pct_S); /* a registration that is given up is told, too */
        errno = error;
        return result;
    }
    pct_here(self, PCT_OP_MESSAGE);
    if (channel < 0)
        channel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (channel < 0 || !pct_service_start(self, &service, serve)) {
        errno = ENOSYS;
        return -1;
    }
    struct pct_notice notice;
    pct_notice_from(&notice, event);
    struct cookie cookie = {
        .function = notice.function,
        .value = notice.value,
        .stack_size = notice.stack_size,
        .guard_size = notice.guard_size,
    };
    struct sigevent real = { .sigev_notify = SIGEV_THREAD, .sigev_signo = channel };
    real.sigev_value.sival_ptr = &cookie;
    long failed = PCT_SYS2(SYS_mq_notify, queue, &real);
    if (!failed) {
        registered++;
        pct_order_at(self, &service, PCT_RELEASES);
        pct_program_changed(&service.thread->sleep_object);
    }
    pct_done(self, PCT_OP_MESSAGE, failed ? PCT_ARG_ERROR : 0, NULL);
    errno = failed ? (int)-failed : errno;
    return failed ? -1 : 0;
}
