/* SIGTRAP that pct makes: see trap.h. */
#include "trap.h"
#include "signals.h"

unsigned pct_traps;

void pct_trap_start(enum pct_trap_cause cause)
{
    const bool first = !pct_traps;
    pct_traps |= cause;
    if (!first)
        return;
    pct_action_trap();
    pct_trap_begin(pct_self);
}

void pct_trap_end(enum pct_trap_cause cause)
{
    pct_traps &= ~(unsigned)cause;
}

void pct_trap_begin(struct pct_shim_thread *self)
{
    const uint64_t bit = pct_signal_bit(SIGTRAP);
    if (pct_traps && pct_signal_mask(SIG_UNBLOCK, bit) & bit)
        self->trap_hidden = true;
}

const sigset_t *pct_trap_mask(struct pct_shim_thread *self, int how, const sigset_t *set, sigset_t *without)
{
    const uint64_t bit = pct_signal_bit(SIGTRAP);
    bool names = pct_signal_bits(set) & bit;
    if (how == SIG_SETMASK)
        self->trap_hidden = names;
    else if (names && (how == SIG_BLOCK || how == SIG_UNBLOCK))
        self->trap_hidden = how == SIG_BLOCK;
    if (!names || how == SIG_UNBLOCK)
        return set;
    *without = *set;
    *(uint64_t *)without &= ~bit;
    return without;
}

void pct_trap_settle(struct pct_shim_thread *self, int how, const uint64_t *set, uint64_t *old)
{
    const uint64_t bit = pct_signal_bit(SIGTRAP);
    const bool hidden = self->trap_hidden;
    if (!pct_traps)
        return;
    if (set && how == SIG_UNBLOCK)
        self->trap_hidden = hidden && !(*set & bit);
    else if (set)
        self->trap_hidden = (pct_signal_mask(SIG_UNBLOCK, bit) & bit) || (hidden && how == SIG_BLOCK);
    if (old && hidden)
        *old |= bit;
}

bool pct_trap_show(const struct pct_shim_thread *self, ucontext_t *context)
{
    uint64_t *mask = (uint64_t *)&context->uc_sigmask;
    const uint64_t bit = pct_signal_bit(SIGTRAP);
    const bool blocked = pct_traps && *mask & bit;
    *mask |= self->trap_hidden ? bit : 0;
    return blocked;
}

void pct_trap_hide(struct pct_shim_thread *self, ucontext_t *context)
{
    uint64_t *mask = (uint64_t *)&context->uc_sigmask;
    const uint64_t bit = pct_signal_bit(SIGTRAP);
    if (!pct_traps)
        return;
    self->trap_hidden = *mask & bit;
    *mask &= ~bit;
}

bool pct_trap_sent(int signal, const siginfo_t *info, ucontext_t *context)
{
    struct pct_shim_thread *self = pct_self;
    const uint64_t bit = pct_signal_bit(SIGTRAP);
    if (signal != SIGTRAP || info->si_code > 0 || !pct_traps || !self || !self->trap_hidden)
        return false;
    self->trap_hidden = false;
    pct_signal_mask(SIG_BLOCK, bit);
    *(uint64_t *)&context->uc_sigmask |= bit;
    pct_signal_queue(self, info);
    return true;
}

uint64_t pct_trap_without(uint64_t mask)
{
    return pct_traps ? mask & ~pct_signal_bit(SIGTRAP) : mask;
}
