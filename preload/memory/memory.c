/* Memory events: see memory.h. What counts as a scheduling point is sched/memory.c's to say; here is who may ask, and
 * what is done at one. Nothing is kept, and no memory used, before the first event with a second thread alive. */
#include "annotations.h"
#include "await.h"
#include "calls.h"
#include "learned_sites.h"
#include "leave.h"
#include "memory_quick.h"
#include "other_stack.h"
#include "scope.h"
#include "spin_reads.h"
#include <common/text.h>
#include <preload/core/apart.h>
#include <preload/core/kernel.h>
#include <preload/core/maps.h>
#include <preload/core/point.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/time/clock.h>
#include <sched/await.h>
#include <sched/log.h>
#include <sched/races.h>
#include <sys/mman.h>

enum { MOST_KEPT = 256 };

static struct {
    struct pct_memory map;
    bool failed;  /* out of address space: no points at memory */
    bool seen;    /* by the race detector */
    void **table; /* of cells, for map.cells: zero, but for what is kept */
    struct kept {
        uintptr_t address; /* any that the table of the second level is for */
        void *chunk;
    } kept[MOST_KEPT];
    unsigned kept_count;
    uintptr_t main_to; /* where the first thread's stack ends; 0: it was not looked for */
} memory;

PCT_EXPORT const unsigned pct_memory_interface = PCT_MEMORY_INTERFACE;
PCT_EXPORT struct pct_memory_view pct_memory_view;
PCT_EXPORT __thread struct pct_memory_own pct_memory_own;

void pct_memory_adopt(uint32_t thread)
{
    pct_memory_own.mark = pct_memory_mark(thread);
    pct_memory_own.unmark = 0 - pct_memory_own.mark;
}

static void show(void)
{
    bool quick = pct_memory_view.active && !pct_memory_view.wants_all;
    pct_memory_view.cells = memory.map.cells;
    pct_memory_view.quick = quick ? memory.map.cells : NULL;
}

void pct_memory_second_thread(void)
{
    if (pct_sched_races(&pct_S))
        pct_annotations_tell(pct_self);
    pct_memory_view.wants_all = pct_sched_races(&pct_S) != NULL;
    pct_memory_view.chosen = pct_scope_chooses || pct_ordered_active;
    pct_memory_view.active = pct_sched_races(&pct_S) || pct_shim.config.memory_points != PCT_POINTS_OFF;
    pct_memory_explored = pct_sched_log(&pct_S) != NULL;
    show();
}

/* New zeros in its place. False: the system is out of memory. */
static bool renew(void *place, size_t size)
{
    return (void *)PCT_SYS6(SYS_mmap, place, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == place;
}

/* The same for all that trampolines look at. */
static bool renew_all(void)
{
    if (!renew(memory.map.cells, sizeof(void *) << (PCT_ADDRESS_LOG - PCT_CHUNK_LOG)))
        return false;
    memory.table = memory.map.cells;
    for (unsigned i = 0; i < memory.kept_count; i++) {
        const struct kept *kept = &memory.kept[i];
        size_t size;
        void *place = pct_memory_extent(kept->chunk, sizeof(uint64_t), &size);
        if (!renew(place, size))
            return false;
        memory.table[pct_memory_slot(kept->address)] = kept->chunk;
    }
    return true;
}

void pct_memory_settle(void)
{
    if (!memory.map.cells)
        return;
    memory.map.all = pct_shim.config.memory_points == PCT_POINTS_ALL;
    if (pct_shim.config.memory_points != PCT_POINTS_OFF)
        return;
    memory.table = memory.map.cells;
    memory.map.cells = NULL;
    show();
}

void pct_memory_forget(void)
{
    memory.failed |= memory.map.cells && !renew_all();
    pct_memory_view = (struct pct_memory_view){ 0 };
    pct_memory_explored = false;
    memory.map.cells = NULL;
    memory.seen = false;
    pct_annotations_forget();
    memory.main_to = 0;
    pct_memory_own = (struct pct_memory_own){ 0 };
}

/* There may be points at memory from now on. */
static bool begin(void)
{
    if (memory.failed || pct_shim.config.memory_points == PCT_POINTS_OFF)
        return false;
    if (!pct_memory_start(&memory.map, memory.table, pct_apart_map, pct_shim.config.memory_points == PCT_POINTS_ALL)) {
        memory.map.map = pct_map;
        memory.table = NULL;
        show();
        return true;
    }
    memory.failed = true;
    pct_say("no address space for the table of memory locations: memory accesses are no scheduling points");
    return false;
}

void *const *pct_memory_table(void)
{
    return !pct_shim.config.races && (memory.map.cells || begin()) ? memory.map.cells : NULL;
}

uint64_t pct_memory_mark_of(uint64_t address, void *(*map)(size_t size))
{
    const uint64_t *cell = pct_memory_entry(memory.map.cells, address, sizeof *cell, map);
    if (!cell)
        return 0;
    struct kept this = { address, pct_memory_chunk(memory.map.cells, address) };
    unsigned i = 0;
    while (i < memory.kept_count && memory.kept[i].chunk != this.chunk)
        i++;
    if (i == MOST_KEPT)
        return 0;
    if (i == memory.kept_count)
        memory.kept[memory.kept_count++] = this;
    return (uint64_t)(uintptr_t)cell + sizeof(uint32_t);
}

void pct_memory_unmark(void)
{
    void **table = memory.map.cells ? memory.map.cells : memory.table;
    size_t size;
    for (void *place; memory.kept_count; PCT_SYS2(SYS_munmap, place, size)) {
        const struct kept *kept = &memory.kept[--memory.kept_count];
        place = pct_memory_extent(kept->chunk, sizeof(uint64_t), &size);
        table[pct_memory_slot(kept->address)] = NULL;
    }
}

void pct_memory_find_main(void)
{
    struct pct_mapping mapping;
    if (pct_maps_find(__builtin_frame_address(0), &mapping, NULL, 0))
        memory.main_to = mapping.to;
}

/* Where a thread's stack is that libc has made, or the program: without a look at the kernel's list of mappings, which
 * takes longer than most of what a short run does. */
static bool find_made(struct pct_shim_thread *self)
{
    enum { PAGE = 4096 };
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t from = self->stack_given, to = from + self->stack_size;
    if (!self->core.id || !self->stack_size)
        return false;
    if (!from) {
        /* GLIBC: what a thread's handle points to stands on the stack's last page. */
        to = ((uintptr_t)self->handle | (PAGE - 1)) + 1;
        from = to - self->stack_size;
    }
    if (here < from || here >= to)
        return false;
    self->stack_from = from;
    self->stack_to = to;
    return true;
}

/* The same for any thread, with such a look. */
static bool find_mapped(struct pct_shim_thread *self)
{
    struct pct_mapping mapping = { .to = self->core.id ? 0 : memory.main_to };
    if (!mapping.to && !pct_maps_find(__builtin_frame_address(0), &mapping, NULL, 0))
        return false;
    self->stack_to = mapping.to;
    self->stack_from = self->core.id ? mapping.from : mapping.to - PCT_MAIN_STACK;
    return true;
}

/* The first event of this thread: where its stack is. Others had it before. */
static void find_stack(struct pct_shim_thread *self)
{
    self->stack_from = self->stack_to = 1;
    pct_memory_own.points =
        pct_memory_view.wants_all || pct_memory_view.chosen || pct_sched_log(&pct_S) ? NULL : &self->core;
    /* On the first thread's there were events before, and others may know what is on it. */
    if ((!find_made(self) && !find_mapped(self)) || !self->core.id)
        return;
    pct_memory_clear(memory.map.cells, self->stack_from, self->stack_to, sizeof(uint64_t));
    if (pct_sched_races(&pct_S))
        pct_races_fresh(pct_sched_races(&pct_S), self->stack_from, self->stack_to);
}

/* The slow half of a point: others may go first. */
static __attribute__((noinline)) void pass(struct pct_shim_thread *caller, enum pct_op op, uintptr_t pc)
{
    int error = errno;
    PCT_ENTER(self);
    if (self == caller) {
        self->here = pc;
        pct_sched_point(&pct_S, &self->core, op, &self->location);
        self->here = 0;
        pct_after_resume(self);
    }
    errno = error;
}

static void locate(struct pct_shim_thread *self, uintptr_t address, uint32_t number)
{
    self->location = (struct pct_object){
        .address = address, .number = number, .holder = PCT_NO_THREAD, .class_ = PCT_CLASS_MEMORY
    };
}

static void point(struct pct_shim_thread *self, uintptr_t address, unsigned what, uintptr_t pc, uint32_t number)
{
    enum pct_op op = pct_memory_op(what);
    if (PCT_UNLIKELY(!pct_on_fast_path(&pct_S)) && !pct_is_calm(&pct_S, op, address, pc)) {
        locate(self, address, number);
        pass(self, op, pc);
        if (!pct_holder())
            return;
    }
    pct_memory_step(&pct_S, &self->core, &self->recent, op, number, pct_memory_looks(what));
}

/* A round of a loop made no progress: the thread waits until it may look again. */
static __attribute__((noinline)) void await(struct pct_shim_thread *caller, enum pct_op op)
{
    int error = errno;
    PCT_ENTER(self);
    if (self == caller) {
        pct_await_write(&pct_S, &self->core, op, &self->location);
        pct_after_resume(self);
    }
    errno = error;
}

/* The same as point(), in an explored run. */
static void point_explored(struct pct_shim_thread *self, uintptr_t address, size_t size, unsigned what, uintptr_t pc,
                           uint32_t number)
{
    bool looks = pct_memory_looks(what);
    if (pct_await_round(self, address, size, looks, pc)) {
        locate(self, address, number);
        await(self, pct_memory_op(what));
        if (!pct_holder())
            return;
        pct_await_progress(self);
        pct_await_round(self, address, size, looks, pc);
        pct_memory_step(&pct_S, &self->core, &self->recent, pct_memory_op(what), number, true);
    } else {
        point(self, address, what, pc, number);
    }
    pct_await_passed(self);
}

/* An access that is no point for a reason of its own. */
static void touch(struct pct_shim_thread *self, uintptr_t address, size_t size, enum pct_memory_use use)
{
    for (uintptr_t at = address & ~(uintptr_t)7; at < address + size; at += 8)
        pct_memory_touch(&pct_S, &memory.map, &self->core, at, use);
    pct_await_progress(self);
}

/* Pass the point of this access, if it is one. */
static void pass_point(struct pct_shim_thread *self, uintptr_t address, size_t size, unsigned what, uintptr_t pc)
{
    pct_shim.told |= !(what & PCT_MEMORY_SEEN);
    if (PCT_UNLIKELY(!memory.map.cells) && !begin())
        return;
    if (PCT_UNLIKELY(!self->stack_to))
        find_stack(self);
    enum pct_memory_use use = pct_memory_atomic(what)                                          ? PCT_USE_ATOMIC
                              : address - self->stack_from < self->stack_to - self->stack_from ? PCT_USE_STACK
                                                                                               : PCT_USE_PLAIN;
    if (PCT_UNLIKELY(pct_sched_log(&pct_S) != NULL) && address - self->stack_from >= self->stack_to - self->stack_from)
        pct_other_stack(self, address, what, pc);
    bool skipped = PCT_UNLIKELY(pct_scope_chooses) && !pct_scope_wants(address, size, pc, use == PCT_USE_ATOMIC);
    bool ordered = PCT_UNLIKELY(pct_ordered_active) && !pct_memory_atomic(what) && !skipped;
    uint32_t *place = ordered ? pct_ordered_place(pc) : NULL;
    if (skipped || (place && *place & PCT_ORDERED_SKIPPED)) {
        touch(self, address, size, use);
        return;
    }
    uint32_t number = 0;
    bool counts = false; /* one point for all of it */
    for (uintptr_t at = address & ~(uintptr_t)7; at < address + size; at += 8) {
        uint32_t this = 0;
        if (pct_memory_counts(&pct_S, &memory.map, &self->core, at, pc, use, &this) && !counts) {
            counts = true;
            number = this;
        }
    }
    if (counts && place)
        *place |= PCT_PLACE_POINT;
    if (counts && PCT_UNLIKELY(pct_sched_log(&pct_S) != NULL))
        point_explored(self, address, size, what, pc, number);
    else if (counts)
        point(self, address, what, pc, number);
    /* To an explored run each location counts, and not the first alone. */
    uintptr_t second = (address & ~(uintptr_t)7) + 8;
    if (PCT_UNLIKELY(pct_sched_log(&pct_S) != NULL) && second < address + size)
        pct_log_memory(&pct_S, pct_memory_op(what), second, address + size - second);
}

/* --- Races -------------------------------------------------------------------------------------------------------- */

static unsigned race_order(unsigned what)
{
    static const uint8_t does[] = { [PCT_MEMORY_ATOMIC_READ] = PCT_RACES_READ,
                                    [PCT_MEMORY_ATOMIC_WRITE] = PCT_RACES_WRITE,
                                    [PCT_MEMORY_ATOMIC_UPDATE] = PCT_RACES_READ | PCT_RACES_WRITE,
                                    [PCT_MEMORY_KIND] = 0 };
    return does[what & PCT_MEMORY_KIND] | (what & PCT_MEMORY_ACQUIRE ? PCT_RACES_ACQUIRE : 0) |
           (what & PCT_MEMORY_RELEASE ? PCT_RACES_RELEASE : 0);
}

bool pct_memory_was_seen(void)
{
    return memory.seen;
}

static const char *does(const struct pct_snap_access *access)
{
    return access->write == PCT_SNAP_GIVES_UP ? " frees" : access->write ? " writes" : " reads";
}

static void end_by_race(const struct pct_snap_race *race)
{
    char buffer[128];
    struct pct_text text;
    pct_text_init(&text, buffer, sizeof buffer);
    pct_text_add(&text, "thread ");
    pct_text_add_u64(&text, race->access[0].thread);
    pct_text_add(&text, does(&race->access[0]));
    pct_text_add(&text, ", thread ");
    pct_text_add_u64(&text, race->access[1].thread);
    pct_text_add(&text, does(&race->access[1]));
    pct_sched_fail(&pct_S, PCT_VERDICT_RACE, buffer);
}

void pct_memory_met(const struct pct_snap_race *race)
{
    if (race && pct_shim.config.races == PCT_RACES_FAIL && pct_races_sure(race))
        end_by_race(race);
}

/* A plain access that was seen in machine code, at a place that threads synchronise by: it is taken for an atomic one.
 */
static bool taken_for_atomic(uintptr_t address, unsigned what)
{
    return (what & (PCT_MEMORY_SEEN | PCT_MEMORY_PLAIN)) == PCT_MEMORY_SEEN &&
           (what & PCT_MEMORY_WAITS || pct_races_synchronises(pct_sched_races(&pct_S), address));
}

static __attribute__((noinline)) void look_for_race(struct pct_shim_thread *self, uintptr_t address, size_t size,
                                                    unsigned what, uintptr_t pc, uint64_t arrived)
{
    unsigned kind = what & PCT_MEMORY_KIND;
    bool atomic = pct_memory_atomic(what);
    /* What a try is, and orders, is known afterwards: one that fails is a read (C11, 7.17.7.4). */
    if (kind == PCT_MEMORY_ATOMIC_TRY) {
        self->tried = (struct pct_shim_try){ address, size, pc, arrived };
        return;
    }
    struct pct_access access = { address, size, pc, arrived, self->core.id, pct_memory_kind(what) };
    if (!atomic && taken_for_atomic(address, what)) {
        atomic = true;
        access.kind &= ~(unsigned)PCT_ACCESS_PLAIN;
        what = kind == PCT_MEMORY_READ ? PCT_MEMORY_ATOMIC_READ | PCT_MEMORY_ACQUIRE
                                       : PCT_MEMORY_ATOMIC_WRITE | PCT_MEMORY_RELEASE;
    }
    const struct pct_snap_race *race = pct_races_access(pct_sched_races(&pct_S), &access);
    if (atomic)
        pct_races_atomic(pct_sched_races(&pct_S), self->core.id, address, race_order(what));
    pct_memory_met(race);
}

/* The second half of a try. */
static void look_for_race_after(struct pct_shim_thread *self, uintptr_t address, unsigned what)
{
    const struct pct_shim_try tried = self->tried;
    const struct pct_snap_race *race = NULL;
    bool wrote = what & (PCT_MEMORY_CHANGED | PCT_MEMORY_WRITTEN | PCT_MEMORY_RELEASE);
    const unsigned kind = (wrote ? PCT_MEMORY_ATOMIC_UPDATE : PCT_MEMORY_ATOMIC_READ) | (what & PCT_MEMORY_SEEN);
    self->tried.size = 0;
    if (tried.size && tried.address == address)
        race = pct_races_access(
            pct_sched_races(&pct_S),
            &(struct pct_access){ address, tried.size, tried.pc, tried.arrived, self->core.id, pct_memory_kind(kind) });
    pct_races_atomic(pct_sched_races(&pct_S), self->core.id, address,
                     PCT_RACES_READ | (wrote ? PCT_RACES_WRITE : 0) |
                         race_order(PCT_MEMORY_KIND | (what & (PCT_MEMORY_ACQUIRE | PCT_MEMORY_RELEASE))));
    pct_memory_met(race);
}

/* The access may have to do with others. */
static __attribute__((noinline)) void access_slow(uintptr_t address, size_t size, unsigned what, uintptr_t pc)
{
    struct pct_shim_thread *self = pct_self;
    const uint64_t arrived = pct_steps(&pct_S);
    const int handled = self->handled;
    self->handled = 0;
    if (pct_sched_is_shared(&pct_S) && (!memory.map.cells || (address & 7) + size > 8 || pct_memory_atomic(what) ||
                                        !pct_memory_settled(&memory.map, &self->core, address)))
        pass_point(self, address, size, what, pc);
    if (PCT_UNLIKELY(pct_sched_races(&pct_S) != NULL) && pct_holder()) {
        memory.seen = true;
        if (!(what & PCT_MEMORY_SEEN))
            pct_memory_learn_code(pc);
        look_for_race(self, address, size, what, pc, self->handled ? UINT64_MAX : arrived);
    }
    if (!self->handled)
        self->handled = handled;
}

/* --- What the program's code calls -------------------------------------------------------------------------------- */

/* What is not simple; saves registers, which the simple needs not. */
static __attribute__((noinline)) void access_any(uintptr_t address, size_t size, unsigned what, uintptr_t pc)
{
    struct pct_shim_thread *self = pct_holder();
    if (self && pct_sched_threads(&pct_S) > 1 && !pct_memory_quick(self, address, size, what))
        access_slow(address, size, what, pc);
}

void pct_memory_patched(const volatile void *address, size_t size, unsigned what, const void *pc)
{
    struct pct_shim_thread *self = pct_holder();
    if (PCT_UNLIKELY(!self || pct_memory_own.points != self) ||
        !pct_memory_simple(self, (uintptr_t)address, size, what))
        access_any((uintptr_t)address, size, what, (uintptr_t)pc);
}

void pct_memory_spin(void)
{
    PCT_ENTER(self);
    if (self)
        pct_yield(self);
}

/* A read by a thread whose looks were a spin, so it waits in a loop. */
static __attribute__((noinline)) void look_again(struct pct_shim_thread *self, uintptr_t address, size_t size,
                                                 unsigned what, const void *pc)
{
    int error = errno;
    const uint64_t *chunk = (address & 7) + size > 8 || !memory.map.cells
                                ? NULL
                                : (const uint64_t *)pct_memory_chunk(memory.map.cells, address);
    bool known = chunk && chunk[pct_memory_index(address)] & PCT_CELL_SHARED;
    bool no_progress = known && pct_read_no_progress(self, address, size);
    if (no_progress && pct_spin_reads_wait(&pct_S, &self->reads)) {
        pct_memory_spin();
        no_progress = false; /* others may have gone first */
    }
    uint64_t switches = pct_sched_switches(&pct_S);
    if (no_progress)
        pct_await_progress(self);
    else
        pct_memory_patched((const volatile void *)address, size, what, pc);
    if (!no_progress && known && pct_holder() && pct_sched_switches(&pct_S) == switches)
        pct_spin_reads_go_on(&pct_S, &self->reads);
    errno = error;
}

static void tell(struct pct_shim_thread *self, const volatile void *address, size_t size, unsigned what, const void *pc)
{
    const unsigned kind = what & PCT_MEMORY_KIND;
    if (PCT_UNLIKELY(self && self->recent.spun) && (kind == PCT_MEMORY_READ || kind == PCT_MEMORY_ATOMIC_READ))
        look_again(self, (uintptr_t)address, size, what, pc);
    else
        pct_memory_patched(address, size, what, pc);
}

/* The same by a thread that spins, and is to give up the baton at one of its accesses. */
static __attribute__((noinline)) void access_and_leave(struct pct_shim_thread *self, const volatile void *address,
                                                       size_t size, unsigned what, const void *pc)
{
    pct_leave_pass(self, (uintptr_t)pc);
    tell(pct_holder(), address, size, what, pc);
    if (self->leave.wanted)
        pct_memory_own.quick = NULL;
}

void pct_memory_told(const volatile void *address, size_t size, unsigned what, const void *pc)
{
    struct pct_shim_thread *self = pct_holder();
    if (PCT_UNLIKELY(self && self->leave.wanted))
        access_and_leave(self, address, size, what, pc);
    else
        tell(self, address, size, what, pc);
}

PCT_EXPORT void pct_memory_after(const volatile void *address, unsigned what)
{
    struct pct_shim_thread *self = pct_holder();
    if (!self || pct_sched_threads(&pct_S) < 2)
        return;
    bool changed = what & PCT_MEMORY_CHANGED;
    if (changed) {
        pct_memory_progress(&pct_S, &self->recent);
        pct_await_progress(self);
    }
    if (pct_sched_races(&pct_S))
        look_for_race_after(self, (uintptr_t)address, what);
}

PCT_EXPORT void pct_memory_more(const volatile void *address, size_t size, unsigned what, const void *pc)
{
    struct pct_shim_thread *self = pct_holder();
    const uintptr_t at = (uintptr_t)address;
    if (!self || pct_sched_threads(&pct_S) < 2)
        return;
    if (memory.map.cells && self->stack_to) {
        touch(self, at, size,
              at - self->stack_from < self->stack_to - self->stack_from ? PCT_USE_STACK : PCT_USE_PLAIN);
        pct_log_memory(&pct_S, pct_memory_op(what), at, size);
    }
    if (PCT_UNLIKELY(pct_sched_races(&pct_S) != NULL))
        look_for_race(self, at, size, what, (uintptr_t)pc, pct_steps(&pct_S));
}

PCT_EXPORT bool pct_memory_is_explored(void)
{
    return pct_memory_explored;
}

PCT_EXPORT void pct_memory_order(const volatile void *address, unsigned what)
{
    const struct pct_shim_thread *self = pct_holder();
    if (self && pct_sched_races(&pct_S))
        pct_races_atomic(pct_sched_races(&pct_S), self->core.id, (uintptr_t)address,
                         race_order(PCT_MEMORY_KIND | what) | PCT_RACES_READ |
                             (what & PCT_MEMORY_RELEASE ? PCT_RACES_WRITE : 0));
}

PCT_EXPORT void pct_memory_fence(unsigned what)
{
    const struct pct_shim_thread *self = pct_holder();
    if (self && pct_sched_races(&pct_S))
        pct_races_fence(pct_sched_races(&pct_S), self->core.id, race_order(PCT_MEMORY_KIND | what));
}

PCT_EXPORT void pct_memory_fresh(const volatile void *address, size_t size)
{
    uintptr_t from = (uintptr_t)address;
    if (!pct_holder())
        return;
    if (memory.map.cells)
        pct_memory_clear(memory.map.cells, from, from + size, sizeof(uint64_t));
    if (pct_sched_races(&pct_S))
        pct_races_fresh(pct_sched_races(&pct_S), from, from + size);
}

PCT_EXPORT void pct_memory_renewed(const volatile void *address, size_t size)
{
    if (pct_holder() && pct_sched_races(&pct_S))
        pct_races_fresh(pct_sched_races(&pct_S), (uintptr_t)address, (uintptr_t)address + size);
}

PCT_EXPORT void pct_memory_gone(const volatile void *address, size_t size, const void *pc)
{
    const struct pct_shim_thread *self = pct_holder();
    const uintptr_t from = (uintptr_t)address;
    if (self && pct_sched_races(&pct_S) && pct_sched_threads(&pct_S) > 1)
        pct_memory_met(pct_races_give_up(pct_sched_races(&pct_S), self->core.id, from, from + size, (uintptr_t)pc));
}

PCT_EXPORT void pct_memory_function(const void *pc, const void *frame)
{
    const struct pct_shim_thread *self = pct_holder();
    if (PCT_UNLIKELY(self && pct_sched_races(&pct_S))) {
        memory.seen = true;
        pct_races_call(pct_sched_races(&pct_S), self->core.id, (uintptr_t)pc, (uintptr_t)frame);
    }
}

PCT_EXPORT void pct_memory_function_exit(void)
{
    const struct pct_shim_thread *self = pct_holder();
    if (PCT_UNLIKELY(self && pct_sched_races(&pct_S)))
        pct_races_return(pct_sched_races(&pct_S), self->core.id);
}
