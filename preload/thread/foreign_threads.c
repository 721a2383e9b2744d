/* Threads of the process that are not in the schedule: those that something else than our pthread_create has made
 * (libc's own, by its address; clone), about which nobody tells. Before time jumps over what they may do, or a verdict
 * says that nothing can happen any more, the kernel is asked who is there. Mostly that is one system call, which counts
 * them; before a verdict, processes that share the memory are looked for, too. The watchdog is ours; workers of
 * io_uring are the kernel's.
 *
 * One that sleeps in a futex until it is woken is no reason to wait: nobody but threads of this process wakes it, and
 * if there is another stranger who could, that one counts. The others may act by themselves: at once, for all that can
 * be known, or when the futex's time is over. */
#include "foreign_threads.h"
#include <preload/core/host.h>
#include <preload/core/host_threads.h>
#include <preload/core/maps.h>
#include <preload/core/point.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include "proc_task.h"
#include "thread.h"
#include <common/text.h>
#include <preload/time/absent.h>
#include <preload/time/clock.h>
#include <preload/time/family.h>
#include <preload/watchdog/watchdog.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/kcmp.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* A stranger that sleeps until a point in time: when that is in virtual time, taken from when it was first seen there.
 */
struct sleeper {
    int32_t tid;
    uint64_t until; /* ns, on the clock that it sleeps by */
    uint64_t due;   /* virtual ns */
};
enum { SLEEPERS = 16 };
static struct {
    struct sleeper sleepers[SLEEPERS];
    unsigned last_sleeper;
    bool met; /* there are some, or were */
    /* The steps, from 1, at which they were made to look again; and the threads of the schedule, since when none has
     * acted. */
    uint64_t woken_at, asked_at;
    uint64_t none_until; /* virtual ns: till then, that there was none holds for jumps of time */
} seen;

void pct_foreign_threads_forget(void)
{
    __builtin_memset(&seen, 0, sizeof seen);
}

/* --- Threads that have ended -----------------------------------------------------------------------------------------
 *
 * Of a process with one thread, the CPU time is that thread's. If it has used more than the thread, there were others,
 * which nobody met: they have called nothing, or another libc. Where the schedule knows several, nobody can tell. */

/* CPU time that the process has used, and neither the calling thread nor the watchdog, ns: at least, and at most. Where
 * threads are contexts, no run can make any that nobody meets (preload/core/host_filter.c). */
PCT_STARTS static bool read_others_time(int64_t *least, int64_t *most)
{
    if (pct_host_contexts && pct_host_is_on())
        return false;
    struct timespec before, process, after, watchdog = { 0 };
    int32_t tid = pct_watchdog_tid();
    if (PCT_SYS2(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &before) ||
        PCT_SYS2(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &process) ||
        PCT_SYS2(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &after) ||
        /* The clock of a thread: linux/posix-timers.h. */
        (tid && PCT_SYS2(SYS_clock_gettime, (long)(~(uint32_t)tid << 3 | 6), &watchdog)))
        return false;
    *most = (int64_t)(pct_nanoseconds(&process) - pct_nanoseconds(&before));
    *least = (int64_t)(pct_nanoseconds(&process) - pct_nanoseconds(&after) - pct_nanoseconds(&watchdog));
    return true;
}

/* At most: by threads of the program that this process was before. */
PCT_OF_START static int64_t others_before = INT64_MAX;

static bool ended_before; /* in the fork server, before it made this run */

static bool kernel_works; /* perhaps: what its threads use is the process's */

void pct_foreign_threads_of_kernel(void)
{
    kernel_works = true;
}

bool pct_foreign_threads_has_kernel(void)
{
    return kernel_works;
}

void pct_foreign_threads_serve(void)
{
    int64_t least, most;
    ended_before = read_others_time(&least, &most) && least > others_before;
}

PCT_STARTS void pct_foreign_threads_begin(void)
{
    int64_t least;
    if (!read_others_time(&least, &others_before))
        others_before = INT64_MAX;
}

void pct_foreign_threads_count(void)
{
    int64_t least, most;
    bool alone = pct_shim.mode == PCT_MODE_CONTROLLED && pct_sched_threads(&pct_S) == 1 && pct_self && !kernel_works;
    if (alone && (ended_before || (!pct_shim.confined && read_others_time(&least, &most) && least > others_before)))
        pct_uncontrolled(PCT_UNCONTROLLED_FOREIGN);
}

/* --- Threads that are there ------------------------------------------------------------------------------------------
 */

/* Of linux/sched.h: PF_IO_WORKER, PF_USER_WORKER. */
enum { WORKS_FOR_THE_KERNEL = 0x10 | 0x4000 };

static uint64_t due(int32_t tid, uint64_t until, uint64_t left)
{
    for (unsigned i = 0; i < SLEEPERS; i++)
        if (seen.sleepers[i].tid == tid && seen.sleepers[i].until == until)
            return seen.sleepers[i].due;
    struct sleeper *sleeper = &seen.sleepers[seen.last_sleeper++ % SLEEPERS];
    *sleeper = (struct sleeper){ .tid = tid, .until = until, .due = pct_sched_now(&pct_S) + left };
    return sleeper->due;
}

static bool is_shared(uintptr_t address)
{
    struct pct_mapping mapping;
    return !pct_maps_find((const void *)address, &mapping, NULL, 0) || mapping.shared;
}

/* A stranger sleeps in this call. */
static uint64_t acts_in_futex(int32_t tid, const struct pct_task_call *call, bool wake)
{
    struct timespec limit, now = { 0 };
    int op = (int)call->arguments[1], command = op & FUTEX_CMD_MASK;
    const struct timespec *timeout = (const struct timespec *)call->arguments[3];
    if (!(op & FUTEX_PRIVATE_FLAG) && is_shared(call->arguments[0]))
        return 0; /* another process may wake it */
    if (timeout) {
        /* An absolute time; one that is relative began nobody knows when. */
        clockid_t clock = op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
        if (command != FUTEX_WAIT_BITSET || !pct_user_copy_in(&limit, timeout, sizeof limit) || !pct_valid(&limit) ||
            PCT_SYS2(SYS_clock_gettime, clock, &now))
            return 0;
        uint64_t until = pct_nanoseconds(&limit), passed = pct_nanoseconds(&now);
        return until > passed ? due(tid, until, until - passed) : 0;
    }
    /* A shortcut may have taken a lock for free that it was about to wait for: it is to look again. */
    if (wake)
        pct_futex_wake((uint32_t *)call->arguments[0], INT32_MAX);
    return PCT_NEVER;
}

/* Until when this stranger does nothing by itself. *works: it is a thread of the kernel's, which comes and goes as the
 * kernel likes. */
static uint64_t acts(int folder, int32_t tid, bool wake, bool *works)
{
    struct pct_task_call call;
    char state;
    uint64_t flags;
    bool there = pct_task_read_flags(folder, tid, &state, &flags);
    *works = there && flags & WORKS_FOR_THE_KERNEL;
    if (!there || state == 'Z' || state == 'X' || *works)
        return PCT_NEVER;
    if (state != 'S' || !pct_task_read_call(folder, tid, &call) || call.number != SYS_futex)
        return 0;
    return acts_in_futex(tid, &call, wake);
}

/* Threads of the schedule, also those that have finished, and are about to be gone. */
static bool is_known(int32_t tid)
{
    static uint32_t next; /* tasks stand there in the order in which they were made, like our threads */
    for (uint32_t i = 0; i < pct_sched_threads(&pct_S); i++) {
        uint32_t id = (next + i) % pct_sched_threads(&pct_S);
        if (pct_shim.slots[id].tid == tid) {
            next = id + 1;
            return true;
        }
    }
    return tid == pct_watchdog_tid() || pct_host_threads_is_parked(tid);
}

static int32_t number(const char *name)
{
    int32_t value = 0;
    for (; *name >= '0' && *name <= '9'; name++)
        value = value * 10 + (*name - '0');
    return value;
}

/* All of them. found: some were there. */
static uint64_t ask_all(int folder, bool wake, bool *found)
{
    struct entry {
        uint64_t inode, offset;
        uint16_t length;
        uint8_t type;
        char name[];
    };
    static union {
        struct entry first;
        char text[4096];
    } entries;
    uint64_t soonest = PCT_NEVER;
    long got;
    while ((got = PCT_SYS3(SYS_getdents64, folder, &entries, sizeof entries)) > 0)
        for (long at = 0; at < got;) {
            const struct entry *entry = (const struct entry *)(entries.text + at);
            int32_t tid = number(entry->name);
            at += entry->length;
            if (!tid || is_known(tid))
                continue;
            bool works;
            uint64_t when = acts(folder, tid, wake, &works);
            soonest = when < soonest ? when : soonest;
            *found |= !works;
        }
    return soonest;
}

/* --- Processes that share the memory (clone with CLONE_VM alone) -------------------------------------------------- */

/* What the threads of this one may do, if it is such a process. */
static uint64_t ask_sharer(int32_t pid, bool wake, bool *found)
{
    char path[48];
    struct pct_text text;
    if (PCT_SYS6(SYS_kcmp, pct_shim.pid, pid, KCMP_VM, 0, 0, 0))
        return PCT_NEVER;
    pct_text_init(&text, path, sizeof path);
    pct_text_add(&text, "/proc/");
    pct_text_add_u64(&text, (uint64_t)pid);
    pct_text_add(&text, "/task");
    const long folder = PCT_SYS3(SYS_open, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    const uint64_t soonest = folder < 0 ? PCT_NEVER : ask_all((int)folder, wake, found);
    PCT_SYS1(SYS_close, folder);
    return soonest;
}

/* Nobody tells of them: they are looked for among the children, where there are any. */
static uint64_t ask_sharers(bool wake, bool *found)
{
    enum { ANY_CHILD = WEXITED | WNOHANG | WNOWAIT | __WALL };
    static int32_t children[32];
    static siginfo_t info;
    uint64_t soonest = PCT_NEVER;
    if (pct_shim.confined || pct_host_is_on() || PCT_SYS6(SYS_waitid, P_ALL, 0, &info, ANY_CHILD, NULL, 0))
        return PCT_NEVER;
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++) {
        const int32_t tid = pct_shim.slots[id].tid;
        const size_t count = tid ? pct_task_children(tid, children, sizeof children / sizeof *children) : 0;
        for (size_t i = 0; i < count; i++) {
            const uint64_t when = ask_sharer(children[i], wake, found);
            soonest = when < soonest ? when : soonest;
        }
    }
    return soonest;
}

/* How many tasks the process has, at most: those that end count for a while. 0: not known. */
static uint64_t count(void)
{
    struct stat status;
    const unsigned parked = pct_host_threads_parked();
    return PCT_SYS2(SYS_stat, "/proc/self/task", &status) ? 0 : status.st_nlink - 2 - parked;
}

/* Whether other processes may wake who sleeps on this word. Relatives alone have what is shared without a name. */
static bool others_wake(uintptr_t word)
{
    static const char unnamed[] = "/SYSV00000000 (deleted)"; /* the kernel's word for IPC_PRIVATE */
    struct pct_mapping mapping;
    char path[sizeof unnamed + 1];
    if (!pct_maps_find((const void *)word, &mapping, path, sizeof path))
        return true;
    const bool named = !pct_text_same(path, PCT_MAPS_ANONYMOUS) && !pct_text_same(path, unnamed);
    return mapping.shared && (named || pct_family_relatives());
}

/* Whether the kernel has changed this word, and woken one who waits for it: at the end of a thread, it clears the id
 * that stood there, and marks what a robust lock's owner leaves. Ids begin at 300 when they have gone round. */
static bool kernel_wakes(uint32_t before, uint32_t now)
{
    return now & FUTEX_OWNER_DIED || (!now && (before >= 300 || before > (uint32_t)PCT_SYS0(SYS_getpid)));
}

/* Whether a wake-up that pct has not seen may have come with this change of the word that the thread waits for. */
static bool unseen_wakes(const struct pct_shim_thread *thread, uint32_t now)
{
    return seen.met || (thread->futex_shared && (kernel_wakes(thread->futex_value, now) || pct_family_relatives() ||
                                                 others_wake((uintptr_t)thread->futex_word)));
}

/* Strangers need not call anything that tells: they change a word and wake by a system call of their own. So a futex
 * whose word they may have changed is taken for woken. */
static void ask_futexes(void)
{
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++) {
        struct pct_shim_thread *thread = &pct_shim.slots[id];
        const struct pct_wait *wait = &thread->core.wait;
        if (thread->core.queued && !wait->ready && wait->object->class_ == PCT_CLASS_FUTEX &&
            wait->object->address == (uintptr_t)thread->futex_word) {
            const uint32_t now = *(const volatile uint32_t *)thread->futex_word;
            if (now != thread->futex_value && unseen_wakes(thread, now))
                pct_sched_wake(&pct_S, &thread->core);
        }
    }
}

/* No stranger will act any more. Before, they may have unlocked a mutex inside of libc's pthread_cond_wait, written to
 * a pipe by a system call of their own: all predicates are to be asked again, once. */
static uint64_t quiet(void)
{
    ask_futexes();
    if (seen.met && seen.asked_at != pct_steps(&pct_S) + 1) {
        seen.asked_at = pct_steps(&pct_S) + 1;
        pct_set_due(&pct_S, PCT_DUE_ATTENTION);
    }
    return PCT_NEVER;
}

uint64_t pct_foreign_threads_asleep(const struct pct_thread *thread)
{
    const int32_t tid = pct_shim.slots[thread->id].tid;
    struct pct_task_call call;
    struct pct_task task;
    static char text[PCT_TASK_TEXT];
    const long folder =
        pct_shim.confined ? -1 : PCT_SYS3(SYS_open, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    /* In this order: whoever wakes behind the first question goes to sleep once more. */
    const bool sleeps = folder >= 0 && pct_task_read(folder, tid, &task, text) && task.state == 'S' &&
                        pct_task_read_call(folder, tid, &call) && call.number == SYS_futex;
    PCT_SYS1(SYS_close, folder);
    if (!sleeps)
        return 0;
    const int op = (int)call.arguments[1], command = op & FUTEX_CMD_MASK;
    const bool waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI;
    const bool ends = call.arguments[3] || (!(op & FUTEX_PRIVATE_FLAG) && others_wake(call.arguments[0]));
    return waits && !ends ? task.sleeps + 1 : 0;
}

/* A sleep takes some 60 us longer than asked for (PR_SET_TIMERSLACK), and a thread about as long to come up: what one
 * does that was made since the last question may as well be seen behind a jump of time that ends this soon. Those that
 * poll sleep for less, and the question takes three times what else a poll does. */
enum { SOON_NS = 100000 };

uint64_t pct_foreign_threads(uint64_t until, bool lately)
{
    if (pct_absent_awaited(until))
        return 0;
    if (lately && until <= seen.none_until && !seen.met && !pct_sched_has_met(&pct_S, PCT_FOREIGN_THREADS))
        return PCT_NEVER;
    uint64_t known = pct_sched_live(&pct_S) - pct_thread_coming + (pct_watchdog_tid() != 0);
    uint64_t there = pct_shim.confined || !pct_shim.clear_tid ? 0 : count();
    bool found = false, last = until == PCT_NEVER;
    /* Before a verdict, those that sleep look again. */
    bool wake = last && seen.woken_at != pct_steps(&pct_S) + 1;
    uint64_t soonest = last || seen.met ? ask_sharers(wake, &found) : PCT_NEVER;
    if (there && there <= known && !found) {
        seen.none_until = pct_sched_now(&pct_S) + SOON_NS;
        return last || seen.met ? quiet() : PCT_NEVER;
    }
    long folder = there ? PCT_SYS3(SYS_open, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0) : -1;
    if (folder < 0) /* nobody tells; but some may have shown themselves */
        return there || pct_sched_has_met(&pct_S, PCT_FOREIGN_THREADS) ? 0 : PCT_NEVER;
    const uint64_t threads = ask_all((int)folder, wake, &found);
    soonest = threads < soonest ? threads : soonest;
    PCT_SYS1(SYS_close, folder);
    if (found) {
        seen.met = true;
        pct_sched_in_full(&pct_S);
    }
    if (found && wake && soonest == PCT_NEVER) {
        seen.woken_at = pct_steps(&pct_S) + 1;
        soonest = 0;
    }
    /* Those that were too many may all be threads of the schedule that have finished, for the kernel not yet: that
     * decides nothing. */
    if (soonest == PCT_NEVER)
        return last || seen.met ? quiet() : PCT_NEVER;
    seen.asked_at = 0;
    if (soonest < until)
        pct_uncontrolled(PCT_UNCONTROLLED_FOREIGN);
    return soonest;
}
