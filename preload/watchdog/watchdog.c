/* The watchdog: finds a holder of the baton that passes no point. It is a thread of our own that looks, every few
 * milliseconds, whether the run has gone on; the threads of the target do nothing for it.
 *
 * A holder that sleeps in the kernel, in a call that nobody intercepted, is left there, and the baton is taken from it:
 * it is outside (sched/outside.c). It may wake up at any moment and come to one of our functions. So the order is: it
 * is asleep; s->current no longer names it, so pct_enter() fails for it; it is asleep still, and was not awake in
 * between. From then on it finds out in pct_enter_slow() and comes back like any other. If it was awake, it is given
 * the baton back, and perhaps does that itself. A holder that runs is asked by a signal what it does: preempt.c.
 *
 * Most runs are over before it would look for the first time, and making a thread takes a tenth of such a run. So it is
 * made when one of the threads that wait for the baton has waited for milliseconds (patience.c): without one, there is
 * nobody to whom the baton could go. Whatever else makes the watchdog needed starts it at once: a timer of the
 * target's, which is nobody's wait; a real-time policy, which leaves the waiting threads no CPU; a sandbox, which may
 * forbid to make it later; the command, when the run is over its time.
 *
 * The thread is made by hand: no pthread, so that neither libc nor the target counts it; it stands only in
 * /proc/self/task. It has a thread pointer of its own over zeros, no descriptors and no signals. A fork child does not
 * have it, and makes its own when it needs one.
 *
 * It stays on the target's CPU, but for real-time threads, which leave it none. Where it went elsewhere, Linux (6.18)
 * weighed the group of threads anew, and others on the target's CPU got a third of it, and nothing for up to 0.4 s. */
#include "watchdog.h"
#include "gone.h"
#include "lone.h"
#include "patience.h"
#include "preempt.h"
#include <common/text.h>
#include <preload/core/apart.h>
#include <preload/core/host.h>
#include <preload/core/host_threads.h>
#include <preload/core/kernel.h>
#include <preload/core/real.h>
#include <preload/core/maps.h>
#include <preload/core/sys.h>
#include <preload/run/end.h>
#include <preload/run/script.h>
#include <preload/thread/affinity.h>
#include <preload/thread/proc_task.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define MS UINT64_C(1000000)

/* How often to look: often when something has just been found, for it is likely to happen again. */
#define SHORTEST (MS / 2)
#define LONGEST (3 * MS / 2)
/* Between two questions, until it is known what it does. */
#define QUESTION (MS / 50)
/* CPU time that a thread gets before it is asked what it does: the least after spins, more after one that computed. The
 * first has had its time, while others waited. */
#define LEAST_TRUST (1 * MS)
#define MOST_TRUST (2 * MS)
/* Between two questions when it computes: a fourth of the CPU time that it has used so far, within these bounds. */
#define SOON (2 * MS)
#define SELDOM (500 * MS)
/* CPU time without a call that is worth a note when time is over. */
#define MUCH (200 * MS)
/* Or when the run fails: on a machine under load, a thread that can go on may have to wait for less. */
#define HELD (20 * MS)
/* What the watchdog has the CPU for at a time. */
#define SLICE (MS / 10)
/* How often the kernel is asked for waits that the outside could end, where steps take long. */
#define KERNEL (16 * MS)

/* A run with this many waits for the baton is not short: it gets a watchdog, and its threads wait without a timer. */
enum { MANY = 256 };
/* Looks, a millisecond apart: what posix_spawn makes mostly is another program soon, if it has a CPU. */
enum { SPAWNING = 200 };
enum { STACK_SIZE = 128 << 10, PAGE = 4096 };

/* pct_shim_thread.revoked */
enum { KEPT, TAKING, TAKEN, REVOKED };

/* Whether there is a watchdog; atomic. MISSING: it will be made when it is needed. */
PCT_OF_START static uint32_t presence;
enum { NEVER, MISSING, COMES, THERE };
#define FAILED UINT32_MAX

static struct pct_thread nobody;      /* s->current while it is not certain that the baton can be taken */
PCT_OF_START static uint32_t own_tid; /* the watchdog's; 0: not yet; FAILED */
static uint32_t parked;               /* this many waits for the baton so far, while there is no watchdog; atomic */
static int tasks;                     /* /proc/self/task */
static bool roams;                    /* it has all CPUs of the target */
static struct {
    char *memory; /* a guard page, its stack, and what its thread pointer points into; NULL: not yet */
    size_t size;
    uintptr_t below; /* bytes below the thread pointer */
} room;
static uint64_t interval; /* ns */
static uint64_t trust;    /* ns of CPU time */
static uint64_t unasked;  /* ns since the kernel was asked, about */

/* What was seen last time. */
static struct {
    struct pct_thread *holder;
    uint64_t step;
    bool slept;
    uint32_t looks;  /* since it was first seen asleep */
    uint64_t sleeps; /* pct_task.sleeps */
    uint64_t cpu;    /* CPU time of the holder when it was first seen here */
    uint64_t next;   /* and when it is to be asked what it does, */
    uint64_t last;   /* and at the last look */
} seen;

bool pct_watchdog_took(struct pct_shim_thread *self)
{
    uint32_t revoked = __atomic_load_n(&self->revoked, __ATOMIC_SEQ_CST);
    if (revoked == KEPT ||
        !pct_sched_is_on(&pct_S)) /* a child made behind our back has a copy of our word, but no run */
        return false;
    if (revoked == TAKING &&
        __atomic_compare_exchange_n(&self->revoked, &revoked, KEPT, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        /* Too early: the thread does not sleep. */
        pct_sched_swap_holder(&pct_S, &nobody, &self->core);
        return false;
    }
    if (revoked == KEPT)
        return false;
    while (__atomic_load_n(&self->revoked, __ATOMIC_SEQ_CST) == TAKEN)
        pct_futex_wait(&self->revoked, TAKEN, NULL);
    __atomic_store_n(&self->revoked, KEPT, __ATOMIC_SEQ_CST);
    return true;
}

/* "libgomp.so.1+0x1b2c3" */
static void describe(char *where, size_t size, uintptr_t pc)
{
    static char path[1024]; /* not on the holder's stack; with the baton, or in its holder's name */
    struct pct_mapping mapping;
    struct pct_text text;
    const char *file = path;
    pct_text_init(&text, where, size);
    if (pct_shim.confined || !pct_maps_find((const void *)pc, &mapping, path, sizeof path) || !path[0]) {
        path[0] = 0;
        mapping = (struct pct_mapping){ .from = 0 };
    }
    for (const char *c = path; *c; c++)
        if (*c == '/')
            file = c + 1;
    /* The offset matters more than a long name. */
    for (const char *c = file; *c && text.length + 20 < size; c++)
        pct_text_add_char(&text, *c);
    pct_text_add(&text, path[0] ? "+0x" : "0x");
    pct_text_add_hex(&text, pc - mapping.from + mapping.offset, 0);
}

void pct_watchdog_note(enum pct_uncontrolled kind, const struct pct_shim_thread *thread, int call, uintptr_t pc)
{
    static uintptr_t known[PCT_PLACES];
    pct_uncontrolled(kind);
    interval = SHORTEST;
    pct_patience_lose();
    if (trust > LEAST_TRUST)
        trust /= 2;
    for (unsigned i = 0; i < PCT_PLACES; i++) {
        struct pct_place *place = &pct_shim.header->places[i];
        if (!place->count) {
            *place = (struct pct_place){ .kind = kind, .thread = thread->core.id, .call = call };
            describe(place->where, sizeof place->where, pc);
            known[i] = pc;
        }
        if (known[i] != pc || place->kind != kind || place->thread != thread->core.id)
            continue;
        place->count++;
        return;
    }
}

/* Whether the thread sleeps: also one that waits for its child of vfork, in the middle of our own function, or of
 * posix_spawn. */
static bool sleeps(const struct pct_shim_thread *thread, const struct pct_task *task)
{
    return task->state == 'S' || (task->state == 'D' && (thread->vforks || thread->spawns));
}

/* Whether a thread that is parked, or has finished, has something to do for libc: take part in setuid(), which waits
 * until each thread has, or give back a lock at its end. It does that without the baton, and needs but the CPU, so its
 * holder may sleep for that: how long depends on the machine, and is no reason to let others go on. Reading takes some
 * 10 us a thread: with 4,000 threads a sleep of less than 50 ms is over before, and holds the others for so long. */
static bool others_work(const struct pct_thread *holder)
{
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++) {
        const struct pct_shim_thread *thread = &pct_shim.slots[id];
        enum pct_state state = __atomic_load_n(&thread->core.state, __ATOMIC_RELAXED);
        bool own = &thread->core == holder || thread->unscheduled || !thread->tid || state == PCT_STATE_OUTSIDE;
        uint64_t flags;
        char does;
        if (!own && pct_task_read_flags(tasks, thread->tid, &does, &flags) &&
            (does == 'R' || does == 'D' || does == 't' /* a debugger has it for a moment */))
            return true;
    }
    return false;
}

/* Take the baton from its holder, which seems to sleep. */
static void take_baton(struct pct_shim_thread *thread, const struct pct_task *before)
{
    struct pct_task_call call;
    struct pct_task after;
    char text[PCT_TASK_TEXT];
    uint32_t taking = TAKING;
    if (!pct_task_read_call(tasks, thread->tid, &call) || (pct_preempt_is_ours(call.pc) && !thread->vforks) ||
        !pct_sched_may_take(&pct_S, &thread->core, PCT_ARG_SLEEPS) || others_work(&thread->core))
        return;
    __atomic_store_n(&thread->revoked, TAKING, __ATOMIC_SEQ_CST);
    if (!pct_sched_swap_holder(&pct_S, &thread->core, &nobody)) {
        __atomic_store_n(&thread->revoked, KEPT, __ATOMIC_SEQ_CST);
        return;
    }
    if (!pct_task_read_call(tasks, thread->tid, &call) || !pct_task_read(tasks, thread->tid, &after, text) ||
        !sleeps(thread, &after) || after.sleeps != before->sleeps) {
        /* In this order: a thread that finds KEPT finds the baton, too. It may also have passed it on meanwhile. */
        pct_sched_swap_holder(&pct_S, &nobody, &thread->core);
        __atomic_compare_exchange_n(&thread->revoked, &taking, KEPT, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return;
    }
    if (!__atomic_compare_exchange_n(&thread->revoked, &taking, TAKEN, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return; /* it has just come, and taken the baton back */
    /* For reports. The kernel does not tell the other registers. */
    __builtin_memset(thread->regs, 0, sizeof thread->regs);
    thread->regs[6] = call.sp;
    thread->regs[7] = call.pc;
    pct_watchdog_note(PCT_UNCONTROLLED_SLEPT, thread, (int)call.number, call.pc);
    pct_sched_revoke(&pct_S, &thread->core, pct_task_call_is_kin(&call));
    /* It must not come back before: then it could be enabled again when the baton goes on, and this would wait in its
     * place, and take the baton that is meant for it. */
    pct_sched_pass_revoked(&pct_S, &thread->core);
    __atomic_store_n(&thread->revoked, REVOKED, __ATOMIC_SEQ_CST);
    pct_futex_wake(&thread->revoked, 1);
}

/* A loop that counts its rounds while it waits looks like one that computes, but natively others run beside it. */
static void note_held(const struct pct_thread *holder, uint64_t used)
{
    if (used < HELD || used / MS <= pct_shim.header->held_ms || !pct_sched_may_take(&pct_S, holder, PCT_ARG_SPINS))
        return;
    pct_shim.header->held_ms = (uint32_t)(used / MS);
    pct_shim.header->held_by = holder->id;
}

/* The holder has run for some time. */
static void question(const struct pct_shim_thread *thread)
{
    uint64_t cpu = pct_task_cpu(thread->tid);
    note_held(&thread->core, cpu - seen.cpu);
    if (cpu < seen.next) {
        /* Others have the CPU where it had none since the last look, which took more than a question does. */
        const uint64_t left = cpu == seen.last ? 4 * interval : seen.next - cpu;
        interval = left < QUESTION ? QUESTION : left < SHORTEST ? left : SHORTEST;
        seen.last = cpu;
        return;
    }
    if (!pct_sched_may_take(&pct_S, &thread->core, PCT_ARG_SPINS) && !pct_script_listens())
        return;
    pct_preempt_ask(thread, cpu - seen.cpu);
    if (pct_preempt_computes()) {
        uint64_t pause = (cpu - seen.cpu) / 4;
        seen.next = cpu + (pause < SOON ? SOON : pause < SELDOM ? pause : SELDOM);
        trust = MOST_TRUST;
    } else {
        uint64_t pause = pct_preempt_pause(thread);
        interval = pause > QUESTION ? pause : QUESTION;
        seen.next = cpu + interval;
    }
}

/* Go where this thread leaves us a CPU. */
static void evade(int32_t tid)
{
    if (roams || !pct_task_is_real_time(tasks, tid))
        return;
    pct_affinity_unpin(0);
    roams = true;
}

/* What waits for the outside world is asked once a block of steps. Where steps take long, nobody shall wait that long:
 * threads that spin on memory between two calls would keep a server's clients waiting. */
static void ask_kernel(uint64_t steps)
{
    unasked += interval;
    if (unasked < KERNEL || steps >= PCT_TRACE_BLOCK)
        return;
    unasked = 0;
    pct_sched_ask_kernel(&pct_S);
}

/* The run has gone on: this thread has the baton, or nobody. */
static void begin(struct pct_thread *holder, uint64_t step)
{
    if (holder)
        ask_kernel(step - seen.step);
    __builtin_memset(&seen, 0, sizeof seen);
    seen.holder = holder;
    seen.step = step;
    if (holder && holder != &nobody)
        seen.cpu = pct_task_cpu(pct_shim_of(holder)->tid);
    seen.next = seen.cpu + trust;
    trust = trust > LEAST_TRUST ? trust : LEAST_TRUST;
    interval = 2 * interval < LONGEST ? 2 * interval : LONGEST;
}

static void look(void)
{
    struct pct_thread *holder = pct_sched_holder(&pct_S);
    uint64_t step = pct_steps(&pct_S);
    struct pct_task task;
    char text[PCT_TASK_TEXT];
    if (pct_shim.ended)
        return;
    if (!holder || holder == &nobody || holder != seen.holder || step != seen.step) {
        begin(holder, step);
        return;
    }
    struct pct_shim_thread *thread = pct_shim_of(holder);
    if (pct_gone_holder(thread, tasks))
        return;
    if (!pct_task_read(tasks, thread->tid, &task, text))
        return;
    if (sleeps(thread, &task)) {
        seen.looks = seen.slept && seen.sleeps == task.sleeps ? seen.looks + 1 : 0;
        if (seen.looks > (thread->spawns ? SPAWNING : 0))
            take_baton(thread, &task);
        else
            interval = 2 * SHORTEST;
        seen.slept = true;
        seen.sleeps = task.sleeps;
    } else {
        seen.slept = false;
        if (task.state == 'R') {
            evade(thread->tid);
            question(thread);
        }
    }
}

/* What keeps others from running, if that is a holder that computes: natively they would have gone on beside it. */
static const char *blame(const struct pct_thread *holder)
{
    static char line[160]; /* not on the stack: it outlives the call */
    struct pct_text text;
    bool same = holder && holder != &nobody && holder == seen.holder && pct_steps(&pct_S) == seen.step && !seen.slept;
    uint64_t used = same ? pct_task_cpu(pct_shim_of(holder)->tid) - seen.cpu : 0;
    if (used < MUCH || !pct_sched_may_take(&pct_S, holder, PCT_ARG_SPINS))
        return NULL;
    pct_text_init(&text, line, sizeof line);
    pct_text_add(&text, "thread ");
    pct_text_add_u64(&text, holder->id);
    pct_text_add(&text, " computed for ");
    pct_text_add_u64(&text, used / MS);
    pct_text_add(&text, " ms without a call while others could go on; PCT_WATCHDOG=MILLISECONDS lets them");
    return line;
}

/* `pct run --timeout` wants to know where all threads are before it kills them. */
static void last_word(void)
{
    struct pct_thread *holder = pct_sched_holder(&pct_S);
    if (pct_shim.ended)
        return;
    const char *message = blame(holder);
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++) {
        const struct pct_shim_thread *thread = &pct_shim.slots[id];
        if (&thread->core == holder || thread->core.state == PCT_STATE_OUTSIDE)
            pct_preempt_stop(thread, tasks);
    }
    pct_end_verdict(PCT_VERDICT_TIMEOUT, message);
}

/* Let the watchdog get the CPU when it wakes up: from a thread that spins, Linux takes it only when its slice is over,
 * some 3 ms, unless that of the one that wakes is shorter (6.12). By the thread that makes it: where it did this
 * itself, having run for a moment, the spinning thread got one more slice first. */
static void let_come_soon(int32_t tid)
{
    struct { /* struct sched_attr of linux/sched/types.h, which <sched.h> does not go with */
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes;
    if (PCT_SYS4(SYS_sched_getattr, tid, &attributes, sizeof attributes, 0) || attributes.policy)
        return; /* not the usual policy: what these have is the program's business */
    attributes.runtime = SLICE;
    PCT_SYS3(SYS_sched_setattr, tid, &attributes, 0);
}

/* Descriptors are not shared: ours shall not show as a gap in the target's, and the target's shall not be held open.
 * But Linux copies the first ones, and to close a message queue, also a copy, withdraws what the process has asked of
 * it by mq_notify(): these stay. */
static void leave_descriptors(void)
{
    enum { COPIED = 64 };
    PCT_SYS1(SYS_unshare, CLONE_FS);
    if (PCT_SYS3(SYS_close_range, COPIED, ~0u, CLOSE_RANGE_UNSHARE)) {
        if (PCT_SYS1(SYS_unshare, CLONE_FILES))
            return;
        PCT_SYS3(SYS_close_range, COPIED, ~0u, 0);
    }
    for (int fd = 0; fd < COPIED; fd++)
        if (PCT_SYS3(SYS_mq_getsetattr, fd, NULL, NULL)) /* it is none */
            PCT_SYS1(SYS_close, fd);
}

__attribute__((noreturn)) static void watch(void)
{
    static const uint32_t never;
    struct pct_evidence evidence;
    __builtin_memset(&seen, 0, sizeof seen);
    leave_descriptors();
    PCT_SYS2(SYS_prctl, PR_SET_NAME, "pct-watchdog");
    PCT_SYS2(SYS_prctl, PR_SET_TIMERSLACK, 1);
    tasks = (int)PCT_SYS3(SYS_open, "/proc/self/task", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    bool able = pct_preempt_start(&evidence);
    __atomic_store_n(&presence, THERE, __ATOMIC_SEQ_CST);
    pct_futex_wake(&presence, INT32_MAX);
    if (!able) {
        PCT_SYS1(SYS_exit, 0);
        __builtin_unreachable();
    }
    trust = unasked = 0;
    pct_gone_start();
    for (interval = QUESTION;;) {
        /* A sandbox that lets threads wait for each other knows this call. */
        struct timespec pause = { .tv_nsec = (long)interval };
        pct_futex_wait(&never, 0, &pause);
        if (__atomic_load_n(&pct_shim.header->request, __ATOMIC_RELAXED))
            last_word();
        if (pct_shim.ended) {
            /* The process may end with its last thread (pct_sandbox_strict): this one must not keep it. */
            PCT_SYS1(SYS_exit, 0);
            __builtin_unreachable();
        }
        pct_sched_tend(&pct_S);
        pct_gone_see_last();
        pct_gone_look(tasks);
        look();
    }
}

/* Not 0 while the watchdog that was made runs: the kernel clears it at its end, and wakes who waits. */
static uint32_t alive;

/* A kernel thread on this stack, with this thread pointer. */
static long clone_onto(void *stack, void *pointer)
{
    long result = SYS_clone;
    register void *tls __asm__("r8") = pointer;
    register uint32_t *child_tid __asm__("r10") = &alive;
    __asm__ volatile("syscall\n\t"
                     "testq %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xorl %%ebp, %%ebp\n\t"
                     "call *%[watch]\n"
                     "1:"
                     : "+a"(result)
                     : "D"(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                           CLONE_SETTLS | CLONE_CHILD_CLEARTID),
                       "S"(stack), "d"(0), "r"(child_tid), "r"(tls), [watch] "b"(watch)
                     : "rcx", "r11", "memory", "cc");
    return result;
}

/* Its memory is mapped beforehand: when the watchdog is made, real time decides, and what the program maps and
 * allocates shall be at the same addresses in each run. NULL: out of memory. */
static char *map_memory(void)
{
    /* Below the thread pointer lie the variables of each thread: ours and errno, whichever is further away. */
    uintptr_t pointer = (uintptr_t)__builtin_thread_pointer(), mine = (uintptr_t)&pct_self, libcs = (uintptr_t)&errno;
    room.below = (pointer - (mine < libcs ? mine : libcs) + 2 * PAGE) & ~(uintptr_t)(PAGE - 1);
    room.size = PAGE + STACK_SIZE + room.below + PAGE;
    room.memory = pct_apart_map(room.size);
    if (room.memory)
        PCT_SYS3(SYS_mprotect, room.memory, PAGE, PROT_NONE);
    return room.memory;
}

static void make(void)
{
    pct_lone_end();
    pct_host_leave(PCT_HOST_WATCHDOG, 0); /* its thread could not be undone */
    char *stack = room.memory + PAGE + STACK_SIZE, *own = stack + room.below;
    *(void **)own = own; /* GLIBC: the thread pointer points at itself */
    uint64_t all = ~UINT64_C(0), mask;
    (void)REAL(pthread_create); /* found here: the loader's lock may be held until the watchdog has done something */
    PCT_SYS4(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof mask);
    roams = pct_task_asked_is_real_time(0);
    __atomic_store_n(&alive, 1, __ATOMIC_SEQ_CST);
    long tid = clone_onto(stack, own);
    __atomic_store_n(&own_tid, tid > 0 ? (uint32_t)tid : FAILED, __ATOMIC_SEQ_CST);
    pct_futex_wake(&own_tid, INT32_MAX);
    if (tid <= 0) {
        __atomic_store_n(&presence, THERE, __ATOMIC_SEQ_CST); /* nobody waits for its start */
        pct_futex_wake(&presence, INT32_MAX);
    }
    if (tid > 0)
        let_come_soon((int32_t)tid);
    if (roams && tid > 0)
        pct_affinity_unpin((int32_t)tid); /* by itself it would have to get the CPU first */
    PCT_SYS4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
}

void pct_watchdog_forget(void)
{
    presence = NEVER;
    parked = 0;
    own_tid = 0;
    /* Zeros again, where that of the parent was. */
    if (room.memory)
        PCT_SYS3(SYS_madvise, room.memory + PAGE, room.size - PAGE, MADV_DONTNEED);
}

PCT_STARTS int32_t pct_watchdog_tid(void)
{
    uint32_t tid;
    while (!(tid = __atomic_load_n(&own_tid, __ATOMIC_SEQ_CST)) &&
           __atomic_load_n(&presence, __ATOMIC_SEQ_CST) >= COMES)
        pct_futex_wait(&own_tid, 0, NULL);
    return tid == FAILED ? 0 : (int32_t)tid;
}

void pct_watchdog_plan(void)
{
    if (pct_host_contexts && presence == NEVER && pct_shim.watchdog)
        presence = MISSING; /* it is never made: a host that needs it ends */
    /* In a sandbox it would see little, and be killed for looking; under valgrind, what a thread seems to do is what
     * valgrind does. */
    if (presence == NEVER && pct_shim.watchdog && !pct_shim.confined && !pct_in_valgrind() &&
        (room.memory || map_memory())) {
        pct_patience_begin();
        presence = MISSING;
    }
}

bool pct_watchdog_is_made(void)
{
    return __atomic_load_n(&presence, __ATOMIC_RELAXED) >= COMES;
}

void pct_watchdog_listen(void)
{
    pct_lone_end();
    if (presence == NEVER)
        return;
    pct_shim.header->watched = pct_preempt_listen(false);
    /* A real-time policy is that of the threads to come, too: of them, one that waits gets no CPU to make it from one
     * that spins. */
    if (pct_sched_timers(&pct_S) || pct_script_has_family() || pct_task_asked_is_real_time(0))
        pct_watchdog_start();
}

static void make_once(void)
{
    uint32_t missing = MISSING;
    if (pct_shim.mode == PCT_MODE_CONTROLLED &&
        __atomic_compare_exchange_n(&presence, &missing, COMES, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        make();
}

void pct_watchdog_start(void)
{
    if (pct_sched_threads(&pct_S) > 1)
        make_once();
}

void pct_watchdog_tend(void)
{
    pct_watchdog_plan();
    if (__atomic_load_n(&presence, __ATOMIC_RELAXED) != MISSING)
        return;
    if (!pct_shim.header->watched)
        pct_shim.header->watched = pct_preempt_listen(false);
    make_once();
}

void pct_watchdog_have(void)
{
    struct timespec patience = { .tv_sec = 1 };
    pct_watchdog_start();
    if (pct_sched_threads(&pct_S) > 1 && pct_shim.header->watched &&
        __atomic_load_n(&presence, __ATOMIC_SEQ_CST) == COMES)
        pct_futex_wait(&presence, COMES, &patience);
}

void pct_watchdog_settle(void)
{
    while (__atomic_load_n(&presence, __ATOMIC_SEQ_CST) == COMES && pct_is_process(pct_shim.pid))
        pct_futex_wait(&presence, COMES, NULL);
}

void pct_watchdog_await_end(void)
{
    /* The kernel wakes as for a shared futex. */
    while (__atomic_load_n(&presence, __ATOMIC_SEQ_CST) >= COMES && pct_watchdog_tid() &&
           __atomic_load_n(&alive, __ATOMIC_SEQ_CST))
        PCT_SYS4(SYS_futex, &alive, PCT_FUTEX_WAIT_SHARED, 1, NULL);
}

void pct_watchdog_wait(const uint32_t *word)
{
    if (__atomic_load_n(&presence, __ATOMIC_RELAXED) != MISSING)
        pct_futex_wait(word, 0, NULL);
    else if (__atomic_add_fetch(&parked, 1, __ATOMIC_RELAXED) > MANY || pct_patience_ends(word))
        pct_watchdog_start();
}
