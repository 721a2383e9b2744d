/* What signals do: sigaction and its relatives. A handler that the target sets is kept here, and the kernel gets ours
 * (handler.c). What the kernel says of a signal is the truth about everything else: flags, mask, the default. */
#include <common/exploration.h>
#include <common/text.h>
#include <preload/core/host.h>
#include <preload/core/kernel.h>
#include <preload/core/order.h>
#include <preload/core/point.h>
#include <preload/core/real.h>
#include <preload/memory/channel.h>
#include "signals.h"
#include "trap.h"
#include <fcntl.h>
#include <sys/wait.h>

static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGPIPE };
static struct pct_action *actions; /* by signal; NULL until the target sets the first */
static uint64_t interrupting;      /* siginterrupt(): signal() sets no SA_RESTART for these */

/* What is ours of the flags that the kernel has. */
enum { OUR_FLAGS = SA_SIGINFO | (int)SA_RESETHAND };

/* No constant: nothing has made an address of it when the process starts (preload/run/tables.c). */
static struct sigaction crash(void)
{
    return (struct sigaction){ .sa_sigaction = pct_signal_crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
}

/* The watchdog's question waits until a handler of SIGTRAP has returned: asked there, a thread would be led on
 * instruction by instruction within that handler, with traps within traps until the stack is full. */
static struct sigaction with_mask(int signal, struct sigaction action)
{
    *(uint64_t *)&action.sa_mask |= signal == SIGTRAP ? PCT_SIGNAL_SETXID : 0;
    return action;
}

static int set_crash(int signal, struct sigaction *old)
{
    const struct sigaction ours = with_mask(signal, crash());
    return REAL(sigaction)(signal, &ours, old);
}

bool pct_signal_is_crash(int signal)
{
    for (unsigned i = 0; i < sizeof crashes / sizeof *crashes; i++)
        if (crashes[i] == signal)
            return true;
    return false;
}

struct pct_action pct_action_of(int signal)
{
    return actions[signal]; /* our handler runs: there is one */
}

bool pct_action_any(void)
{
    return actions;
}

bool pct_action_handles(int signal)
{
    struct sigaction action;
    return !REAL(sigaction)(signal, NULL, &action) && action.sa_sigaction == pct_signal_arrive &&
           actions[signal].handler != (void *)SIG_IGN;
}

PCT_STARTS void pct_signal_start(void)
{
    struct sigaction old;
    for (unsigned i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        const struct sigaction ours = with_mask(crashes[i], crash());
        if (!__sigaction(crashes[i], &ours, &old) && old.sa_handler != SIG_DFL)
            __sigaction(crashes[i], &old, NULL); /* ignored: inherited through exec */
    }
}

/* There are children; *ended: one that has ended, 0: none has. */
static bool has_children(idtype_t which, int id, int *ended)
{
    siginfo_t info = { .si_pid = 0 };
    const long failed = PCT_SYS6(SYS_waitid, which, id, &info, WEXITED | WNOHANG | WNOWAIT, NULL, 0);
    *ended = info.si_pid;
    return !failed;
}

/* Whether one lives of those that this thread has made, as far as the kernel says which they are. */
static bool has_living(int tid)
{
    char text[256];
    struct pct_text path;
    bool any = false;
    int child = 0, ended;
    long got;
    pct_text_init(&path, text, sizeof text);
    pct_text_add(&path, "/proc/self/task/");
    pct_text_add_u64(&path, (uint64_t)tid);
    pct_text_add(&path, "/children");
    const long fd = pct_host_sys4(SYS_open, (long)text, O_RDONLY | O_CLOEXEC, 0, 0);
    while (fd >= 0 && !any && (got = PCT_SYS3(SYS_read, fd, text, sizeof text)) > 0)
        for (const char *c = text; !any && c < text + got; c++) {
            any = *c == ' ' && has_children(P_PID, child, &ended) && !ended;
            child = *c == ' ' ? 0 : child * 10 + (*c - '0');
        }
    if (fd >= 0)
        PCT_SYS1(SYS_close, fd);
    return any;
}

bool pct_signal_may_come(void)
{
    bool handles = false, may = false;
    int ended;
    for (int signal = 1; signal <= PCT_SIGNALS && !handles; signal++)
        handles = pct_action_handles(signal);
    if (!handles || !has_children(P_ALL, 0, &ended))
        return false;
    /* One that has ended has sent its signal; but others may live. */
    for (uint32_t id = 0; ended && !may && id < pct_sched_threads(&pct_S); id++)
        may = pct_shim.slots[id].core.state != PCT_STATE_FINISHED && has_living(pct_shim.slots[id].tid);
    return may || !ended;
}

void pct_action_reset(int signal)
{
    const struct sigaction standard = { .sa_handler = SIG_DFL };
    if (actions)
        actions[signal] = (struct pct_action){ 0 };
    if (pct_signal_is_crash(signal))
        set_crash(signal, NULL);
    else
        REAL(sigaction)(signal, &standard, NULL);
}

/* A child between vfork and exec has signals of its own, but our memory; strategy none leaves signals alone. */
static bool passes(void)
{
    /* A run that has not begun begins here: no handler of the target runs before. */
    return !pct_running() || pct_shim.mode != PCT_MODE_CONTROLLED || !pct_is_process(pct_shim.pid);
}

/* What the target is to see of an action that the kernel has. */
static struct sigaction as_set(int signal, const struct sigaction *kernel)
{
    struct sigaction action = *kernel;
    if (kernel->sa_sigaction == pct_signal_crashed)
        return (struct sigaction){ .sa_handler = SIG_DFL };
    if (kernel->sa_sigaction != pct_signal_arrive)
        return action;
    action.sa_sigaction = actions[signal].handler;
    action.sa_flags = (kernel->sa_flags & ~OUR_FLAGS) | (actions[signal].flags & OUR_FLAGS);
    *(uint64_t *)&action.sa_mask &= PCT_SIGNALS_ALL; /* libc hands no such bit over */
    *(uint64_t *)&action.sa_mask |= actions[signal].masks_trap ? pct_signal_bit(SIGTRAP) : 0;
    return action;
}

static bool have_actions(void)
{
    if (!actions)
        actions = pct_map((PCT_SIGNALS + 1) * sizeof *actions);
    return actions;
}

/* Whether it was in the mask. */
static bool take_trap(struct sigaction *kernel)
{
    uint64_t *mask = (uint64_t *)&kernel->sa_mask;
    const bool was = *mask & pct_signal_bit(SIGTRAP);
    *mask &= ~pct_signal_bit(SIGTRAP);
    return was;
}

void pct_action_trap(void)
{
    struct sigaction now, ours = with_mask(SIGTRAP, crash());
    for (int signal = 1; actions && signal <= PCT_SIGNALS; signal++)
        if (!REAL(sigaction)(signal, NULL, &now) && now.sa_sigaction == pct_signal_arrive && take_trap(&now)) {
            actions[signal].masks_trap = true;
            REAL(sigaction)(signal, &now, NULL);
        }
    if (REAL(sigaction)(SIGTRAP, NULL, &now) || now.sa_sigaction == pct_signal_arrive)
        return;
    if (now.sa_handler == SIG_IGN && have_actions()) {
        actions[SIGTRAP] = (struct pct_action){ now.sa_sigaction, now.sa_flags, false };
        ours.sa_sigaction = pct_signal_arrive;
    }
    ours.sa_flags &= ~SA_ONSTACK;
    REAL(sigaction)(SIGTRAP, &ours, NULL);
}

PCT_EXPORT int sigaction(int signal, const struct sigaction *restrict new, struct sigaction *restrict old)
{
    struct sigaction kernel, before;
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    if (passes() || !new) {
        bool standard = new &&new->sa_handler == SIG_DFL &&pct_sched_is_on(&pct_S) && pct_signal_is_crash(signal);
        int failed = standard ? set_crash(signal, &before) : REAL(sigaction)(signal, new, &before);
        if (!failed && old)
            *old = as_set(signal, &before);
        return failed;
    }
    if (!have_actions()) {
        errno = ENOMEM;
        return -1;
    }
    kernel = *new;
    struct pct_action action = { kernel.sa_sigaction, kernel.sa_flags, pct_traps && take_trap(&kernel) };
    bool handler = kernel.sa_handler != SIG_DFL && (kernel.sa_handler != SIG_IGN || (signal == SIGTRAP && pct_traps));
    if (handler) {
        kernel.sa_sigaction = pct_signal_arrive;
        kernel.sa_flags = (kernel.sa_flags | SA_SIGINFO) & ~(int)SA_RESETHAND;
        kernel = with_mask(signal, kernel);
    } else if (kernel.sa_handler == SIG_DFL && pct_signal_is_crash(signal)) {
        kernel = with_mask(signal, crash());
    }
    /* Ours is not to run between the two; but that of a call that a host traps does. */
    const uint64_t trap = pct_host_is_on() ? UINT64_C(1) << (SIGSYS - 1) : 0;
    uint64_t mask = pct_signal_mask(SIG_SETMASK, ~trap);
    int failed = REAL(sigaction)(signal, &kernel, &before);
    struct sigaction was = before;
    if (!failed) {
        was = as_set(signal, &before);
        actions[signal] = action;
    }
    int error = errno;
    pct_signal_mask(SIG_SETMASK, mask);
    pct_signal_let_in(pct_self);
    errno = error;
    const struct pct_shim_thread *self = pct_holder();
    if (!failed && self)
        pct_order_world(self, PCT_RELEASES); /* to the handler, in whatever thread */
    if (!failed && old)
        *old = was;
    return failed;
}

/* The relatives: each is sigaction() with its own flags. */

static __sighandler_t set(int number, __sighandler_t handler, int flags, bool masked)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags }, old;
    if (handler == SIG_ERR || number < 1 || number > PCT_SIGNALS) {
        errno = EINVAL;
        return SIG_ERR;
    }
    if (masked)
        *(uint64_t *)&action.sa_mask = pct_signal_bit(number);
    return sigaction(number, &action, &old) ? SIG_ERR : old.sa_handler;
}

PCT_EXPORT __sighandler_t signal(int number, __sighandler_t handler)
{
    return set(number, handler, interrupting & pct_signal_bit(number) ? 0 : SA_RESTART, true);
}

PCT_EXPORT __sighandler_t bsd_signal(int number, __sighandler_t handler)
{
    return signal(number, handler);
}

PCT_EXPORT __sighandler_t ssignal(int number, __sighandler_t handler)
{
    return signal(number, handler);
}

PCT_EXPORT __sighandler_t __sysv_signal(int number, __sighandler_t handler)
{
    return set(number, handler, (int)SA_RESETHAND | SA_NODEFER, false);
}

PCT_EXPORT __sighandler_t sysv_signal(int number, __sighandler_t handler)
{
    return __sysv_signal(number, handler);
}

PCT_EXPORT int sigignore(int number)
{
    struct sigaction action = { .sa_handler = SIG_IGN };
    return sigaction(number, &action, NULL);
}

PCT_EXPORT int siginterrupt(int number, int interrupt)
{
    struct sigaction action;
    if (sigaction(number, NULL, &action))
        return -1;
    if (interrupt) {
        interrupting |= pct_signal_bit(number);
        action.sa_flags &= ~SA_RESTART;
    } else {
        interrupting &= ~pct_signal_bit(number);
        action.sa_flags |= SA_RESTART;
    }
    return sigaction(number, &action, NULL);
}

/* Sets the handler and lets the signal in; or, for SIG_HOLD, blocks it. */
PCT_EXPORT __sighandler_t sigset(int number, __sighandler_t handler)
{
    sigset_t one;
    struct sigaction old;
    if (handler == SIG_ERR || number < 1 || number > PCT_SIGNALS) {
        errno = EINVAL;
        return SIG_ERR;
    }
    sigemptyset(&one);
    *(uint64_t *)&one = pct_signal_bit(number);
    if (handler == SIG_HOLD) {
        sigset_t before;
        if (sigprocmask(SIG_BLOCK, &one, &before))
            return SIG_ERR;
        if (pct_signal_bits(&before) & pct_signal_bit(number))
            return SIG_HOLD;
        return sigaction(number, NULL, &old) ? SIG_ERR : old.sa_handler;
    }
    const struct sigaction action = { .sa_handler = handler };
    sigset_t before;
    if (sigaction(number, &action, &old) || sigprocmask(SIG_UNBLOCK, &one, &before))
        return SIG_ERR;
    return pct_signal_bits(&before) & pct_signal_bit(number) ? SIG_HOLD : old.sa_handler;
}
