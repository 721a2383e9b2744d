/* The side of the process for a debugger: see debugger.h. With the baton, except pct_debugger_end(). */
#include "debugger.h"
#include "sys.h"
#include <fcntl.h>
#include <string.h>

struct pct_debugger pct_debugger = {
    .version = PCT_DEBUGGER_VERSION,
    .slot_size = sizeof(struct pct_shim_thread),
    .offsets = {
#define OFFSET(type, member) offsetof(struct type, member),
        PCT_DEBUGGER_OFFSETS(OFFSET)
#undef OFFSET
    },
};

__attribute__((noinline)) void pct_debugger_stop(void)
{
    __asm__ volatile("" ::: "memory");
}

/* A fork child begins a run of its own, and goes on reading. */
static void take_input(void)
{
    long fd = PCT_SYS3(SYS_open, pct_debugger.input, O_RDONLY, 0);
    pct_debugger.input[0] = '\0';
    if (fd > 0) {
        PCT_SYS2(SYS_dup2, fd, 0);
        PCT_SYS1(SYS_close, fd);
    }
}

__attribute__((noinline)) void pct_debugger_begin(void)
{
    if (pct_debugger.input[0])
        take_input();
    pct_debugger.sched = &pct_S;
    pct_debugger.slots = pct_shim.slots;
    pct_sched_pause_at(&pct_S, pct_debugger.stop_at);
}

__attribute__((noinline)) void pct_debugger_copy(void)
{
    __asm__ volatile("" ::: "memory");
}

bool pct_debugger_copies(void *to, const void *from, size_t size)
{
    pct_debugger.copy.from = (uint64_t)(uintptr_t)from;
    pct_debugger.copy.to = (uint64_t)(uintptr_t)to;
    pct_debugger.copy.size = size;
    pct_debugger_copy();
    return !pct_debugger.copy.size;
}

void pct_debugger_copy_code(void *to, const void *from, size_t size)
{
    if (!pct_debugger_copies(to, from, size))
        memcpy(to, from, size);
}

bool pct_debugger_code_is(const void *code, const void *copy, size_t size)
{
    static uint8_t clean[4096];
    if (!memcmp(code, copy, size))
        return true;
    pct_debugger_copy_code(clean, code, size);
    return !memcmp(clean, copy, size);
}

static void stop(uint32_t reason, uint32_t thread)
{
    pct_debugger.thread = thread;
    pct_debugger.reason = reason;
    pct_debugger_stop();
    pct_debugger.reason = 0;
}

void pct_debugger_pause(struct pct_thread *thread)
{
    /* What comes next, the debugger says while it is here. */
    pct_sched_pause_at(&pct_S, 0);
    stop(PCT_DEBUGGER_STEP, thread->id);
}

void pct_debugger_end(enum pct_verdict verdict)
{
    pct_debugger.verdict = verdict;
    stop(PCT_DEBUGGER_END, pct_self ? pct_self->core.id : PCT_NO_THREAD);
}
