/* Going through a loop instruction by instruction: rounds.h. The trap flag makes a SIGTRAP of each, whose handler looks
 * where the thread has come to (signals/handler.c: the kernel's action for SIGTRAP is ours in any case). */
#include "rounds.h"
#include "preempt.h"
#include <pct/random.h>
#include <preload/core/kernel.h>
#include <preload/core/loader.h>
#include <preload/core/point.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/signals/signals.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>

enum {
    MOST = 256,  /* instructions: each costs 2 us */
    LOOP = 64,   /* of one round */
    SAME = 4,    /* rounds that changed nothing are proof; */
    CHANGES = 2, /* rounds that change something: the first may do what is not done again */
    PAUSES = 16, /* so are as many that wait, whatever they count */
    TIGHT = 128, /* bytes of code: nothing is called from there */
    ASKED = 32,  /* times, for each 20 us of the thread's at least */
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

void pct_rounds_begin(struct pct_rounds *rounds, struct pct_shim_thread *self, ucontext_t *context, uint64_t state)
{
    uint64_t rip = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    *rounds = (struct pct_rounds){ .thread = self, .step = pct_steps(&pct_S), .found = PCT_ROUNDS_OPEN };
    if (self->stepping || self->rounds || pct_is_replay(&pct_S) || is_traced() ||
        !pct_signal_trap(context, &rounds->unblocked))
        return;
    rounds->found = PCT_ROUNDS_GOES;
    rounds->rip = rounds->from = rounds->to = rip;
    rounds->state = state;
    self->rounds = rounds;
}

bool pct_rounds_go(struct pct_rounds *rounds, const struct pct_shim_thread *self)
{
    if (rounds->found != PCT_ROUNDS_GOES || rounds->thread != self)
        return false;
    if (++rounds->asked > ASKED)
        rounds->found = PCT_ROUNDS_OPEN;
    return rounds->found == PCT_ROUNDS_GOES;
}

bool pct_rounds_tell(const struct pct_rounds *rounds)
{
    return rounds->same < SAME || rounds->to - rounds->from > TIGHT;
}

static bool is_pause(uint64_t rip)
{
    unsigned char code[2] = { 0 };
    pct_rounds_peek(code, rip, sizeof code);
    return code[0] == 0xf3 && code[1] == 0x90;
}

/* One more instruction is done. */
static enum pct_rounds_found look(struct pct_rounds *r, const struct pct_shim_thread *self, const ucontext_t *context)
{
    uint64_t rip = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    /* It may have been interrupted, and others have run meanwhile. */
    if (r->step != pct_steps(&pct_S) || pct_S.current != &self->core || pct_preempt_is_ours(rip) ||
        pct_preempt_is_libcs(rip) || pct_loader_is_held(self))
        return PCT_ROUNDS_OPEN;
    r->from = rip < r->from ? rip : r->from;
    r->to = rip > r->to ? rip : r->to;
    r->instructions++;
    if (rip == r->rip) {
        uint64_t state = pct_rounds_state(context);
        r->same = state == r->state ? r->same + 1 : 0;
        r->changes += !r->same;
        r->state = state;
        r->pauses = r->pause ? r->pauses + 1 : 0;
        r->pause = false;
        if (r->same == SAME || r->pauses == PAUSES)
            return PCT_ROUNDS_SPINS;
        if (r->changes > CHANGES && !r->pauses)
            return PCT_ROUNDS_OPEN;
    }
    r->pause = r->pause || is_pause(rip);
    bool far = r->instructions == MOST || (r->instructions == LOOP && !r->same && !r->pauses);
    return far ? PCT_ROUNDS_OPEN : PCT_ROUNDS_GOES;
}

bool pct_rounds_trapped(int signal, const siginfo_t *info, ucontext_t *context)
{
    struct pct_shim_thread *self = pct_self;
    if (!self || !self->rounds || signal != SIGTRAP || info->si_code != TRAP_TRACE || self->stepping)
        return false;
    struct pct_rounds *rounds = self->rounds;
    if (rounds->found == PCT_ROUNDS_GOES) /* it is not given up */
        rounds->found = look(rounds, self, context);
    if (rounds->found == PCT_ROUNDS_GOES)
        return true;
    self->rounds = NULL;
    pct_signal_trap_end(context, rounds->unblocked);
    return true;
}
