/* Signals that threads of this process send: to each other, to themselves, to the process; and by timers in virtual
 * time.
 *
 * What goes to a parked thread is not given to the kernel, which would deliver it at a time of its own, but kept in a
 * queue in the thread's slot: its wait is interrupted, and on its turn it sends the signal to itself
 * (pct_signal_deliver). A signal that the thread blocks, or that the target does not handle, is the kernel's. */
#include <common/text.h>
#include <preload/core/host.h>
#include <preload/core/host_threads.h>
#include <preload/core/kernel.h>
#include <preload/core/pass.h>
#include <preload/core/real.h>
#include "signals.h"
#include <preload/thread/thread.h>
#include <preload/time/family.h>
#include <preload/time/vtimer.h>
#include <fcntl.h>

static struct pct_sent *spare; /* with the baton */

/* What the kernel says in this file, "" if it does not. Until the next call. With the baton. Not on the stack: that may
 * be a signal handler's. */
static const char *read_about(const char *folder, int number, const char *name)
{
    static char text[4096];
    struct pct_text path;
    pct_text_init(&path, text, sizeof text);
    pct_text_add(&path, folder);
    pct_text_add_u64(&path, (uint64_t)number);
    pct_text_add(&path, name);
    /* In a host, too: of its threads nothing is left from earlier runs. */
    long fd = pct_host_sys4(SYS_open, (long)text, O_RDONLY | O_CLOEXEC, 0, 0);
    long got = fd < 0 ? 0 : PCT_SYS3(SYS_read, fd, text, sizeof text - 1);
    text[got > 0 ? got : 0] = 0;
    if (fd >= 0)
        PCT_SYS1(SYS_close, fd);
    return text;
}

static const char *read_status(int tid)
{
    return read_about("/proc/self/task/", tid, "/status");
}

/* What stands behind this name, with which its line begins; "": there is no such line. */
static const char *value_of(const char *status, const char *name)
{
    const char *c = status;
    for (; *c; c += *c == '\n') {
        const char *wanted = name;
        for (; *wanted && *c == *wanted; wanted++)
            c++;
        if (!*wanted)
            break;
        while (*c && *c != '\n')
            c++;
    }
    return c;
}

/* A set of signals is in hexadecimal. */
static uint64_t signals_of(const char *status, const char *name)
{
    uint64_t set = 0;
    for (const char *c = value_of(status, name); *c && *c != '\n'; c++)
        set = set << 4 | (uint64_t)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
    return set;
}

static bool is_running(const struct pct_shim_thread *thread)
{
    return *value_of(read_status(thread->tid), "State:\t") == 'R';
}

uint64_t pct_signal_pending(const struct pct_shim_thread *thread)
{
    uint64_t set = 0;
    if (thread != pct_self) {
        const char *status = read_status(thread->tid);
        return signals_of(status, "SigPnd:\t") | signals_of(status, "ShdPnd:\t");
    }
    PCT_SYS2(SYS_rt_sigpending, &set, PCT_SIGSET_SIZE);
    return set;
}

uint64_t pct_signal_of_fd(int fd)
{
    return signals_of(read_about("/proc/thread-self/fdinfo/", fd, ""), "sigmask:\t");
}

uint64_t pct_signal_blocked(const struct pct_shim_thread *thread)
{
    if (!thread->started && thread->core.id)
        return thread->signal_mask;
    uint64_t mask =
        thread == pct_self ? pct_signal_mask(SIG_BLOCK, 0) : signals_of(read_status(thread->tid), "SigBlk:\t");
    return mask & ~__atomic_load_n(&thread->held, __ATOMIC_SEQ_CST);
}

/* The kernel has woken a thread before a call that sends to it returns, and before a child that sends can be waited
 * for; and one that is parked sleeps again once it has put off what came. */
void pct_signal_settle(void)
{
    enum { PAUSE_NS = 50000, LIMIT_NS = 2000000000 };
    const struct timespec pause = { .tv_nsec = PAUSE_NS };
    if (!pct_action_any() || pct_host_contexts)
        return;
    const uint64_t limit = pct_real_now() + LIMIT_NS;
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++) {
        const struct pct_shim_thread *thread = &pct_shim.slots[id];
        if (thread == pct_self || (id && !thread->started) || thread->core.state > PCT_STATE_BLOCKED)
            continue;
        while (is_running(thread) && pct_real_now() < limit)
            PCT_SYS2(SYS_nanosleep, &pause, NULL);
    }
}

void pct_signal_sent(void)
{
    if (pct_sched_can_outside(&pct_S) || pct_sched_kernel_waits(&pct_S))
        pct_sched_attention(&pct_S);
}

/* To the process, the kernel refuses from all threads but the first what is said to come from kill() or from itself. */
static long queue(int pid, const struct pct_shim_thread *thread, const siginfo_t *info)
{
    if (thread)
        return PCT_SYS4(SYS_rt_tgsigqueueinfo, pid, thread->tid, info->si_signo, info);
    if (info->si_code == SI_USER)
        return PCT_SYS2(SYS_kill, pid, info->si_signo);
    siginfo_t sent = *info;
    if (sent.si_code == SI_KERNEL) { /* an alarm's: pct_timer_taken() says so again */
        sent.si_code = SI_TIMER;
        sent.si_timerid = PCT_ITIMER_ID;
    }
    return PCT_SYS3(SYS_rt_sigqueueinfo, pid, sent.si_signo, &sent);
}

long pct_signal_queue(const struct pct_shim_thread *thread, const siginfo_t *info)
{
    int pid = (int)PCT_SYS0(SYS_getpid);
    const siginfo_t bare = { .si_signo = info->si_signo, .si_code = SI_USER };
    long failed = queue(pid, thread, info);
    return failed == -EAGAIN ? queue(pid, thread, &bare) : failed;
}

bool pct_sent_take(struct pct_shim_thread *self, struct pct_sent *sent)
{
    struct pct_sent *first = self->sent;
    if (!first)
        return false;
    *sent = *first;
    self->sent = first->next;
    first->next = spare;
    spare = first;
    return true;
}

static struct pct_sent *new_entry(void)
{
    struct pct_sent *entry = spare;
    if (!entry)
        return pct_map(sizeof *entry);
    spare = entry->next;
    return entry;
}

static bool direct(struct pct_shim_thread *thread, const siginfo_t *info, bool any)
{
    int signal = info->si_signo;
    /* One that waits outside is interrupted there, by the kernel. */
    if (thread->core.state == PCT_STATE_FINISHED || thread->core.state == PCT_STATE_OUTSIDE ||
        !pct_signal_bit(signal) || !pct_action_handles(signal) || pct_signal_blocked(thread) & pct_signal_bit(signal))
        return false;
    struct pct_sent **last = &thread->sent;
    for (; *last; last = &(*last)->next)
        if ((*last)->info.si_signo == signal && signal < PCT_SIGNAL_QUEUED && info->si_code != SI_TIMER)
            return true; /* of the old signals one is pending at most; timers queue theirs */
    struct pct_sent *entry = new_entry();
    if (!entry)
        return false;
    *entry = (struct pct_sent){ .info = *info, .any = any };
    *last = entry;
    pct_sched_call(&thread->core, true); /* until it next waits, or now */
    pct_sched_interrupt(&pct_S, &thread->core);
    return true;
}

bool pct_signal_direct(struct pct_shim_thread *thread, const siginfo_t *info)
{
    return direct(thread, info, false);
}

/* Whether the kernel might let another thread take it: schedules do not decide which. */
static bool another_may_take(const struct pct_shim_thread *taker, int signal)
{
    for (uint32_t id = 1; id < pct_sched_threads(&pct_S); id++) {
        const struct pct_shim_thread *other = &pct_shim.slots[id];
        if (other != taker && other->core.state != PCT_STATE_FINISHED &&
            !(pct_signal_blocked(other) & pct_signal_bit(signal)))
            return true;
    }
    return false;
}

/* A signal to the whole process goes, as in the kernel, to the first thread if it does not block it, else to the caller
 * if that does not, else to any that does not: the one with the lowest id. */
bool pct_signal_direct_any(struct pct_shim_thread *self, const siginfo_t *info)
{
    if (direct(&pct_shim.slots[0], info, true))
        return true;
    /* Where the first thread takes it outside, the kernel finds that out by itself. */
    if (pct_shim.slots[0].core.state == PCT_STATE_OUTSIDE &&
        !(pct_signal_blocked(&pct_shim.slots[0]) & pct_signal_bit(info->si_signo)))
        return false;
    struct pct_shim_thread *taker = self && direct(self, info, true) ? self : NULL;
    for (uint32_t id = 1; !taker && id < pct_sched_threads(&pct_S); id++)
        if (&pct_shim.slots[id] != self && direct(&pct_shim.slots[id], info, true))
            taker = &pct_shim.slots[id];
    if (taker && another_may_take(taker, info->si_signo))
        pct_sched_chose(&pct_S);
    return taker != NULL;
}

bool pct_sent_passes(const struct pct_shim_thread *self, const struct pct_sent *sent)
{
    if (!sent->any || !(pct_signal_blocked(self) & pct_signal_bit(sent->info.si_signo)))
        return false;
    if (!pct_signal_direct_any(NULL, &sent->info) && !pct_signal_queue(NULL, &sent->info))
        pct_signal_given(NULL, sent->info.si_signo);
    pct_signal_sent();
    return true;
}

static siginfo_t user_info(int signal, int code)
{
    siginfo_t info = { .si_signo = signal, .si_code = code };
    info.si_pid = (int)PCT_SYS0(SYS_getpid);
    info.si_uid = (unsigned)PCT_SYS0(SYS_getuid);
    return info;
}

/* The step is done: whoever waits for the signal may be enabled now, if there is one: signal 0 only asks. */
static void sent(struct pct_shim_thread *self, int signal, uint32_t thread, bool failed)
{
    pct_record(&pct_S, &self->core, PCT_OP_SIGNAL_SEND, failed ? PCT_ARG_ERROR : 0, thread);
    if (signal && !failed)
        pct_signal_sent();
}

/* To one thread; NULL: one that pct does not know. otherwise: the real call, and whether its result is a failure. */
#define SEND(self, thread, info, otherwise)                                                                            \
    ({                                                                                                                 \
        int pct_result_ = 0;                                                                                           \
        pct_here(self, PCT_OP_SIGNAL_SEND);                                                                            \
        pct_family_tell();                                                                                             \
        if (!(thread) || !pct_signal_direct(thread, info)) {                                                           \
            pct_result_ = CALL_MAY_BLOCK(self, otherwise);                                                             \
            if ((thread) && !pct_result_)                                                                              \
                pct_signal_given(thread, (info)->si_signo);                                                            \
        }                                                                                                              \
        sent(self, (info)->si_signo, (thread) ? (thread)->core.id : 0, pct_result_);                                   \
        pct_result_;                                                                                                   \
    })

/* Whether a signal that went to a group went to this process, too. The kernel cannot be told to leave one process out,
 * so where a handler runs is for it to say. */
static bool reaches_group(pid_t pid, int signal)
{
    if (pid && (pid >= -1 || -pid != PCT_SYS1(SYS_getpgid, 0)))
        return false;
    if (signal && pct_action_handles(signal)) {
        pct_uncontrolled(PCT_UNCONTROLLED_SIGNAL);
        pct_signal_settle();
    }
    return true;
}

/* To a process, or to a group. */
#define SEND_ANY(self, pid, info, otherwise)                                                                           \
    ({                                                                                                                 \
        int pct_result_ = 0;                                                                                           \
        pct_here(self, PCT_OP_SIGNAL_SEND);                                                                            \
        pct_family_tell();                                                                                             \
        bool own_ = (pid) == (info)->si_pid;                                                                           \
        if (!own_ || !pct_signal_direct_any(self, info)) {                                                             \
            pct_result_ = CALL_MAY_BLOCK(self, otherwise);                                                             \
            if (!pct_result_ && (own_ || reaches_group(pid, (info)->si_signo)))                                        \
                pct_signal_given(NULL, (info)->si_signo);                                                              \
        }                                                                                                              \
        sent(self, (info)->si_signo, 0, pct_result_);                                                                  \
        pct_result_;                                                                                                   \
    })

/* A target that ends the process that started it would end the whole campaign. It is told that it has. */
static bool spares(pid_t pid, int signal)
{
    if (!signal || pid <= 0 || (pid != pct_shim.launcher && pid != pct_shim.supervisor))
        return false;
    pct_uncontrolled(PCT_UNCONTROLLED_PARENT);
    return true;
}

PCT_EXPORT int kill(pid_t pid, int signal)
{
    PCT_ENTER(self);
    if (spares(pid, signal))
        return 0;
    if (!self)
        return PASS(PCT_OP_SIGNAL_SEND, PCT_CLASS_THREAD, NULL, REAL(kill)(pid, signal));
    siginfo_t info = user_info(signal, SI_USER);
    return SEND_ANY(self, pid, &info, REAL(kill)(pid, signal));
}

PCT_EXPORT int killpg(pid_t group, int signal)
{
    PCT_ENTER(self);
    if (!self || group < 0)
        return PASS(PCT_OP_SIGNAL_SEND, PCT_CLASS_THREAD, NULL, REAL(killpg)(group, signal));
    siginfo_t info = user_info(signal, SI_USER);
    return SEND_ANY(self, -group, &info, REAL(killpg)(group, signal));
}

PCT_EXPORT int sigqueue(pid_t pid, int signal, const union sigval value)
{
    PCT_ENTER(self);
    if (spares(pid, signal))
        return 0;
    if (!self)
        return PASS(PCT_OP_SIGNAL_SEND, PCT_CLASS_THREAD, NULL, REAL(sigqueue)(pid, signal, value));
    siginfo_t info = user_info(signal, SI_QUEUE);
    info.si_value = value;
    return SEND_ANY(self, pid, &info, REAL(sigqueue)(pid, signal, value));
}

PCT_EXPORT int raise(int signal)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SIGNAL_SEND, PCT_CLASS_THREAD, NULL, REAL(raise)(signal));
    siginfo_t info = user_info(signal, SI_TKILL);
    return SEND(self, self, &info, REAL(raise)(signal));
}

static struct pct_shim_thread *find(struct pct_shim_thread *self, pthread_t handle)
{
    return handle == self->handle ? self : pct_thread_find(handle);
}

PCT_EXPORT int pthread_kill(pthread_t handle, int signal)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SIGNAL_SEND, PCT_CLASS_THREAD, NULL, REAL(pthread_kill)(handle, signal));
    struct pct_shim_thread *thread = find(self, handle);
    siginfo_t info = user_info(signal, SI_TKILL);
    return SEND(self, thread, &info, REAL(pthread_kill)(handle, signal));
}

PCT_EXPORT int pthread_sigqueue(pthread_t handle, int signal, const union sigval value)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SIGNAL_SEND, PCT_CLASS_THREAD, NULL, REAL(pthread_sigqueue)(handle, signal, value));
    struct pct_shim_thread *thread = find(self, handle);
    siginfo_t info = user_info(signal, SI_QUEUE);
    info.si_value = value;
    return SEND(self, thread, &info, REAL(pthread_sigqueue)(handle, signal, value));
}

PCT_EXPORT int tgkill(pid_t pid, pid_t tid, int signal)
{
    PCT_ENTER(self);
    if (pct_host_threads_is_parked(tid)) /* in a run that is not restored, it is gone */
        pct_host_leave(PCT_HOST_CALL, SYS_tgkill);
    if (spares(pid, signal))
        return 0;
    if (!self)
        return PASS(PCT_OP_SIGNAL_SEND, PCT_CLASS_THREAD, NULL, REAL(tgkill)(pid, tid, signal));
    siginfo_t info = user_info(signal, SI_TKILL);
    struct pct_shim_thread *thread = NULL;
    for (uint32_t id = 0; pid == info.si_pid && id < pct_sched_threads(&pct_S) && !thread; id++)
        if (pct_shim.slots[id].tid == tid && pct_shim.slots[id].core.state != PCT_STATE_FINISHED)
            thread = &pct_shim.slots[id];
    return SEND(self, thread, &info, REAL(tgkill)(pid, tid, signal));
}
