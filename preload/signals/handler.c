/* Signals that arrive: the one handler that the kernel has for all that the target handles. See signals.h for the
 * rules.
 *
 * Runs on any thread, between any two instructions; what it shares with the interrupted thread are single words. */
#include "doorbell.h"
#include "signals.h"
#include "trap.h"
#include <preload/core/host.h>
#include <preload/core/pass.h>
#include <preload/core/real.h>
#include <preload/memory/watch.h>
#include <preload/patch/patch.h>
#include <preload/run/end.h>
#include <preload/time/vtimer.h>
#include <preload/watchdog/preempt.h>
#include <preload/watchdog/rounds.h>
#include <ucontext.h>

enum { SECCOMP_TRAP = 1 /* SYS_SECCOMP of the kernel */ };

/* The image of this library, by the linker. */
extern const char image_start[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern const char image_end[] __asm__("_end") __attribute__((visibility("hidden")));

static bool in_image(const ucontext_t *context)
{
    uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    return pc >= (uintptr_t)image_start && pc < (uintptr_t)image_end;
}

bool pct_signal_in_wrapper(const struct pct_shim_thread *self, const ucontext_t *context)
{
    return self->inside && (uintptr_t)context->uc_mcontext.gregs[REG_RSP] <= (uintptr_t)self->inside;
}

bool pct_signal_in_shim(const struct pct_shim_thread *self, const ucontext_t *context)
{
    return in_image(context) || pct_signal_in_wrapper(self, context);
}

static bool is_fault(int signal, const siginfo_t *info)
{
    return info->si_code > 0 && pct_signal_is_crash(signal);
}

/* A thread of this process has sent it. */
static bool is_ours(const siginfo_t *info)
{
    /* In virtual time, the kernel has no timers of the target's but those that count CPU time. */
    if (info->si_code == SI_TIMER)
        return info->si_timerid >= PCT_TIMER_FIRST_ID ||
               (info->si_timerid == PCT_ITIMER_ID && info->si_signo == SIGALRM);
    if (info->si_signo == SIGALRM && info->si_code == SI_KERNEL)
        return pct_sched_step_ns(&pct_S);
    /* What the kernel itself sends to a thread for what it does, like SIGPIPE, looks as if the thread had sent it. */
    return info->si_code <= 0 && info->si_pid == (int)PCT_SYS0(SYS_getpid);
}

bool pct_signal_is_foreign(const siginfo_t *info)
{
    return !is_ours(info);
}

static bool is_controlled(const struct pct_shim_thread *self)
{
    return self && pct_sched_is_on(&pct_S) && !pct_shim.ended && pct_shim.mode == PCT_MODE_CONTROLLED &&
           self->core.state != PCT_STATE_FINISHED && pct_is_process(pct_shim.pid);
}

/* On an alternate stack, where frames say nothing, always. */
bool pct_signal_is_handling(const struct pct_shim_thread *self)
{
    return self->handles &&
           ((const void *)__builtin_frame_address(0) <= self->handles || pct_signal_on_alternate_stack());
}

/* Inline: handlers may have small stacks. */
__attribute__((always_inline)) static inline void run(int signal, siginfo_t *info, void *context)
{
    struct pct_action action = pct_action_of(signal);
    if (action.flags & (int)SA_RESETHAND)
        pct_action_reset(signal);
    struct pct_shim_thread *self = pct_self;
    bool restart = self && self->restart && action.flags & SA_RESTART;
    pct_timer_taken(info);
    const bool blocked = self && pct_trap_show(self, context);
    const void *outer = self ? self->handles : NULL;
    if (self && !pct_signal_is_handling(self))
        self->handles = __builtin_frame_address(0);
    action.handler(signal, info, context);
    if (self) { /* only now: waits of the handler's own have changed both */
        if (!blocked)
            pct_trap_hide(self, context);
        self->handles = outer;
        self->restart = restart;
        self->handled = signal;
    }
}

/* With the baton, at a scheduling point. */
static void run_on_turn(struct pct_shim_thread *self, int signal, siginfo_t *info, void *context)
{
    const void *inside = self->inside;
    int error = errno;
    if (!is_ours(info))
        pct_uncontrolled(PCT_UNCONTROLLED_SIGNAL);
    pct_here(self, PCT_OP_SIGNAL_HANDLE);
    pct_done(self, PCT_OP_SIGNAL_HANDLE, (uint32_t)signal, NULL);
    errno = error;
    self->inside = NULL;
    run(signal, info, context);
    self->inside = inside;
    /* The wrapper that was interrupted has passed its point already: there must be room for what it records. */
    if (pct_is_full(&pct_S) && pct_sched_holds(&pct_S, &self->core))
        pct_sched_make_room(&pct_S, &self->core);
}

/* Block the signal in the interrupted thread and send it on to itself. Those that queue up behind it stay behind it.
 * Not inline: what it has on the stack shall not lie below each handler of the target's. */
__attribute__((noinline)) static void put_off(struct pct_shim_thread *self, int signal, siginfo_t *info,
                                              ucontext_t *context)
{
    enum { MORE = 8 };
    uint64_t bit = pct_signal_bit(signal);
    const struct timespec none = { 0 };
    siginfo_t more[MORE];
    int count = 0;
    pct_signal_mask(SIG_BLOCK, bit);
    while (signal >= PCT_SIGNAL_QUEUED && count < MORE &&
           PCT_SYS4(SYS_rt_sigtimedwait, &bit, &more[count], &none, PCT_SIGSET_SIZE) == signal)
        count++;
    pct_signal_queue(self, info);
    for (int i = 0; i < count; i++)
        pct_signal_queue(self, &more[i]);
    *(uint64_t *)&context->uc_sigmask |= bit;
    __atomic_fetch_or(&self->held, bit, __ATOMIC_SEQ_CST);
    pct_sched_call(&self->core, true);
}

bool pct_signal_is_call(const unsigned char *code)
{
    return code[0] == 0x0f && code[1] == 0x05;
}

bool pct_signal_may_trap(const unsigned char *code, const ucontext_t *context)
{
    if (!pct_signal_is_call(code))
        return true;
    switch (context->uc_mcontext.gregs[REG_RAX]) {
    case SYS_rt_sigaction:
    case SYS_rt_sigprocmask:
    case SYS_rt_sigreturn:
    case SYS_fork:
    case SYS_vfork:
    case SYS_clone:
    case SYS_clone3:
    case SYS_execve:
    case SYS_execveat:
        return false;
    default:
        return true;
    }
}

/* Whether a thread in libpct.so may be led on by one more instruction. */
static bool may_step(const ucontext_t *context)
{
    return pct_signal_may_trap((const unsigned char *)context->uc_mcontext.gregs[REG_RIP], context);
}

bool pct_signal_trap(ucontext_t *context, uint64_t *blocked)
{
    struct sigaction trap;
    uint64_t *mask = (uint64_t *)&context->uc_sigmask;
    /* The kernel would kill for a trap that is ignored, or handled by nobody. */
    if (REAL(sigaction)(SIGTRAP, NULL, &trap) || trap.sa_handler == SIG_IGN || trap.sa_handler == SIG_DFL)
        return false;
    context->uc_mcontext.gregs[REG_EFL] |= PCT_TRAP_FLAG;
    *blocked = *mask & pct_signal_bit(SIGTRAP);
    *mask &= ~pct_signal_bit(SIGTRAP);
    return true;
}

void pct_signal_trap_end(ucontext_t *context, uint64_t blocked)
{
    context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)PCT_TRAP_FLAG;
    *(uint64_t *)&context->uc_sigmask |= blocked;
}

bool pct_signal_is_trapping(const ucontext_t *context)
{
    return context->uc_mcontext.gregs[REG_EFL] & PCT_TRAP_FLAG;
}

/* It was interrupted in the few instructions of a wrapper that nothing comes after: there is nobody to let the signal
 * in. So execute them one by one, and let it in when they are done. Not inline, as put_off(). */
__attribute__((noinline)) static void step(struct pct_shim_thread *self, ucontext_t *context)
{
    /* A second one, perhaps in the handler of the trap, is let in together with the first. Where there is no trap, the
     * signal waits for the next scheduling point. */
    if (!self->stepping)
        self->stepping = (!in_image(context) || may_step(context)) && pct_signal_trap(context, &self->trap_blocked);
}

/* What was put off is let in now, by the caller. */
static uint64_t take_held(struct pct_shim_thread *self)
{
    const uint64_t held = __atomic_exchange_n(&self->held, 0, __ATOMIC_SEQ_CST);
    if (held)
        pct_sched_call(&self->core, self->sent != NULL);
    return held;
}

static bool stepped(struct pct_shim_thread *self, int signal, const siginfo_t *info, ucontext_t *context)
{
    if (!self || !self->stepping || signal != SIGTRAP || info->si_code != TRAP_TRACE)
        return false;
    const bool wrapped = in_image(context) && !self->inside, ends = !wrapped || !may_step(context);
    if (!ends)
        return true;
    self->stepping = false;
    if (wrapped && self->rounds)
        return false; /* these end here, too */
    if (!wrapped && !self->inside)
        *(uint64_t *)&context->uc_sigmask &= ~take_held(self);
    if (!self->rounds) /* these are not at their end */
        pct_signal_trap_end(context, self->trap_blocked);
    return true;
}

void pct_signal_let_in(struct pct_shim_thread *self)
{
    const uint64_t held = self ? take_held(self) : 0;
    if (held)
        pct_signal_mask(SIG_UNBLOCK, held);
}

/* Of our own making. */
static bool trapped(struct pct_shim_thread *self, int signal, const siginfo_t *info, ucontext_t *context)
{
    return stepped(self, signal, info, context) || pct_rounds_trapped(signal, info, context) ||
           pct_watch_trapped(signal, info, context) || pct_patch_trapped(signal, info, context) ||
           pct_trap_sent(signal, info, context);
}

/* It waits outside: come back for the baton, run the handler (or, signal 0, what has been put off), and go there again.
 * But from a wait for signals it is back for good: that has ended by now, or ends at once when it begins. */
static void visit(struct pct_shim_thread *self, int signal, siginfo_t *info, void *context)
{
    struct timespec *limit = pct_signal_waits_outside(&self->core) ? self->limit : NULL;
    struct pct_wait wait = self->core.wait;
    bool recall = pct_recall_pause(self);
    int error = errno;
    __pthread_unwind_buf_t *unwind = self->unwind;
    self->away = false;
    self->unwind = NULL;
    if (unwind)
        __pthread_unregister_cancel(unwind);
    pct_sched_return(&pct_S, &self->core);
    errno = error;
    if (signal)
        run_on_turn(self, signal, info, context);
    error = errno;
    pct_signal_deliver(self);
    if (unwind)
        __pthread_register_cancel(unwind);
    self->unwind = unwind;
    if (limit) {
        *limit = (struct timespec){ 0 };
        self->back = true;
    } else {
        enum pct_op op = self->core.wait.op;
        pct_sched_leave(&pct_S, &self->core, op, NULL, wait.deadline, wait.kin);
        pct_preempt_settle(self);
        pct_recall_go_on(self, recall);
        self->away = true;
    }
    errno = error;
}

void pct_signal_away(struct pct_shim_thread *self)
{
    pct_preempt_settle(self);
    self->away = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    while (self->away && (__atomic_load_n(&self->held, __ATOMIC_SEQ_CST) || self->sent))
        visit(self, 0, NULL, NULL);
}

bool pct_signal_on_alternate_stack(void)
{
    stack_t now = { .ss_flags = 0 };
    return !PCT_SYS2(SYS_sigaltstack, NULL, &now) && now.ss_flags & SS_ONSTACK;
}

/* What a signal tells that the kernel had no room for: it comes as that of nobody. */
static void recall(struct pct_shim_thread *self, siginfo_t *info)
{
    if (!self->delivers || info->si_code != SI_USER || info->si_pid || info->si_signo != self->delivers->si_signo)
        return;
    *info = *self->delivers;
    self->delivers = NULL;
}

/* These three come last in pct_signal_arrive(), whose own frame then is gone: handlers may have small stacks. */
__attribute__((noinline)) static void run_off_turn(int signal, siginfo_t *info, void *context)
{
    run(signal, info, context);
}

__attribute__((noinline)) static void run_let_in(struct pct_shim_thread *self, int signal, siginfo_t *info,
                                                 void *context)
{
    const struct pct_masked masked = self->masked;
    uint64_t *mask = (uint64_t *)&((ucontext_t *)context)->uc_sigmask;
    const bool ends = masked.is && (*mask & ~self->held) == masked.during;
    self->masked.is = false; /* the handler may wait, too, or jump */
    self->turn = false;
    recall(self, info);
    if (ends)
        *mask = masked.before;
    run_on_turn(self, signal, info, context);
    self->turn = true;
    self->masked = masked;
    if (ends)
        __atomic_fetch_and(&self->held, ~masked.before, __ATOMIC_SEQ_CST);
}

/* In the target's own code. */
__attribute__((noinline)) static void run_here(struct pct_shim_thread *self, int signal, siginfo_t *info, void *context)
{
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    const struct pct_pin outer = self->pin;
    self->pin = (struct pct_pin){ .frame = __builtin_frame_address(0),
                                  .context = context,
                                  .pc = (uint64_t)registers[REG_RIP],
                                  .sp = (uint64_t)registers[REG_RSP],
                                  .alternate = pct_signal_on_alternate_stack() };
    struct pct_thread *pinned = pct_sched_pin(&pct_S, &self->core);
    run_on_turn(self, signal, info, context);
    self->pin = outer;
    if (pct_sched_is_pinned(&pct_S, &self->core) && pinned != &self->core)
        pct_sched_unpin(&pct_S, NULL);
}

/* Nobody tells of a jump. But then the stack has shrunk beyond the frame of what called the handler, or libc; and if it
 * has grown again, what the kernel or the call saved there is overwritten. */
void pct_signal_unpin(struct pct_shim_thread *self)
{
    const struct pct_pin *pin = &self->pin;
    const void *frame = self->inside ? self->inside : __builtin_frame_address(0);
    bool there = pin->alternate ? pct_signal_on_alternate_stack() : frame <= pin->frame;
    if (there && pin->context) {
        const greg_t *registers = ((const ucontext_t *)pin->context)->uc_mcontext.gregs;
        there = (uint64_t)registers[REG_RIP] == pin->pc && (uint64_t)registers[REG_RSP] == pin->sp;
    } else if (there) {
        there = *(const uint64_t *)pin->sp == pin->pc;
    }
    if (!there)
        pct_sched_unpin(&pct_S, NULL);
}

/* In patched code the handler is told of the instruction as the program has it: also by the address of a fault that is
 * the instruction's own, such as a division by zero. */
static void translate(int signal, siginfo_t *info, ucontext_t *context)
{
    const void *pc = (const void *)context->uc_mcontext.gregs[REG_RIP];
    pct_patch_translate(context);
    if ((signal == SIGFPE || signal == SIGILL) && is_fault(signal, info) && info->si_addr == pc)
        info->si_addr = (void *)context->uc_mcontext.gregs[REG_RIP];
}

void pct_signal_arrive(int signal, siginfo_t *info, void *context)
{
    struct pct_shim_thread *self = pct_self;
    pct_host_mask_uncertain();
    if (trapped(self, signal, info, context))
        return;
    if (signal == SIGTRAP) /* blocked for us: disposition.c. The target's may take long */
        pct_signal_mask(SIG_UNBLOCK, PCT_SIGNAL_SETXID);
    pct_rounds_end(self, context);
    if (pct_action_of(signal).handler ==
        (void *)SIG_IGN) { /* of SIGTRAP, in the target's eyes: the kernel kills for faults only */
        if (is_fault(signal, info))
            pct_signal_crashed(signal, info, context);
        return;
    }
    translate(signal, info, context);
    if (!is_controlled(self) || is_fault(signal, info)) {
        run_off_turn(signal, info, context);
        return;
    }
    if (self->turn && pct_enter()) {
        run_let_in(self, signal, info, context);
        return;
    }
    if (self->away) {
        visit(self, signal, info, context);
        return;
    }
    bool wrapped = pct_signal_in_wrapper(self, context);
    /* It holds the baton; or the watchdog has taken it, and it comes back for it first. */
    if (!wrapped && !in_image(context) && pct_enter()) {
        run_here(self, signal, info, context);
        return;
    }
    bool baton = pct_sched_holds(&pct_S, &self->core);
    put_off(self, signal, info, context);
    if (!baton || !wrapped)
        pct_sched_attention(&pct_S);
    /* In the handler of a trap of rounds, it comes as soon as that returns. */
    if (baton && !wrapped && !self->rounds)
        step(self, context);
}

void pct_signal_open(struct pct_shim_thread *self)
{
    self->turn = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void pct_signal_close(struct pct_shim_thread *self)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->turn = false;
}

/* It arrives before this returns. */
static void deliver_sent(struct pct_shim_thread *self, const siginfo_t *info)
{
    const siginfo_t *outer = self->delivers;
    self->delivers = info;
    pct_signal_queue(self, info);
    self->delivers = outer;
}

void pct_signal_deliver(struct pct_shim_thread *self)
{
    const void *inside = self->inside;
    int error = errno;
    struct pct_sent entry;
    for (;;) {
        pct_sched_call(&self->core, false);
        uint64_t held = __atomic_exchange_n(&self->held, 0, __ATOMIC_SEQ_CST);
        bool sent = !held && pct_sent_take(self, &entry);
        if (!held && !sent)
            break;
        if (sent && pct_sent_passes(self, &entry))
            continue;
        self->inside = NULL;
        pct_signal_open(self);
        if (held)
            pct_signal_mask(SIG_UNBLOCK, held);
        else
            deliver_sent(self, &entry.info);
        pct_signal_close(self);
        self->inside = inside;
    }
    errno = error;
}

void pct_signal_restore(struct pct_shim_thread *self, uint64_t mask)
{
    pct_signal_mask(SIG_SETMASK, mask);
    __atomic_fetch_and(&self->held, ~mask, __ATOMIC_SEQ_CST);
}

bool pct_signal_mask_begin(struct pct_shim_thread *self, uint64_t mask, struct pct_masked *outer)
{
    const uint64_t never = pct_signal_bit(SIGKILL) | pct_signal_bit(SIGSTOP);
    *outer = self->masked;
    self->masked = (struct pct_masked){ .during = pct_trap_without(mask) & ~never,
                                        .before = pct_signal_blocked(self),
                                        .is = true };
    self->handled = 0;
    pct_signal_open(self);
    take_held(self); /* this mask, and at the end that before, let them in */
    pct_signal_mask(SIG_SETMASK, self->masked.during);
    pct_signal_close(self);
    if (pct_signal_waits(self))
        pct_signal_deliver(self);
    return self->handled;
}

void pct_signal_mask_end(struct pct_shim_thread *self, const struct pct_masked *outer)
{
    const uint64_t before = self->masked.before;
    self->masked = *outer;
    pct_signal_restore(self, before);
}

uint64_t pct_signal_retire(struct pct_shim_thread *self)
{
    for (;;) {
        uint64_t mask = pct_signal_mask(SIG_SETMASK, pct_trap_without(PCT_SIGNALS_ALL));
        if (!self->held && !self->sent)
            return mask;
        pct_signal_mask(SIG_SETMASK, mask);
        pct_signal_deliver(self);
    }
}

void pct_signal_crashed(int signal, siginfo_t *info, void *context)
{
    if (signal == SIGSYS && info->si_code == SECCOMP_TRAP) {
        if (pct_host_trapped(info->si_syscall, context))
            return;
        pct_host_leave(PCT_HOST_CALL, info->si_syscall);
    }
    pct_host_mask_uncertain();
    if (trapped(pct_self, signal, info, context))
        return;
    pct_patch_translate(context);
    /* So a process of a pipeline is told that nobody reads any more: where it has one thread, that is no failure. */
    if (signal != SIGPIPE || (pct_sched_is_on(&pct_S) && pct_sched_threads(&pct_S) > 1))
        pct_end_crash(signal, context);
    struct sigaction standard = { .sa_handler = SIG_DFL };
    REAL(sigaction)(signal, &standard, NULL);
    /* Again, now for good: the program dies of its own signal, with its own exit status and core. */
    PCT_SYS3(SYS_tgkill, PCT_SYS0(SYS_getpid), PCT_SYS0(SYS_gettid), signal);
}
