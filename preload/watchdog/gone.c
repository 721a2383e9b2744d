/* Threads that have ended by a system call of their own: to the schedule they were running, or outside, and would be
 * for ever. In their name, the watchdog passes the point of their end: behind their last step nothing else ran, or they
 * were outside, so that a run goes on in the same way however late that is seen.
 *
 * That a thread is gone the kernel says. When the process ends or becomes another program, all go, too; but then this
 * thread has been killed before the first of them is gone, and does not come back from the question. */
#include "gone.h"
#include <errno.h>
#include <fcntl.h>
#include <preload/core/sys.h>
#include <preload/thread/proc_task.h>
#include <preload/thread/thread.h>
#include <sys/ioctl.h>

static uint32_t awaited; /* threads that are gone and have not finished */

/* The only thread left, while it lives: of others than the first the kernel forgets how they ended, but for who had
 * asked for that before (Linux 6.15). */
static struct {
    int fd; /* a descriptor of it, 0: none */
    int32_t tid;
} last;

void pct_gone_start(void)
{
    awaited = 0;
    last.fd = last.tid = 0;
}

/* One that is not over, but for this one (NULL: none). */
static const struct pct_shim_thread *find(const struct pct_shim_thread *but)
{
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++)
        if (&pct_shim.slots[id] != but && pct_state(&pct_shim.slots[id].core) != PCT_STATE_FINISHED)
            return &pct_shim.slots[id];
    return NULL;
}

/* leaves: this one is about to be over; NULL: none. */
static void see_last(const struct pct_shim_thread *leaves)
{
    enum { OF_THREAD = O_EXCL }; /* PIDFD_THREAD of linux/pidfd.h, Linux 6.9 */
    const struct pct_shim_thread *thread = pct_sched_live(&pct_S) == 1 + (leaves != NULL) ? find(leaves) : NULL;
    if (!thread || !thread->tid || thread->tid == last.tid || thread->tid == pct_shim.pid)
        return;
    if (last.fd)
        PCT_SYS1(SYS_close, last.fd);
    long fd = PCT_SYS2(SYS_pidfd_open, thread->tid, OF_THREAD);
    last.fd = fd > 0 ? (int)fd : 0;
    last.tid = thread->tid;
}

void pct_gone_see_last(void)
{
    see_last(NULL);
}

/* What this thread, which was the last one, gave the kernel; 0: nobody knows. */
static int status_of(const struct pct_shim_thread *thread, int folder)
{
    struct { /* struct pidfd_info of linux/pidfd.h */
        uint64_t mask, cgroup;
        uint32_t ids[11];
        int32_t exit_code;
    } info = { .mask = 1 << 3 /* PIDFD_INFO_EXIT */ };
    if (thread->tid == pct_shim.pid)
        return pct_task_status(folder, thread->tid);
    if (!last.fd || thread->tid != last.tid || PCT_SYS3(SYS_ioctl, last.fd, _IOWR(0xff, 11, info), &info) ||
        !(info.mask & 1 << 3))
        return 0;
    return info.exit_code >> 8;
}

/* The first thread stays for the kernel, as what it calls a zombie. */
static bool is_gone(const struct pct_shim_thread *thread, int folder)
{
    uint64_t flags;
    char state;
    if (!thread->tid)
        return false;
    if (thread->tid != pct_shim.pid)
        return PCT_SYS3(SYS_tgkill, pct_shim.pid, thread->tid, 0) == -ESRCH;
    return pct_task_read_flags(folder, thread->tid, &state, &flags) && (state == 'Z' || state == 'X');
}

/* It has the baton. */
static void take_turn(struct pct_shim_thread *thread, int folder)
{
    if (pct_sched_alone(&pct_S)) {
        /* The process ends with it, as it does without a watchdog. */
        PCT_SYS1(SYS_exit, status_of(thread, folder));
        __builtin_unreachable();
    }
    see_last(thread);
    pct_thread_has_left();
    thread->ending = NULL;
    if (pct_sched_gone(&pct_S, &thread->core))
        awaited--;
}

bool pct_gone_holder(struct pct_shim_thread *thread, int folder)
{
    if (!is_gone(thread, folder) || !pct_sched_swap_holder(&pct_S, &thread->core, NULL))
        return false;
    awaited++;
    take_turn(thread, folder);
    pct_gone_look(folder);
    return true;
}

/* It is outside since the watchdog left it there: all others that are outside are in our own calls. */
static bool is_left(const struct pct_shim_thread *thread)
{
    return !thread->core.absent && __atomic_load_n(&thread->core.state, __ATOMIC_RELAXED) == PCT_STATE_OUTSIDE &&
           __atomic_load_n(&thread->revoked, __ATOMIC_SEQ_CST);
}

void pct_gone_look(int folder)
{
    for (uint32_t id = 0; pct_sched_outside(&pct_S) && id < pct_sched_threads(&pct_S); id++) {
        struct pct_shim_thread *thread = &pct_shim.slots[id];
        if (!is_left(thread) || !is_gone(thread, folder))
            continue;
        awaited++;
        pct_sched_return_gone(&pct_S, &thread->core);
    }
    for (uint32_t id = 0; awaited && id < pct_sched_threads(&pct_S); id++) {
        struct pct_shim_thread *thread = &pct_shim.slots[id];
        if (!thread->core.absent || !__atomic_exchange_n(&thread->word, 0, __ATOMIC_ACQUIRE))
            continue;
        take_turn(thread, folder);
        id = UINT32_MAX; /* from the first: it may be the turn of any */
    }
}
