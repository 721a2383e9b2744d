/* Taking the baton from a thread that runs: by a signal, whose handler is a scheduling point.
 *
 * A thread that computes must keep the baton however long it takes: to preempt it at some point in real time would make
 * the schedule depend on the machine. One that spins on plain memory must not, and does not mind where in its loop it
 * is preempted. The handler tells them apart by what it finds when it interrupts the thread again and again. A spin is
 *     - the same few states (place, registers, top of the stack) over and over, and no new one: the loop computes
 *       nothing, so only what others write can end it; or
 *     - a PAUSE instruction near by, each time: the loop says so itself, even if it counts its rounds.
 * Where a few samples look like that, the thread goes through some rounds of its loop instruction by instruction
 * (rounds.h), which tells at once. Under a debugger, which has the traps, samples alone have to do.
 *
 * GLIBC: the signal is its SIGSETXID. Programs can neither block it nor ask for it, libc has a handler for it from the
 * second thread on, which ignores what libc did not send, and debuggers let it pass. Ours calls libc's, if there is one
 * yet. */
#include "preempt.h"
#include "lone.h"
#include "watchdog.h"
#include <pct/random.h>
#include <preload/core/kernel.h>
#include <preload/core/loader.h>
#include <preload/core/maps.h>
#include <preload/core/point.h>
#include <preload/core/real.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/memory/leave.h>
#include <preload/memory/memory.h>
#include <preload/memory/strings.h>
#include <preload/run/script.h>
#include <preload/signals/doorbell.h>
#include <preload/signals/signals.h>
#include <preload/thread/proc_task.h>
#include <preload/time/vtimer.h>
#include <string.h>
#include <ucontext.h>

#define SA_RESTORER 0x04000000ul /* of the kernel's headers, which <signal.h> does not go with */

enum {
    SIGNAL = PCT_TRACE_REQUEST_SIGNAL,
    PROOF = 4,           /* this many times in a row it came back to a state met before, or was beside a PAUSE */
    PROOF_SEVERAL = 12,  /* of states, where a place has more than one: a loop over several variables */
    SAMPLES = 128,       /* more than that without a proof: it computes */
    FRESH = 16,          /* so does what has shown this many states, and no PAUSE, and none of them twice */
    STATES_OF_PLACE = 8, /* so does what has more states at one place, or more than there is room for */
    LONG_NS = 100000000, /* ns of CPU time without a call: it may be waiting for a timer's signal */
    UNDISTURBED = 500000 /* ns of CPU time in which a thread that can go on has gone on */
};

/* As the kernel has it. */
struct action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static struct action libcs; /* before ours */
static struct pct_mapping own, libc, runtime;
static uintptr_t in_runtime; /* a place in libpct-tsan.so; 0: the program has none */

static enum { NOTHING, LOOK, LOOK_LONG, STOP } question; /* atomic; taken back by who answers */
static bool computes;
static uint32_t stopped; /* threads */

static struct pct_evidence *evidence; /* the watchdog's: NULL as long as there is none */

static bool is_among(const uint64_t *places, unsigned count, uint64_t rip)
{
    for (unsigned i = 0; i < PCT_SPIN_PLACES && i < count; i++)
        if (places[i] == rip)
            return true;
    return false;
}

static bool is_known(uint64_t rip)
{
    return is_among(evidence->known, evidence->known_count, rip);
}

static void learn_place(uint64_t rip)
{
    if (!is_known(rip))
        evidence->known[evidence->known_count++ % PCT_SPIN_PLACES] = rip;
}

static void learn(void)
{
    for (unsigned i = 0; i < evidence->samples.states; i++)
        learn_place(evidence->samples.seen[i].rip);
    if (evidence->rounds.found == PCT_ROUNDS_SPINS)
        learn_place(evidence->rounds.rip);
}

static bool in(const struct pct_mapping *mapping, uintptr_t pc)
{
    return pc >= mapping->from && pc < mapping->to;
}

bool pct_preempt_is_ours(uintptr_t pc)
{
    return in(&own, pc) && !pct_strings_has(pc);
}

bool pct_preempt_is_libcs(uintptr_t pc)
{
    return in(&libc, pc);
}

bool pct_preempt_is_inside(uintptr_t pc)
{
    return in(&libc, pc) || in(&own, pc) || in(&runtime, pc);
}

static bool beside_pause(uintptr_t rip)
{
    unsigned char code[24] = { 0 };
    pct_rounds_peek(code, rip - sizeof code / 2, sizeof code);
    for (unsigned i = 0; i + 1 < sizeof code; i++)
        if (code[i] == 0xf3 && code[i + 1] == 0x90)
            return true;
    return false;
}

/* What was seen of another step, or found to compute, says nothing of what comes. */
static void begin_samples(const struct pct_shim_thread *self)
{
    struct pct_samples *s = &evidence->samples;
    if (s->thread == self && s->step == pct_steps(&pct_S) && !computes)
        return;
    memset(s, 0, sizeof *s);
    s->thread = self;
    s->step = pct_steps(&pct_S);
    computes = false;
}

/* One more sample: is this a spin?
 *
 * To have left a state and come back proves that the thread goes round. One whose state is that of the sample before
 * may have been unable to go on: a sample costs it up to 0.1 ms in the kernel, and an access may wait for its page, in
 * the kernel or in the host of a virtual machine, while the next signal is on its way. So it is left alone then
 * (pct_preempt_pause()), and only what it comes back to after that counts: a loop may be of one instruction, to be met
 * there each time. */
static bool spins(const struct pct_shim_thread *self, const ucontext_t *context)
{
    struct pct_samples *s = &evidence->samples;
    uint64_t rip = (uint64_t)context->uc_mcontext.gregs[REG_RIP], state = pct_rounds_state(context);
    s->still = s->rip == rip && s->state == state;
    if (s->still && pct_task_cpu(self->tid) - s->left < UNDISTURBED)
        return false;
    s->count++;
    s->rip = rip;
    s->state = state;
    s->pauses = beside_pause(rip) ? s->pauses + 1 : 0;
    unsigned here = 0;
    bool met = false;
    for (unsigned i = 0; i < s->states; i++) {
        here += s->seen[i].rip == rip;
        met = met || (s->seen[i].rip == rip && s->seen[i].state == state);
    }
    if (met) {
        s->met_again++;
        s->returned = true;
    } else {
        /* A loop that counts may still say what it is. */
        computes = !s->pauses && (here == STATES_OF_PLACE || s->states == PCT_SPIN_STATES);
        s->met_again = 0;
        s->several = s->several || here;
        if (s->states < PCT_SPIN_STATES) {
            s->seen[s->states].rip = rip;
            s->seen[s->states++].state = state;
        }
    }
    if (s->count >= SAMPLES || (s->count >= FRESH && !s->returned && !s->pauses))
        computes = true;
    bool known = is_known(rip);
    return s->met_again >= (known ? 1 : s->several ? PROOF_SEVERAL : PROOF) || s->pauses >= (known ? 1 : PROOF);
}

static bool rounds_are_of(const struct pct_shim_thread *self)
{
    return evidence->rounds.thread == self && evidence->rounds.step == pct_steps(&pct_S);
}

/* Whether it was seen to go round, and is still there. */
static bool goes_round(const struct pct_shim_thread *self, const ucontext_t *context)
{
    const struct pct_rounds *rounds = &evidence->rounds;
    uint64_t rip = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    evidence->samples.still = false;
    return rounds->found == PCT_ROUNDS_SPINS && rounds_are_of(self) && rip >= rounds->from && rip <= rounds->to;
}

/* Whether a few rounds are worth a look, once in each step: most threads that compute never come here. */
static bool looks_like_spin(void)
{
    const struct pct_samples *s = &evidence->samples;
    return !rounds_are_of(s->thread) && !computes && (s->still || s->met_again || s->pauses);
}

static void mask(int how)
{
    pct_signal_mask(how, UINT64_C(1) << (SIGNAL - 1));
}

/* The holder loses the baton at pc. why: PCT_ARG_SPINS and its like. */
static void take(struct pct_shim_thread *self, uint32_t why, uintptr_t pc)
{
    int error = errno;
    pct_watchdog_note(why == PCT_ARG_SPINS ? PCT_UNCONTROLLED_SPUN : PCT_UNCONTROLLED_RAN, self, -1, pc);
    if (why == PCT_ARG_SPINS)
        learn();
    memset(&evidence->samples, 0, sizeof evidence->samples);
    pct_sched_preempt(&pct_S, &self->core, why);
    mask(SIG_UNBLOCK); /* what runs here now, a signal's handler or what cleans up behind a thread, may spin itself */
    pct_after_resume(self);
    errno = error;
}

void pct_preempt_take(struct pct_shim_thread *self, uintptr_t pc)
{
    if (evidence && pct_sched_may_take(&pct_S, &self->core, PCT_ARG_SPINS))
        take(self, PCT_ARG_SPINS, pc);
}

/* Whether a thread that spins gives up the baton at an access, and not here. */
static bool leaves_at_access(struct pct_shim_thread *self, uint64_t rip)
{
    bool silent = is_among(evidence->silent, evidence->silent_count, rip);
    if (pct_leave_at_access(self, pct_task_cpu(self->tid) - evidence->samples.left, silent))
        return true;
    if (!silent && pct_shim.told)
        evidence->silent[evidence->silent_count++ % PCT_SPIN_PLACES] = rip;
    return false;
}

/* It was interrupted inside libc, which may have a lock, or our own code, where there may be no scheduling point. It
 * will not be there for long; but strcmp() may be all that a loop does, or an access that we are told of. So it goes on
 * to where the program called that. False: it does not, but may be taken where it is. */
static bool go_out(struct pct_shim_thread *self, ucontext_t *context, bool long_run)
{
    if (!pct_signal_in_wrapper(self, context) && !pct_loader_is_held(self)) {
        /* One such sample is worth two: they all come out at a few places. */
        bool goes = pct_rounds_leave(&evidence->way, self, context, long_run);
        uintptr_t rip = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
        if (!goes && (pct_strings_has(rip) || in(&runtime, rip)))
            return false;
        computes = !goes;
    }
    computes = ++evidence->samples.count >= SAMPLES || computes;
    return true;
}

/* Whether it has computed for as long as a timer was to run whose signal may be all that it waits for: natively it
 * would have come by now. What is soon over is left alone. */
static bool awaits_timer(void)
{
    const uint64_t due = evidence->used < LONG_NS ? PCT_NEVER : pct_vtimer_alarm(), now = pct_sched_now(&pct_S);
    return due != PCT_NEVER && (due < now || due - now <= evidence->used);
}

/* The holder of the baton was interrupted here. Inside a wrapper it is no place for a scheduling point, nor while it
 * has the loader's lock. Code that tells of its memory accesses goes on to a certain one of them. */
static void look(struct pct_shim_thread *self, ucontext_t *context, bool long_run)
{
    uintptr_t rip = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    if (pct_rounds_go(&evidence->rounds, self, context) || pct_rounds_go(&evidence->way, self, context))
        return;
    begin_samples(self);
    if ((pct_preempt_is_inside(rip) || pct_loader_is_held(self)) && go_out(self, context, long_run))
        return;
    bool round = goes_round(self, context), spin = round || spins(self, context);
    if (!spin && looks_like_spin())
        pct_rounds_begin(&evidence->rounds, self, context, evidence->samples.state);
    const bool waits = round && pct_rounds_need_others(&evidence->rounds);
    const bool kept = pct_script_keeps(&self->core, waits, pct_task_cpu(self->tid), rip);
    const bool is_long = long_run || (!spin && awaits_timer());
    if (kept && (spin || !is_long)) /* a long run ends in a replay, too */
        return;
    /* A replay knows that it lost the baton here; but not at which access. */
    bool sure = spin || is_long || (pct_is_replay(&pct_S) && !pct_memory_view.active);
    if (!sure || !pct_sched_may_take(&pct_S, &self->core, PCT_ARG_SPINS))
        return;
    if (!spin || (round && !pct_rounds_tell(&evidence->rounds)) || !leaves_at_access(self, rip))
        take(self, spin ? PCT_ARG_SPINS : long_run ? PCT_ARG_RUNS : PCT_ARG_TIMER, rip);
}

static void stop(struct pct_shim_thread *self, const ucontext_t *context)
{
    static const int order[8] = { REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15, REG_RSP, REG_RIP };
    static const uint32_t never;
    for (int i = 0; self && i < 8; i++)
        self->regs[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
    __atomic_add_fetch(&stopped, 1, __ATOMIC_SEQ_CST);
    pct_futex_wake(&stopped, 1);
    for (;;)
        pct_futex_wait(&never, 0, NULL);
}

void pct_preempt_sample(struct pct_shim_thread *self, void *context, uint64_t used)
{
    evidence->used = used;
    look(self, context, used >= pct_sched_patience(&pct_S, &self->core));
    evidence->samples.left = pct_task_cpu(self->tid);
}

void pct_preempt_sample_confined(struct pct_shim_thread *self, const void *context, uint64_t used)
{
    const uintptr_t rip = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    evidence->used = used;
    if (!pct_preempt_is_inside(rip) && !pct_loader_is_held(self) && awaits_timer())
        take(self, PCT_ARG_TIMER, rip);
}

static void interrupted(int number, siginfo_t *info, void *context)
{
    if (pct_lone_sampled(info, context))
        return;
    if (info->si_code != SI_QUEUE || info->si_value.sival_ptr != &question) {
        /* The `pct` command wants the watchdog's final report. */
        if (info->si_code == SI_QUEUE && __atomic_load_n(&pct_shim.header->request, __ATOMIC_RELAXED))
            pct_watchdog_start();
        else
            libcs.handler(number, info, context);
        return;
    }
    struct pct_shim_thread *self = pct_self;
    unsigned asked = __atomic_exchange_n(&question, NOTHING, __ATOMIC_SEQ_CST);
    if (asked == STOP && (pct_sched_is_turning(&pct_S) || pct_shim.ended))
        return; /* perhaps this thread turns a block, or closes the trace: half of that is no trace. It is asked again
                 */
    if (asked == STOP)
        stop(self, context);
    else if (asked != NOTHING && self && pct_sched_holds(&pct_S, &self->core)) {
        look(self, context, asked == LOOK_LONG);
        evidence->samples.left = pct_task_cpu(self->tid);
    }
}

static void ask(const struct pct_shim_thread *thread, unsigned what)
{
    siginfo_t info = { .si_signo = SIGNAL, .si_code = SI_QUEUE };
    info.si_value.sival_ptr = &question;
    pct_bell_begin();
    __atomic_store_n(&question, what, __ATOMIC_SEQ_CST);
    /* In this order: see pct_preempt_settle(). The user may have as many signals pending as it may: the next look asks
     * again. */
    if ((what != STOP && pct_sched_holder(&pct_S) != &thread->core) ||
        __atomic_load_n(&thread->execs, __ATOMIC_SEQ_CST) ||
        PCT_SYS4(SYS_rt_tgsigqueueinfo, PCT_SYS0(SYS_getpid), thread->tid, SIGNAL, &info))
        __atomic_store_n(&question, NOTHING, __ATOMIC_SEQ_CST);
    pct_bell_end();
}

void pct_preempt_ask(const struct pct_shim_thread *thread, uint64_t used)
{
    /* One that was asked just as it lost the baton, inside the handler, answers when it has the baton again. */
    if (!libcs.handler || (__atomic_load_n(&question, __ATOMIC_SEQ_CST) != NOTHING && evidence->asked == thread))
        return;
    evidence->asked = thread;
    evidence->used = used;
    ask(thread, used >= pct_sched_patience(&pct_S, &thread->core) ? LOOK_LONG : LOOK);
}

void pct_preempt_ask_here(const struct pct_shim_thread *self, bool long_run)
{
    mask(SIG_BLOCK);
    ask(self, long_run ? LOOK_LONG : LOOK);
}

void pct_preempt_settle(const struct pct_shim_thread *self)
{
    enum { MOST = 1000 }; /* who has blocked the signal, by a system call of its own, is not asked now */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (int left = MOST; left && evidence && evidence->asked == self; left--) {
        unsigned asked = __atomic_load_n(&question, __ATOMIC_SEQ_CST);
        if (asked == NOTHING || asked == STOP)
            return;
        PCT_SYS0(SYS_sched_yield);
    }
}

static bool goes_on(const struct pct_rounds *rounds, const struct pct_shim_thread *thread)
{
    return rounds->thread == thread && rounds->found == PCT_ROUNDS_GOES;
}

uint64_t pct_preempt_pause(const struct pct_shim_thread *thread)
{
    /* Instruction by instruction it comes to an end by itself, and is asked there. */
    if (goes_on(&evidence->rounds, thread) || goes_on(&evidence->way, thread))
        return UNDISTURBED;
    /* More than UNDISTURBED: what the signal itself costs comes on top. */
    bool found = rounds_are_of(thread) && evidence->rounds.found != PCT_ROUNDS_OPEN; /* without that */
    bool still = evidence->samples.thread == thread && evidence->samples.still && !found;
    /* On its way to an access it is to get somewhere, however long a question holds it up. */
    uint64_t way = UNDISTURBED / 8 * (uint64_t)pct_leave_ignored(thread), rest = still ? UNDISTURBED * 5 / 4 : 0;
    return way > rest ? way : rest;
}

bool pct_preempt_computes(void)
{
    return computes;
}

void pct_preempt_stop(const struct pct_shim_thread *thread, int tasks)
{
    const struct timespec patience = { .tv_nsec = 2000000 };
    uint32_t before = __atomic_load_n(&stopped, __ATOMIC_SEQ_CST);
    struct pct_task task = { .state = 'R' };
    char text[PCT_TASK_TEXT];
    if (!libcs.handler)
        return;
    __atomic_store_n(&question, NOTHING, __ATOMIC_SEQ_CST);
    /* One that waits for a CPU may have to wait for long, and then goes on writing the trace. */
    while (task.state == 'R' && __atomic_load_n(&stopped, __ATOMIC_SEQ_CST) == before && !pct_shim.ended) {
        if (__atomic_load_n(&question, __ATOMIC_SEQ_CST) == NOTHING)
            ask(thread, STOP);
        pct_futex_wait(&stopped, before, &patience);
        if (!pct_task_read(tasks, thread->tid, &task, text))
            return;
    }
}

/* With the baton: the loader's lists do not change meanwhile. */
static void find_runtime(void)
{
    const struct link_map *object;
    const Elf64_Sym *symbol = in_runtime ? NULL : pct_real_symbol("pct_tsan_access_1", &object);
    if (symbol)
        in_runtime = object->l_addr + symbol->st_value;
}

static bool locate(void)
{
    bool found = libc.to || (pct_maps_find((const void *)pct_preempt_start, &own, NULL, 0) &&
                             pct_maps_find((const void *)REAL(pthread_create), &libc, NULL, 0));
    return found && (!in_runtime || runtime.to || pct_maps_find((const void *)in_runtime, &runtime, NULL, 0));
}

bool pct_preempt_locate(void)
{
    find_runtime();
    return locate();
}

bool pct_preempt_start(struct pct_evidence *memory)
{
    memset(memory, 0, sizeof *memory);
    evidence = memory;
    return locate();
}

static void ignore(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
}

/* The kernel ends a handler by a restorer, which libc gives to each. */
static bool stand_in(struct action *action)
{
    for (int number = 1; number < SIGNAL; number++)
        if (!PCT_SYS4(SYS_rt_sigaction, number, NULL, action, sizeof action->mask) && action->restorer) {
            action->handler = ignore;
            action->flags = (action->flags & SA_RESTORER) | SA_SIGINFO | SA_RESTART;
            return true;
        }
    return false;
}

bool pct_preempt_listen(bool alone)
{
    struct action now, ours;
    question = NOTHING; /* a fork child has what its parent was asked last */
    computes = false;
    find_runtime();
    if (PCT_SYS4(SYS_rt_sigaction, SIGNAL, NULL, &now, sizeof now.mask) ||
        ((!now.handler || !now.restorer) && !(alone && stand_in(&now))))
        return false;
    if (now.handler == interrupted)
        return true;
    ours = libcs = now;
    ours.handler = interrupted;
    ours.mask = 0;
    /* On the thread's own stack: it may stay there for long, and another one may be needed meanwhile. */
    ours.flags &= ~(unsigned long)SA_ONSTACK;
    PCT_SYS4(SYS_rt_sigaction, SIGNAL, &ours, NULL, sizeof ours.mask);
    return true;
}
