/* Watchpoints: see watch.h. */
#include "watch.h"
#include "scope.h"
#include <common/scope.h>
#include <common/watchpoint.h>
#include <preload/core/kernel.h>
#include <preload/core/point.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/signals/signals.h>
#include <preload/signals/trap.h>
#include <preload/watchdog/preempt.h>
#include <sched/memory.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/uio.h>

enum { WATCHPOINTS = PCT_SCOPE_WATCHPOINTS, FIRST_FD = 900, LATE = 1 /* TRAP_PERF_FLAG_ASYNC of the kernel */ };

/* The kernel's code of such a trap, which glibc's headers do not have yet, and what it is made with. */
#define TRAP_BY_PERF 6
#define MARK UINT64_C(0x7063742d77617400)

/* siginfo_t of such a trap, as the kernel has it. */
struct perf_trap {
    int signal, error, code, unused;
    uint64_t address, data;
    uint32_t type, flags;
};

static struct {
    struct watchpoint {
        uintptr_t address;
        uint32_t size;
        uint32_t number; /* the location's, 0: it was not accessed yet */
        uint64_t value;  /* after the last access */
    } point[WATCHPOINTS];
    uint32_t count;
    bool child; /* of the process that is recorded */
} watch;

void pct_watch_forget(void)
{
    /* The events are the parent's; the descriptors go when this process executes something. */
    watch.count = 0;
    watch.child = true;
    pct_trap_end(PCT_TRAP_WATCH);
}

/* --- Setting ------------------------------------------------------------------------------------------------------ */

/* Reads by a system call: an instruction would meet the watchpoint. Where that may not be allowed, it is as if the
 * value never stayed. */
static uint64_t value_of(struct watchpoint *point)
{
    uint64_t value = 0;
    struct iovec here = { &value, point->size }, there = { (void *)point->address, point->size };
    long got = pct_shim.confined ? 0 : PCT_SYS6(SYS_process_vm_readv, pct_any_tid(), &here, 1, &there, 1, 0);
    return got == (long)point->size ? value : ~point->value;
}

static bool open_event(const struct watchpoint *point, int tid)
{
    struct perf_event_attr attr = PCT_WATCHPOINT(point->address, point->size, MARK | (uint64_t)(point - watch.point));
    long fd = PCT_SYS6(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
    if (fd < 0)
        return false;
    /* Out of the way of the target's own. */
    long high = PCT_SYS3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, FIRST_FD);
    if (high >= 0)
        PCT_SYS1(SYS_close, fd);
    return true;
}

static void set(uintptr_t address, uint32_t size)
{
    struct watchpoint *point = &watch.point[watch.count++];
    *point = (struct watchpoint){ .address = address, .size = size };
    point->value = value_of(point);
    bool set_all = true;
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++) {
        const struct pct_shim_thread *thread = &pct_shim.slots[id];
        if (thread->core.state != PCT_STATE_FINISHED && thread->tid)
            set_all &= open_event(point, thread->tid);
    }
    if (!set_all && !watch.child)
        pct_scope_refuse(
            "PCT_WATCH: the kernel refuses watchpoints here (perf_event_open): `pct run --watch` says why");
}

static bool is_set(uintptr_t address)
{
    for (uint32_t i = 0; i < watch.count; i++)
        if (address - watch.point[i].address < watch.point[i].size)
            return true;
    return false;
}

void pct_watch_look(void)
{
    uintptr_t from, to;
    if (!pct_shim.config.watch[0])
        return;
    for (uint32_t i = 0; pct_scope_range(PCT_SCOPE_WATCH, i, &from, &to); i++) {
        if (is_set(from))
            continue;
        if (pct_shim.confined && !watch.child)
            pct_scope_refuse(
                "PCT_WATCH: the program has confined itself (seccomp) before it made a second thread: nothing "
                "can be watched in it");
        if (!(pct_traps & PCT_TRAP_WATCH)) {
            pct_preempt_locate();
            pct_trap_start(PCT_TRAP_WATCH);
        }
        for (uint32_t size; from < to && watch.count < WATCHPOINTS; from += size) {
            size = pct_scope_watchpoint(from, to);
            set(from, size);
        }
    }
}

/* --- Traps -------------------------------------------------------------------------------------------------------- */

/* The thread stands right behind an access. */
static void pass(struct pct_shim_thread *self, struct watchpoint *point, uintptr_t pc)
{
    int error = errno;
    uint64_t value = value_of(point);
    enum pct_op op = value == point->value ? PCT_OP_LOAD : PCT_OP_STORE;
    point->value = value;
    if (!point->number)
        point->number = pct_object_number(&pct_S.objects);
    self->location = (struct pct_object){
        .address = point->address, .number = point->number, .holder = PCT_NO_THREAD, .class_ = PCT_CLASS_MEMORY
    };
    self->here = pc;
    pct_memory_behind(&pct_S, &self->core, &self->recent, op, &self->location, !pct_preempt_is_libcs(pc));
    self->here = 0;
    pct_after_resume(self);
    errno = error;
}

static void take(const struct perf_trap *trap, const ucontext_t *context)
{
    struct pct_shim_thread *self = pct_self;
    if (!self || !pct_sched_is_on(&pct_S) || pct_shim.ended || pct_shim.mode != PCT_MODE_CONTROLLED ||
        self->core.state == PCT_STATE_FINISHED || pct_sched_alone(&pct_S) || pct_signal_in_shim(self, context))
        return; /* a part of an operation that is a step itself, or there is nobody else */
    if (trap->flags & LATE || !pct_holder())
        pct_uncontrolled(PCT_UNCONTROLLED_WATCH);
    else
        pass(self, &watch.point[trap->data & ~MARK], (uintptr_t)context->uc_mcontext.gregs[REG_RIP]);
}

bool pct_watch_trapped(int signal, const siginfo_t *info, ucontext_t *context)
{
    const struct perf_trap *trap = (const void *)info;
    if (signal != SIGTRAP || !(pct_traps & PCT_TRAP_WATCH) || info->si_code != TRAP_BY_PERF ||
        (trap->data & ~UINT64_C(0xff)) != MARK)
        return false;
    take(trap, context);
    return true;
}
