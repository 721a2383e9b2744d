/* Threads of the runs in a host as contexts: see host.h. All run on the kernel thread of main; what one has of its own
 * while it waits is its stack, its thread pointer, its registers and its mask of signals. Where the baton passes, that
 * is exchanged, in place of a wake and a wait, which take the kernel some twenty times as long. The program has its
 * threads from libc as ever: only clone3() and the last exit() of start_thread() come here (host_threads.c), and the
 * hand-over (preload/run/engine.c).
 *
 * What the kernel keeps for a thread, a context has not: a number, by which it could be sent a signal, clocks, a list
 * of robust mutexes, an area of restartable sequences, an alternate stack, a wait that is not everybody's. Numbers are
 * invented, larger than any of the kernel's. Whoever asks for one of the others, by a system call that the filter knows
 * (host_filter.c), or must wait outside, ends the host, and the next ones keep kernel threads instead. Areas of
 * restartable sequences are registered as ever, when a thread begins: as all stand on one CPU, what stands in them
 * stays right; none may be within a sequence when it waits.
 *
 * A thread that spins, or that sleeps in the kernel, would keep the others for good, and nobody waits for the baton who
 * could make a watchdog. So a guard looks every few milliseconds whether it is still the same run: then its process
 * ends, as where there is a watchdog. */
#include "apart.h"
#include "host.h"
#include "host_mask.h"
#include "host_stacks.h"
#include "host_thread.h"
#include "shim.h"
#include "sys.h"
#include <asm/prctl.h>
#include <cpuid.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>

#define MS UINT64_C(1000000)
#define PATIENCE (4 * MS)
#define STILL (8 * MS)  /* of CPU time, since it has made a step; */
#define LONG (100 * MS) /* and since it was seen first: beside that, it is nothing to fork it */
enum {
    SLEEPS = 2 /* looks */,
    FIRST_NUMBER = 1 << 22 /* PID_MAX_LIMIT */,
    FSGSBASE = 1 << 1,
    ROBUST_LIST = 24,
    RSEQ = 32
};
enum { IDLE, RUN, GIVEN_UP };

PCT_OF_START bool pct_host_contexts;

/* The first run may have made some before the filter was in force. */
bool pct_host_is_sealed(void)
{
    unsigned slot;
    uint64_t requests;
    return pct_host_contexts && pct_host_text(&slot, &requests);
}

static void refuse(void)
{
    pct_host_leave(PCT_HOST_CONTEXT, 0);
}

static bool has_xsaveopt(void)
{
    enum { STATE = 13, XSAVEOPT = 1, XGETBV1 = 4 };
    unsigned a, b, c, d;
    const bool told = __get_cpuid_count(STATE, 1, &a, &b, &c, &d);
    pct_host_threads_light = told && a & XGETBV1;
    return told && a & XSAVEOPT;
}

/* Where there are no instructions for them (old processors, some virtual machines), a system call sets that of FS; and
 * that of GS, which nobody but the kernel can change then but by a segment, is 0 for all. */
static bool has_bases(void)
{
    uint64_t gs = 1;
    pct_host_threads_bases = getauxval(AT_HWCAP2) & FSGSBASE;
    return pct_host_threads_bases || (!PCT_SYS2(SYS_arch_prctl, ARCH_GET_GS, &gs) && !gs);
}

static uint64_t base_of_gs(void)
{
    uint64_t gs = 0;
    if (pct_host_threads_bases)
        __asm__("rdgsbase %0" : "=r"(gs));
    return gs;
}

/* Behind this, the thread pointer is another one. */
static void set_base_of_fs(uint64_t fs)
{
    if (pct_host_threads_bases)
        __asm__ volatile("wrfsbase %0" : : "r"(fs));
    else
        pct_host_sys4(SYS_arch_prctl, ARCH_SET_FS, (long)fs, 0, 0);
}

bool pct_host_contexts_prepare(struct threads *all)
{
    const char *head = NULL;
    size_t size = 0;
    stack_t alternate = { .ss_flags = 0 }; /* other threads have none */
    const uintptr_t self = (uintptr_t)__builtin_thread_pointer();
    const bool has_area = all->rseq_offset != 0;
    if (!has_bases() || !has_xsaveopt() || PCT_SYS2(SYS_sigaltstack, NULL, &alternate) ||
        alternate.ss_flags != SS_DISABLE || PCT_SYS3(SYS_get_robust_list, 0, &head, &size) || size != ROBUST_LIST ||
        (uintptr_t)head - self > 4096 || (has_area && !all->rseq_size))
        return false;
    all->robust = (uintptr_t)head - self;
    all->main.fs = self;
    all->main.tid = pct_shim.pid;
    all->current = &all->main;
    all->rseq_at = has_area ? (char *)self + all->rseq_offset : NULL;
    pct_host_mask_prepare();
    pct_host_stacks_prepare();
    pct_host_contexts = true;
    return true;
}

/* --- The guard ---------------------------------------------------------------------------------------------------- */

/* Of the kernel thread that all contexts have. The process's has the guard's own in it, which grows with the time for
 * which other processes have the CPU. */
static uint64_t cpu_time(void)
{
    enum { THREAD = 4, SCHEDULED = 2 }; /* clock_getcpuclockid(3), of a thread */
    struct timespec t = { 0 };
    pct_host_sys4(SYS_clock_gettime, (long)(~pct_shim.pid * 8 | THREAD | SCHEDULED), (long)&t, 0, 0);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* Likewise. */
static bool is_asleep(void)
{
    char text[256];
    char *state = NULL;
    const long got = pct_host_sys4(SYS_pread64, pct_host_threads->guard.state, (long)text, sizeof text, 0);
    for (char *at = text; at < text + got - 2; at++) /* behind a name, which may have anything in it */
        if (*at == ')')
            state = at + 2;
    return state && *state == 'S';
}

/* On a kernel thread of its own, with main's thread pointer, of which it uses nothing. A machine under load may give
 * the run no CPU for long: that is no reason. Nor is a run that makes steps one that hangs. */
static void guard(void)
{
    struct threads *all = pct_host_threads;
    struct guard *guard = &all->guard;
    uint64_t run = 0, step = 0, began = 0, used = 0;
    for (int sleeps = 0;;) {
        struct timespec patience = { .tv_nsec = PATIENCE };
        pct_host_sys4(SYS_futex, (long)&guard->never, FUTEX_WAIT_PRIVATE, 0, (long)&patience);
        uint32_t phase = RUN;
        const uint64_t now = cpu_time(), steps = pct_steps(&pct_S);
        const bool other = __atomic_load_n(&guard->phase, __ATOMIC_SEQ_CST) != phase || all->run != run;
        began = other ? now : began;
        if (other || steps != step) {
            run = all->run;
            step = steps;
            used = now;
            sleeps = 0;
        } else {
            sleeps = is_asleep() ? sleeps + 1 : 0;
        }
        if ((sleeps == SLEEPS || now - used >= STILL || now - began >= LONG) &&
            __atomic_compare_exchange_n(&guard->phase, &phase, GIVEN_UP, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            pct_host_leave(PCT_HOST_WATCHDOG, 0);
    }
}

static void have_guard(struct threads *all)
{
    const long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    __atomic_store_n(&all->guard.phase, RUN, __ATOMIC_SEQ_CST);
    if (all->guard.tid || !pct_shim.watchdog)
        return;
    /* Where the new one comes back from the system call. */
    void (**stack)(void) = (void (**)(void))(all->guard.stack + STACK - 64);
    *stack = guard;
    long tid = pct_host_sys4(SYS_clone, flags, (long)stack, 0, 0);
    if (tid < 0)
        refuse();
    all->guard.tid = (int32_t)tid;
}

/* --- Contexts ----------------------------------------------------------------------------------------------------- */

/* The kernel knows no area from here on; what stands in the one that it knew, stays. */
static void leave_area(struct threads *all)
{
    char kept[RSEQ];
    if (!all->rseq_at)
        return;
    __builtin_memcpy(kept, all->rseq_at, sizeof kept);
    pct_host_thread_rseq(all->rseq_at, all->rseq_size, PCT_RSEQ_UNREGISTER);
    __builtin_memcpy(all->rseq_at, kept, sizeof kept);
    all->rseq_at = NULL;
}

static bool is_in_sequence(const struct threads *all, const struct thread *self)
{
    return all->rseq_size && ((const uint64_t *)(self->fs + all->rseq_offset))[1];
}

/* Behind all that the run has made: the first place that is free is taken. */
static struct thread *end_of(struct threads *all)
{
    return all->thread + (all->made < MOST ? all->made : MOST);
}

void pct_host_context_expect(void **context)
{
    if (pct_host_contexts)
        pct_host_threads->coming = context;
}

int pct_host_context_make(struct threads *all)
{
    struct thread *thread = all->thread;
    pct_host_mask_changed(); /* libc has blocked all */
    while (thread < all->thread + MOST && thread->tid)
        thread++;
    if (!all->usable || !all->coming || thread == all->thread + MOST || !pct_host_thread_is_plain(&all->registers) ||
        !pct_host_thread_blocks_all())
        refuse();
    have_guard(all);
    const struct clone_args *a = (const struct clone_args *)all->registers.rdi;
    thread->rip = pct_host_clone_after;
    thread->registers = all->registers;
    thread->registers.rsp = a->stack + a->stack_size;
    __builtin_memcpy(thread->vectors, all->vectors, sizeof thread->vectors);
    thread->fs = a->tls;
    thread->gs = base_of_gs();
    thread->mask = ~UINT64_C(0);
    thread->fresh = thread->whole = 1;
    thread->cleared = (int32_t *)a->child_tid;
    thread->tid = (int32_t)(FIRST_NUMBER + ++all->made);
    *(int32_t *)a->parent_tid = thread->tid;
    *all->coming = thread;
    all->coming = NULL;
    return thread->tid;
}

void pct_host_context_ready(void *context)
{
    struct threads *all = pct_host_threads;
    if (all->ready)
        refuse();
    all->ready = context ? context : &all->main;
}

static struct thread *take_ready(struct threads *all)
{
    struct thread *next = all->ready;
    if (!next)
        refuse();
    all->ready = NULL;
    if (next->fresh) { /* it makes one known that is its own, and libc sets its mask */
        leave_area(all);
        all->rseq_at = all->rseq_size ? (char *)next->fs + all->rseq_offset : NULL;
    }
    return next;
}

/* Returns the mask before. */
static uint64_t take_mask(struct thread *next)
{
    const uint64_t before = pct_host_mask(SIG_SETMASK, next->mask);
    if (next->fresh)
        pct_host_mask_changed();
    next->fresh = 0;
    return before;
}

void pct_host_context_wait(void)
{
    struct threads *all = pct_host_threads;
    struct thread *self = all->current, *next = take_ready(all);
    if (next == self)
        return;
    if (is_in_sequence(all, self))
        refuse();
    self->mask = take_mask(next);
    all->current = next;
    pct_host_context_switch(self, next);
}

/* In place of exit(), on the context's stack in here: what it had from libc is gone when the word is cleared. */
__attribute__((used)) void pct_host_context_end(struct thread *self)
{
    struct threads *all = pct_host_threads;
    const uintptr_t *head = (const uintptr_t *)(self->fs + all->robust);
    pct_host_mask_changed(); /* libc has blocked all */
    if (self == &all->main || head[0] != (uintptr_t)head || head[2] || is_in_sequence(all, self))
        refuse();
    if (all->rseq_at == (char *)self->fs + all->rseq_offset)
        leave_area(all);
    self->tid = 0;
    *self->cleared = 0;
    struct thread *next = take_ready(all);
    all->current = next;
    take_mask(next);
    pct_host_context_go(next);
}

bool pct_host_contexts_leave(void)
{
    struct threads *all = pct_host_threads;
    if (!pct_host_contexts || all->busy || all->ready || all->coming)
        return false;
    if (all->rseq_at && all->rseq_at != (char *)all->main.fs + all->rseq_offset) /* on the stack of any */
        leave_area(all);
    if (all->current != &all->main)
        set_base_of_fs(all->main.fs);
    return true;
}

bool pct_host_contexts_over(void)
{
    struct threads *all = pct_host_threads;
    uint32_t phase = RUN;
    if (!pct_host_contexts || !all->made)
        return true;
    /* Or else the guard is about to end the process. */
    while (!__atomic_compare_exchange_n(&all->guard.phase, &phase, IDLE, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        pct_host_sys4(SYS_pause, 0, 0, 0, 0);
    for (struct thread *thread = all->thread; thread < end_of(all); thread++)
        thread->tid = 0;
    all->made = 0;
    all->ready = NULL;
    all->coming = NULL;
    all->current = &all->main;
    char *area = all->rseq_size ? (char *)all->main.fs + all->rseq_offset : NULL;
    if (all->rseq_at != area) {
        leave_area(all);
        if (pct_host_thread_rseq(area, all->rseq_size, 0))
            return false;
        all->rseq_at = area;
    }
    return !pct_host_sys4(SYS_set_robust_list, (long)(all->main.fs + all->robust), ROBUST_LIST, 0, 0);
}

/* --- Contexts at a point in the middle of a run ------------------------------------------------------------------- */

enum { KEPT = 16 };
struct pct_host_contexts {
    uint32_t count, made;
    uint32_t index[KEPT];
    struct thread *current;
    char *rseq_at;
    long robust;
    uint64_t fs, gs, mask;
    char vectors[VECTORS] __attribute__((aligned(64))); /* of the one that runs */
    char copy[KEPT + 1][AT_STACK];                      /* the last one: main's */
};

struct pct_host_contexts *pct_host_contexts_of(struct pct_host_contexts *all, unsigned number)
{
    return &all[number];
}

struct pct_host_contexts *pct_host_contexts_map(unsigned count)
{
    const size_t size = count * sizeof(struct pct_host_contexts);
    const int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    void *place = pct_apart_map(size);
    return place && PCT_SYS6(SYS_mmap, place, size, PROT_READ | PROT_WRITE, flags, -1, 0) == (long)place ? place : NULL;
}

bool pct_host_contexts_save(struct pct_host_contexts *to)
{
    struct threads *all = pct_host_threads;
    long size = 0;
    if (!pct_host_contexts || all->ready || all->coming || all->busy || is_in_sequence(all, all->current))
        return false;
    to->count = 0;
    for (uint32_t i = 0; all->thread + i < end_of(all); i++)
        if (all->thread[i].tid) {
            if (to->count == KEPT)
                return false;
            to->index[to->count] = i;
            __builtin_memcpy(to->copy[to->count++], &all->thread[i], AT_STACK);
        }
    __builtin_memcpy(to->copy[KEPT], &all->main, AT_STACK);
    to->made = all->made;
    to->current = all->current;
    to->rseq_at = all->rseq_at;
    to->fs = all->current->fs;
    to->gs = base_of_gs();
    __asm__ volatile("xsave64 %0" : "+m"(to->vectors) : "a"(pct_host_threads_mask), "d"(0) : "memory");
    return (uint64_t)__builtin_thread_pointer() == to->fs &&
           !pct_host_sys4(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&to->mask, MASK) &&
           !pct_host_sys4(SYS_get_robust_list, 0, (long)&to->robust, (long)&size, 0) && size == ROBUST_LIST;
}

/* Behind pct_host_contexts_over(), and the memory. */
bool pct_host_contexts_load(const struct pct_host_contexts *from)
{
    struct threads *all = pct_host_threads;
    for (uint32_t i = 0; i < from->count; i++)
        __builtin_memcpy(&all->thread[from->index[i]], from->copy[i], AT_STACK);
    __builtin_memcpy(&all->main, from->copy[KEPT], AT_STACK);
    all->made = from->made;
    all->current = from->current;
    if (from->made)
        __atomic_store_n(&all->guard.phase, RUN, __ATOMIC_SEQ_CST);
    if (all->rseq_at != from->rseq_at) {
        leave_area(all);
        if (from->rseq_at && pct_host_thread_rseq(from->rseq_at, all->rseq_size, 0))
            return false;
        all->rseq_at = from->rseq_at;
    }
    return !pct_host_sys4(SYS_set_robust_list, from->robust, ROBUST_LIST, 0, 0);
}

/* Behind this, the thread pointer is another one. The memory has what was known of the mask: of the kernel's own, this
 * is not asked. What XSAVEOPT leaves out is what the processor has not changed since it took it from that place: so it
 * does that now. */
void pct_host_contexts_bases(const struct pct_host_contexts *from)
{
    pct_host_sys4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&from->mask, 0, MASK);
    __builtin_memcpy(from->current->vectors, from->vectors, sizeof from->vectors);
    __asm__ volatile("xrstor64 %0" : : "m"(from->current->vectors), "a"(pct_host_threads_mask), "d"(0) : "memory");
    if (pct_host_threads_bases)
        __asm__ volatile("wrgsbase %0" : : "r"(from->gs));
    set_base_of_fs(from->fs);
}
