/* The kernel engine: how the baton passes between threads, each on a kernel thread of its own, by a futex word a
 * thread.
 *
 * All threads of the target are pinned to one CPU (start.c): a hand-over within a CPU takes 0.8 us, across CPUs 29 us.
 * Nothing outside this file knows that a thread has a kernel thread to itself. */
#include "engine.h"
#include "end.h"
#include "script.h"
#include <common/text.h>
#include <preload/core/debugger.h>
#include <preload/core/host.h>
#include <preload/core/host_threads.h>
#include <preload/core/kernel.h>
#include <preload/core/loader.h>
#include <preload/core/maps.h>
#include <preload/core/real.h>
#include <preload/core/registers.h>
#include <preload/core/sites.h>
#include <preload/core/sys.h>
#include <preload/io/io.h>
#include <preload/io/streams.h>
#include <preload/memory/await.h>
#include <preload/memory/scope.h>
#include <preload/signals/doorbell.h>
#include <preload/signals/signals.h>
#include <preload/sync/foreign_calls.h>
#include <preload/sync/mutex.h>
#include <preload/sync/once.h>
#include <preload/thread/foreign_threads.h>
#include <preload/time/family.h>
#include <preload/time/family_memory.h>
#include <preload/time/vtimer.h>
#include <preload/watchdog/watchdog.h>
#include <strategies/explore.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

/* GLIBC's headers do not have these yet; Linux 6.16. */
enum { FUTEX_HASH = 78, FUTEX_HASH_SET_SLOTS = 1, MANY_THREADS = 64 };

/* The kernel keeps who sleeps on a futex in lists, of which a process has four for each CPU, however many threads it
 * has: with thousands, parked, a wake would walk hundreds of them. Kernels that do not know the question have lists
 * enough. */
void pct_engine_expect(uint32_t threads)
{
    if (threads >= MANY_THREADS && !(threads & (threads - 1)) && !pct_shim.confined)
        PCT_SYS6(SYS_prctl, FUTEX_HASH, FUTEX_HASH_SET_SLOTS, 4 * threads, 0, 0, 0);
}

/* The thread that ended before us must be gone from the kernel: until then it still touches libc's caches of stacks and
 * arenas, in an order of its own. */
static void await_end(struct pct_shim_thread *self)
{
    const volatile int *word = self->ending;
    struct timespec second = { .tv_sec = 1 };
    self->ending = NULL;
    /* Another thread may have got its memory. */
    const volatile int *tid = (const volatile int *)((const char *)self->ended->handle + pct_shim.libc_tid);
    int now;
    while ((now = *word) != 0 && *tid == self->ended->tid && !__atomic_load_n(&self->ended->exiting, __ATOMIC_SEQ_CST))
        /* The kernel wakes as for a shared futex. */
        if (PCT_SYS4(SYS_futex, word, PCT_FUTEX_WAIT_SHARED, now, &second) == -ETIMEDOUT) {
            pct_uncontrolled(PCT_UNCONTROLLED_EXIT);
            break;
        }
}

/* What the kernel clears when this thread is gone. */
static const volatile int *end_word(const struct pct_shim_thread *self)
{
    return self->there ? &self->there : (const volatile int *)((const char *)self->handle + pct_shim.clear_tid);
}

/* GLIBC: since 2.43 the main thread clears its word itself, while it is still counted as one that may be the last, and
 * nothing needs the kernel's doing it then. */
void pct_engine_finishing(struct pct_shim_thread *self)
{
    if (pct_host_contexts && self->handle == pct_shim.main_thread)
        pct_host_leave(PCT_HOST_CONTEXT, 0);
    if (self->handle != pct_shim.main_thread || pct_shim.clear_tid == pct_shim.libc_tid)
        return;
    self->there = 1;
    if (PCT_SYS1(SYS_set_tid_address, &self->there) < 0)
        self->there = 0;
}

/* libc frees what a thread has left after its last destructor. A lock of the target's allocator that is taken then may
 * be held by a thread that waits for this one to be gone. */
void pct_engine_exiting(struct pct_shim_thread *self)
{
    if (__atomic_exchange_n(&self->exiting, 1, __ATOMIC_SEQ_CST) || !pct_shim.clear_tid)
        return;
    PCT_SYS3(SYS_futex, end_word(self), 1 /* FUTEX_WAKE */, INT32_MAX);
}

void pct_engine_wait(struct pct_shim_thread *self)
{
    while (!__atomic_load_n(&self->word, __ATOMIC_ACQUIRE))
        if (PCT_UNLIKELY(pct_host_contexts))
            pct_host_context_wait();
        else
            pct_watchdog_wait(&self->word);
    __atomic_store_n(&self->word, 0, __ATOMIC_RELAXED);
    if (PCT_UNLIKELY(self->ending))
        await_end(self);
}

static void wake(struct pct_shim_thread *thread)
{
    __atomic_store_n(&thread->word, 1, __ATOMIC_RELEASE);
    if (PCT_UNLIKELY(pct_host_contexts))
        pct_host_context_ready(thread->context);
    else
        pct_futex_wake(&thread->word, 1);
}

static void go(struct pct_thread *from, struct pct_thread *to)
{
    struct pct_shim_thread *self = pct_shim_of(from), *next = pct_shim_of(to);
    /* Before the next thread runs: it may be the one that makes the report. */
    if (self == pct_self)
        pct_save_registers(self->regs);
    if (from->state == PCT_STATE_FINISHED && !pct_shim.clear_tid) {
        pct_uncontrolled(PCT_UNCONTROLLED_EXIT);
    } else if (from->state == PCT_STATE_FINISHED) {
        next->ending = end_word(self);
        next->ended = self;
    }
    /* Not after the wake: the next thread may run at once, and send this one outside. */
    bool waits = from->state != PCT_STATE_FINISHED && from->state != PCT_STATE_OUTSIDE;
    if (PCT_UNLIKELY(pct_host_contexts &&
                     from->state == PCT_STATE_OUTSIDE)) /* of one kernel thread, it would keep all */
        pct_host_leave(PCT_HOST_CONTEXT, 0);
    wake(next);
    if (waits)
        pct_engine_wait(self);
}

static void release(struct pct_thread *thread)
{
    wake(pct_shim_of(thread));
}

static void park(struct pct_thread *from)
{
    pct_save_registers(pct_shim_of(from)->regs);
    pct_engine_wait(pct_shim_of(from));
}

static void sleep_until(uint64_t when, const uint32_t *word, uint32_t value)
{
    uint64_t now = pct_real_now();
    if (when <= now)
        return;
    struct timespec left = { .tv_sec = (time_t)((when - now) / 1000000000),
                             .tv_nsec = (long)((when - now) % 1000000000) };
    if (pct_self)
        pct_save_registers(pct_self->regs); /* for a report that is made meanwhile */
    if (!pct_family_sleep(word, value, when == PCT_NEVER ? NULL : &left))
        pct_futex_wait(word, value, when == PCT_NEVER ? NULL : &left);
}

static void nudge(uint32_t *word)
{
    pct_futex_wake(word, 1);
    pct_family_nudge();
    pct_io_nudge();
}

/* In a sandbox nobody is recalled: it may forbid the signal. */
static bool has_family(void)
{
    return pct_family_clock && !pct_shim.confined;
}

static bool is_in(const void *address, const struct pct_mapping *mapping)
{
    return (uintptr_t)address >= mapping->from && (uintptr_t)address < mapping->to;
}

/* Files of the command's, such as the trace or the plan of `pct demon`: a part of their path begins so. */
static bool is_of_command(const char *path)
{
    static const char mark[] = "pct-";
    for (const char *at = path; *at; at++)
        if ((at == path || at[-1] == '/' || at[-1] == ':') && !strncmp(at, mark, sizeof mark - 1))
            return true;
    return false;
}

/* Only another process can end what the threads do: a note of the report, whatever becomes of the run. */
static void note_stranger(const char *path)
{
    struct pct_text text;
    if (pct_shim.header->message[0])
        return;
    pct_text_init(&text, pct_shim.header->message, sizeof pct_shim.header->message);
    pct_text_add(&text, "for a million steps threads have only yielded, slept and retried: no livelock only because "
                        "another process may change what it shares with this one: ");
    pct_text_add(&text, path);
}

/* Memory with a name, of a file or System V's: what has none, only the family shares. To read alone it is mostly a
 * library's table. */
static bool shares(void)
{
    struct pct_maps maps;
    struct pct_mapping mapping;
    char path[128];
    bool found = false;
    if (pct_shim.confined || !pct_maps_open(&maps)) /* nobody tells */
        return false;
    while (!found && pct_maps_next(&maps, &mapping, path, sizeof path))
        found = mapping.shared && mapping.writable && !pct_text_same(path, PCT_MAPS_ANONYMOUS) &&
                !is_in(pct_shim.header, &mapping) && !is_in(pct_family_memory, &mapping) && !is_of_command(path);
    pct_maps_close(&maps);
    if (found)
        note_stranger(path);
    return found;
}

/* A timer of CPU time goes on as they spin. */
static bool spun(const struct pct_thread *thread)
{
    return pct_timer_of_cpu() || pct_script_spun(thread);
}

/* Where the next point of an explored run is to be: half-way to the end of the plan, and so on, as long as what lies in
 * between takes longer than to keep it. */
static struct {
    uint32_t from; /* of the run: it went on there, or has kept a point; */
    uint32_t next; /* 0: none */
} points;

static void aim(uint32_t from, uint32_t count)
{
    enum { FIRST = 8, NEAR = 24 };
    points.from = from;
    points.next = count > from + (from ? NEAR : FIRST) ? from + (count - from) / 2 : 0;
}

static void arrives(const struct pct_thread *thread)
{
    pct_loader_arrives(thread);
    pct_once_arrives(thread);
}

static void point(void)
{
    uint32_t at, count;
    pct_explore_at(pct_sched_strategy_state(&pct_S), &at, &count);
    if (!at)
        aim(0, count);
    if (!at || at != points.next)
        return;
    switch (pct_host_point_keep(at)) {
    case PCT_HOST_POINT_RESUMED:
        pct_explore_follow(pct_sched_strategy_state(&pct_S), pct_sched_log(&pct_S)->plan,
                           pct_sched_log(&pct_S)->plan_count);
        pct_explore_at(pct_sched_strategy_state(&pct_S), &at, &count);
        aim(at, count);
        break;
    case PCT_HOST_POINT_KEPT:
        aim(at, count);
        break;
    case PCT_HOST_POINT_NONE:
        points.next = count > at + 1 ? at + 1 + (count - at) / 4 : 0;
        break;
    }
}

static uint32_t holder(const struct pct_thread *thread)
{
    const uint32_t mutex = pct_mutex_holder(thread);
    return mutex == PCT_NO_THREAD ? pct_stream_holder(thread) : mutex;
}

const struct pct_host pct_host_futex = {
    .nudge = nudge,
    .poll = pct_io_sleep,
    .sent = pct_io_sent,
    .may_be_signalled = pct_signal_may_come,
    .settle = pct_signal_settle,
    .relatives = pct_family_relatives,
    .still = pct_family_still,
    .idle = pct_family_idle,
    .busy = pct_family_busy,
    .behind = pct_family_behind,
    .turn = pct_family_await_turn,
    .caught_up = pct_family_caught_up,
    .family = has_family,
    .recall = pct_recall,
    .tend = pct_watchdog_tend,
    .alarm = pct_vtimer_alarm,
    .holder = holder,
    .strangers = pct_foreign_threads,
    .asleep = pct_foreign_threads_asleep,
    .shares = shares,
    .told = pct_foreign,
    .changed = pct_await_changed,
    .rests = pct_script_rests,
    .spun = spun,
    .returned = pct_script_returned,
    .map = pct_map,
    .go = go,
    .release = release,
    .park = park,
    .now = pct_real_now,
    .sleep = sleep_until,
    .populate = pct_host_populate,
    .site = pct_sites_call,
    .callers = pct_sites_callers,
    .place = pct_scope_place,
    .stack = pct_sites_keep_stack,
    .pause = pct_debugger_pause,
    .point = point,
    .arrives = arrives,
    .end = pct_end_verdict,
};

/* Where in struct pthread stands what the kernel clears at the thread's end; 0: unknown. GLIBC: the tid itself, up to
 * 2.41 at least; a state of its own in 2.43. Kernels say it that can checkpoint, as those of distributions can. */
static int find_cleared(const char *self)
{
    const char *word = NULL;
    if (!pct_shim.libc_tid || pct_libc_minor() <= 41)
        return pct_shim.libc_tid; /* without a question */
    if (!PCT_SYS2(SYS_prctl, PR_GET_TID_ADDRESS, &word) && word > self && word < self + 4096)
        return (int)(word - self);
    return 0;
}

void pct_engine_learn(void)
{
    /* GLIBC: struct pthread is private; the tid stands in it once, at 720 on x86-64. The caller is the first thread. */
    int tid = pct_shim.pid;
    const char *self = (const char *)pthread_self();
    for (int i = 0; i < 1024 && !pct_shim.libc_tid; i += 4)
        if (*(const int *)(self + (720 + i) % 1024) == tid)
            pct_shim.libc_tid = (720 + i) % 1024;
    pct_shim.clear_tid = find_cleared(self);
    pct_shim.main_thread = pthread_self();
}
