/* Going on instruction by instruction: rounds.h. The trap flag makes a SIGTRAP of each, whose handler looks where the
 * thread has come to (signals/handler.c: the kernel's action for SIGTRAP is ours in any case). */
#include "rounds.h"
#include "preempt.h"
#include "writes.h"
#include <pct/random.h>
#include <preload/core/kernel.h>
#include <preload/core/loader.h>
#include <preload/core/point.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/signals/signals.h>
#include <preload/thread/proc_task.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>

enum {
    MOST = 256,   /* instructions of the program's: each costs 2 us; in a virtual machine up to 15 */
    LOOP = 64,    /* of one round */
    INNER = 4096, /* of libc's and ours in all rounds, and repetitions of one instruction */
    WAY = 64,     /* on the way out of these; twice as many each time that was not enough, */
    REST = 16,    /* after this many times of the CPU time that it took */
    SAME = 4,     /* rounds that changed nothing are proof; half of that where they are long, by calls; */
    CHANGES = 2,  /* rounds that change something: the first may do what is not done again */
    PAUSES = 16,  /* so are as many that wait, whatever they count */
    TIGHT = 128,  /* bytes of code: nothing is called from there */
    ASKED = 256,  /* times, for each 0.5 ms of the thread's at least */
    RED_ZONE = 128,
    STACK = 640 /* bytes of it that are compared, the red zone among them */
};

void pct_rounds_peek(void *to, uintptr_t from, size_t size)
{
    struct iovec here = { to, size }, there = { (void *)from, size };
    PCT_SYS6(SYS_process_vm_readv, pct_any_tid(), &here, 1, &there, 1, 0);
}

uint64_t pct_rounds_state(const ucontext_t *context)
{
    struct {
        uint64_t registers[16];
        struct _libc_xmmreg vectors[16];
        char stack[STACK];
    } state;
    memset(&state, 0, sizeof state);
    for (int i = 0; i < 16; i++) /* REG_R8 to REG_RSP */
        state.registers[i] = (uint64_t)context->uc_mcontext.gregs[i];
    if (context->uc_mcontext.fpregs)
        memcpy(state.vectors, context->uc_mcontext.fpregs->_xmm, sizeof state.vectors);
    pct_rounds_peek(state.stack, (uintptr_t)context->uc_mcontext.gregs[REG_RSP] - RED_ZONE, STACK);
    return XXH3_64bits(&state, sizeof state);
}

/* Whether somebody traces this process, or nobody tells. */
static bool is_traced(void)
{
    static const char line[] = "\nTracerPid:\t0\n";
    char text[1024];
    long file = PCT_SYS3(SYS_open, "/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
    if (file < 0)
        return true;
    long length = PCT_SYS3(SYS_read, file, text, sizeof text);
    PCT_SYS1(SYS_close, file);
    for (long at = 0; at + (long)sizeof line - 1 <= length; at++)
        if (!memcmp(text + at, line, sizeof line - 1))
            return false;
    return true;
}

/* Whether the trap behind an instruction is still to come: not if the thread has left the frame that it was in from
 * libc's handler of a cancellation. Handlers of the target's end it: pct_rounds_end(). */
static bool is_under_way(const struct pct_shim_thread *self, const ucontext_t *context)
{
    return self->rounds &&
           (pct_signal_is_trapping(context) || (uint64_t)context->uc_mcontext.gregs[REG_RSP] < self->rounds_sp ||
            pct_signal_on_alternate_stack());
}

/* What is next; zeros, if that cannot be read. */
struct instruction {
    unsigned char code[PCT_WRITES_CODE];
};

static struct instruction next_of(const ucontext_t *context)
{
    struct instruction next = { { 0 } };
    const uintptr_t rip = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    if (pct_preempt_is_inside(rip) && pct_preempt_is_inside(rip + sizeof next.code)) /* no system call for each */
        memcpy(next.code, (const void *)rip, sizeof next.code);
    else
        pct_rounds_peek(next.code, rip, sizeof next.code);
    return next;
}

/* PUSHF keeps the trap flag for a later POPF, if nobody takes it from the stack again. */
static bool pushes_flags(struct instruction next)
{
    return next.code[next.code[0] == 0x66] == 0x9c;
}

/* False: a trap would kill. */
static bool go(struct pct_rounds *rounds, struct pct_shim_thread *self, ucontext_t *context)
{
    const struct instruction next = next_of(context);
    if (!pct_signal_may_trap(next.code, context) || !pct_signal_trap(context, &self->rounds_blocked))
        return false;
    self->rounds_pushed = pushes_flags(next);
    rounds->found = PCT_ROUNDS_GOES;
    self->rounds = rounds;
    self->rounds_sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    return true;
}

void pct_rounds_begin(struct pct_rounds *rounds, struct pct_shim_thread *self, ucontext_t *context, uint64_t state)
{
    uint64_t rip = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    *rounds = (struct pct_rounds){ .thread = self, .step = pct_steps(&pct_S), .found = PCT_ROUNDS_OPEN };
    rounds->rip = rounds->last = rounds->from = rounds->to = rip;
    rounds->state = state;
    if (!self->stepping && !is_under_way(self, context) && !pct_is_replay(&pct_S) && !is_traced())
        go(rounds, self, context);
}

static bool is_of(const struct pct_rounds *rounds, const struct pct_shim_thread *self)
{
    return rounds->thread == self && rounds->step == pct_steps(&pct_S);
}

bool pct_rounds_leave(struct pct_rounds *rounds, struct pct_shim_thread *self, ucontext_t *context, bool long_run)
{
    const bool again = is_of(rounds, self), far = again && rounds->found == PCT_ROUNDS_OPEN;
    const uint64_t now = pct_task_cpu(self->tid);
    if (far && now < rounds->rest)
        return false;
    const unsigned most = !again ? WAY : far && rounds->most < INNER ? 2 * rounds->most : rounds->most;
    *rounds = (struct pct_rounds){ .thread = self,
                                   .step = pct_steps(&pct_S),
                                   .found = PCT_ROUNDS_OPEN,
                                   .most = most,
                                   .began = now,
                                   .long_run = long_run };
    return !self->stepping && !is_under_way(self, context) && (again || !is_traced()) && go(rounds, self, context);
}

bool pct_rounds_go(struct pct_rounds *rounds, const struct pct_shim_thread *self, const ucontext_t *context)
{
    if (rounds->found != PCT_ROUNDS_GOES || rounds->thread != self)
        return false;
    if (!is_under_way(self, context))
        *rounds = (struct pct_rounds){ 0 };
    else if (++rounds->asked > ASKED)
        rounds->found = PCT_ROUNDS_OPEN;
    return rounds->found == PCT_ROUNDS_GOES;
}

void pct_rounds_end(struct pct_shim_thread *self, ucontext_t *context)
{
    if (!self || !self->rounds || self->stepping || !pct_signal_is_trapping(context))
        return;
    struct pct_rounds *rounds = self->rounds;
    self->rounds = NULL;
    self->rounds_pushed = false;
    pct_signal_trap_end(context, self->rounds_blocked);
    if (rounds->thread == self)
        *rounds = (struct pct_rounds){ 0 };
}

bool pct_rounds_need_others(const struct pct_rounds *rounds)
{
    return rounds->found == PCT_ROUNDS_SPINS && rounds->same >= SAME && !rounds->inner && !rounds->writes;
}

bool pct_rounds_tell(const struct pct_rounds *rounds)
{
    return rounds->same < SAME || rounds->inner || rounds->to - rounds->from > TIGHT;
}

/* The instruction is PAUSE; or repeats itself: REP CMPSB and its like. */
static void classify(const unsigned char *code, bool *pause, bool *repeats)
{
    const bool rep = code[0] == 0xf3 || code[0] == 0xf2;
    const unsigned char operation = (code[1] & 0xf0) == 0x40 ? code[2] : code[1]; /* behind the size of operands */
    *pause = code[0] == 0xf3 && code[1] == 0x90;
    *repeats = rep && ((operation >= 0xa4 && operation <= 0xa7) || (operation >= 0xaa && operation <= 0xaf));
}

/* Outside of the part of the stack that is compared. */
static bool writes(struct instruction next, const ucontext_t *context)
{
    const uint64_t from = (uint64_t)context->uc_mcontext.gregs[REG_RSP] - RED_ZONE;
    return pct_writes_elsewhere(next.code, context, from, from + STACK);
}

/* One more instruction of libc's or ours is done. Not to be followed are our wrappers, and system calls: the kernel may
 * do more each time. */
static enum pct_rounds_found look_inside(struct pct_rounds *r, struct instruction next,
                                         const struct pct_shim_thread *self, const ucontext_t *context)
{
    return pct_signal_is_call(next.code) || ++r->inner == (r->most ? r->most : INNER) ||
                   pct_signal_in_wrapper(self, context)
               ? PCT_ROUNDS_OPEN
               : PCT_ROUNDS_GOES;
}

/* One more round is done. */
static enum pct_rounds_found judge(struct pct_rounds *r, const ucontext_t *context)
{
    uint64_t state = pct_rounds_state(context);
    r->same = state == r->state ? r->same + 1 : 0;
    r->changes += !r->same;
    r->state = state;
    r->pauses = r->pause ? r->pauses + 1 : 0;
    r->pause = false;
    if (r->same == (r->inner ? SAME / 2 : SAME) || r->pauses == PAUSES)
        return PCT_ROUNDS_SPINS;
    return r->changes > CHANGES && !r->pauses ? PCT_ROUNDS_OPEN : PCT_ROUNDS_GOES;
}

/* One more instruction is done. */
static enum pct_rounds_found look(struct pct_rounds *r, struct instruction next, const struct pct_shim_thread *self,
                                  const ucontext_t *context)
{
    uint64_t rip = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    enum pct_rounds_found found = PCT_ROUNDS_GOES;
    bool pause, repeats;
    /* It may have been interrupted, and others have run meanwhile. */
    if (!is_of(r, self) || !pct_sched_holds(&pct_S, &self->core) || pct_loader_is_held(self))
        return PCT_ROUNDS_OPEN;
    if (pct_preempt_is_inside(rip))
        return look_inside(r, next, self, context);
    if (r->most)
        return PCT_ROUNDS_OUT;
    if (!pct_signal_may_trap(next.code, context))
        return PCT_ROUNDS_OPEN;
    classify(next.code, &pause, &repeats);
    r->writes = r->writes || writes(next, context);
    r->from = rip < r->from ? rip : r->from;
    r->to = rip > r->to ? rip : r->to;
    if (repeats && rip == r->last)
        return ++r->inner == INNER ? PCT_ROUNDS_OPEN : PCT_ROUNDS_GOES;
    r->last = rip;
    r->instructions++;
    if (rip == r->rip)
        found = judge(r, context);
    r->pause = r->pause || pause;
    bool far = r->instructions == MOST || (r->instructions == LOOP && !r->same && !r->pauses);
    return found == PCT_ROUNDS_GOES && far ? PCT_ROUNDS_OPEN : found;
}

bool pct_rounds_trapped(int signal, const siginfo_t *info, ucontext_t *context)
{
    struct pct_shim_thread *self = pct_self;
    if (!self || !self->rounds || signal != SIGTRAP || info->si_code != TRAP_TRACE || self->stepping)
        return false;
    struct pct_rounds *rounds = self->rounds;
    const struct instruction next = next_of(context);
    self->rounds_sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    if (self->rounds_pushed)
        *(uint16_t *)(uintptr_t)self->rounds_sp &= (uint16_t)~PCT_TRAP_FLAG;
    self->rounds_pushed = pushes_flags(next);
    const bool own = rounds->thread == self;     /* not begun anew for another thread */
    if (own && rounds->found == PCT_ROUNDS_GOES) /* nor given up */
        rounds->found = look(rounds, next, self, context);
    const struct pct_rounds done = *rounds; /* from here on, the watchdog may begin others */
    if (own && done.found == PCT_ROUNDS_GOES) {
        context->uc_mcontext.gregs[REG_EFL] |= PCT_TRAP_FLAG; /* POPF may have cleared it */
        return true;
    }
    self->rounds = NULL;
    self->rounds_pushed = false;
    pct_signal_trap_end(context, self->rounds_blocked);
    if (own && done.found != PCT_ROUNDS_OPEN)
        pct_preempt_ask_here(self, done.long_run);
    else if (own && done.most)
        rounds->rest = pct_task_cpu(self->tid) * (REST + 1) - done.began * REST;
    return true;
}
