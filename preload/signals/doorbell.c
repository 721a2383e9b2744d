/* The shim's own signal: see doorbell.h. */
#include "doorbell.h"
#include "signals.h"
#include <preload/core/kernel.h>
#include <preload/core/real.h>
#include <preload/core/sys.h>
#include <errno.h>
#include <signal.h>
#include <sys/ucontext.h>

/* What pct_shim_thread.recall says. */
enum { CLOSED, OPEN, ASKED, SEEN, AGAIN };

/* How often to ask in one go, and how long to wait for the answer: threads share a CPU, which the other one needs. */
enum { TRIES = 4, ANSWER_NS = 1000000 };

static bool is_system_call(const uint8_t *at)
{
    return at[0] == 0x0f && at[1] == 0x05;
}

/* A wait with a limit ends with EINTR, and the kernel begins one without a limit anew: it is a lock's, for which libc
 * waits when the wait that was to be ended is over. Where the signal was not meant for the wait, that begins anew, too:
 * its limit is a point in time. */
static void answer(struct pct_shim_thread *self, greg_t *regs)
{
    const uint8_t *next = (const uint8_t *)regs[REG_RIP];
    uint32_t asked = ASKED, answer = AGAIN;
    bool is_asked = __atomic_load_n(&self->recall, __ATOMIC_SEQ_CST) == ASKED;
    if (regs[REG_RAX] == -EINTR && is_system_call(next - 2)) {
        regs[REG_RAX] = is_asked ? -ETIMEDOUT : SYS_futex;
        regs[REG_RIP] -= is_asked ? 0 : 2;
        answer = SEEN;
    } else if (regs[REG_RAX] == SYS_futex && is_system_call(next) && !regs[REG_R10]) {
        answer = SEEN;
    }
    if (is_asked &&
        __atomic_compare_exchange_n(&self->recall, &asked, answer, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        pct_futex_wake(&self->recall, 1);
}

static void rung(int signal, siginfo_t *info, void *context)
{
    struct pct_shim_thread *self = pct_self;
    (void)signal;
    (void)info;
    if (self && __atomic_load_n(&self->recall, __ATOMIC_SEQ_CST) != CLOSED)
        answer(self, ((ucontext_t *)context)->uc_mcontext.gregs);
}

void pct_doorbell_install(void)
{
    static bool installed;
    struct sigaction action = { .sa_sigaction = rung, .sa_flags = SA_RESTART | SA_SIGINFO };
    if (!installed)
        installed = !REAL(sigaction)(PCT_DOORBELL, &action, NULL);
}

void pct_doorbell_ring(int tid)
{
    const siginfo_t bare = { .si_signo = PCT_DOORBELL, .si_code = SI_USER };
    /* Where the user may have no more signals pending, the kernel still takes one that tells nothing. */
    if (PCT_SYS3(SYS_tgkill, PCT_SYS0(SYS_getpid), tid, PCT_DOORBELL) == -EAGAIN)
        PCT_SYS4(SYS_rt_tgsigqueueinfo, PCT_SYS0(SYS_getpid), tid, PCT_DOORBELL, &bare);
}

static PCT_OF_RUN uint32_t ringing; /* threads between pct_bell_begin() and pct_bell_end(); atomic */

void pct_bell_begin(void)
{
    __atomic_add_fetch(&ringing, 1, __ATOMIC_SEQ_CST);
}

void pct_bell_end(void)
{
    __atomic_sub_fetch(&ringing, 1, __ATOMIC_SEQ_CST);
}

void pct_bell_settle(void)
{
    while (__atomic_load_n(&ringing, __ATOMIC_SEQ_CST))
        PCT_SYS0(SYS_sched_yield);
    if (!pct_shim.confined)
        PCT_SYS0(SYS_getpid); /* returns behind the handler */
}

uint64_t pct_recall_open(struct pct_shim_thread *self)
{
    if (!self->core.recallable)
        return 0;
    pct_doorbell_install();
    __atomic_store_n(&self->recall, OPEN, __ATOMIC_SEQ_CST);
    return pct_signal_mask(SIG_UNBLOCK, PCT_DOORBELL_BIT);
}

/* errno is that of the call. */
void pct_recall_close(struct pct_shim_thread *self, uint64_t mask)
{
    uint64_t bell = mask & PCT_DOORBELL_BIT;
    if (bell)
        pct_signal_mask(SIG_BLOCK, bell);
    pct_recall_pause(self);
}

bool pct_recall_pause(struct pct_shim_thread *self)
{
    bool open = __atomic_exchange_n(&self->recall, CLOSED, __ATOMIC_SEQ_CST) != CLOSED;
    if (open)
        pct_futex_wake(&self->recall, 1);
    return open;
}

void pct_recall_go_on(struct pct_shim_thread *self, bool open)
{
    if (open)
        __atomic_store_n(&self->recall, OPEN, __ATOMIC_SEQ_CST);
}

bool pct_recall(struct pct_thread *thread)
{
    struct pct_shim_thread *t = pct_shim_of(thread);
    struct timespec moment = { .tv_nsec = ANSWER_NS };
    for (int left = TRIES; left; left--) {
        uint32_t open = __atomic_load_n(&t->recall, __ATOMIC_SEQ_CST);
        if (open == SEEN)
            return true;
        pct_bell_begin();
        if (open != CLOSED &&
            __atomic_compare_exchange_n(&t->recall, &open, ASKED, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            pct_doorbell_ring(t->tid);
            open = ASKED;
        }
        pct_bell_end();
        pct_futex_wait(&t->recall, open, &moment);
    }
    return __atomic_load_n(&t->recall, __ATOMIC_SEQ_CST) == SEEN;
}
