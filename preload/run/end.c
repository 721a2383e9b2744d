/* How a run ends: by itself, by a crash, or by the tool's verdict. Writes the trace's header, after a failure also the
 * snapshot (memory map, registers, stacks) from which `pct report` makes the stacks of all threads, offline, so that
 * nothing in here has to unwind, symbolise or trust a broken heap.
 *
 * May run in a signal handler, with or without the baton. */
#include "end.h"
#include "script.h"
#include <common/text.h>
#include <preload/thread/foreign_threads.h>
#include <preload/thread/thread.h>
#include <preload/core/child_file.h>
#include <preload/core/debugger.h>
#include <preload/core/environment.h>
#include <preload/core/host.h>
#include <preload/core/host_threads.h>
#include <preload/core/kernel.h>
#include <preload/core/maps.h>
#include <preload/core/registers.h>
#include <preload/core/run_pct.h>
#include <preload/core/shim.h>
#include <preload/core/known_maps.h>
#include <preload/core/sites.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include <preload/io/io.h>
#include <preload/memory/learned_sites.h>
#include <preload/memory/memory.h>
#include <preload/time/vtimer.h>
#include <sched/races.h>
#include <sched/record.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <ucontext.h>

enum {
    STACK_BYTES = 32 << 10,
    STACKS_BYTES = 16 << 20,
    THREADS_SHOWN = 1024,
    MAPS_BYTES = 1 << 20,
    MAPS_PIECE = 4096,
    REPORT_STEPS = 512,
    SCRIPT_STEPS = 16 * PCT_TRACE_BLOCK /* of a child whose steps are wanted: what a ring holds */
};

/* Where the snapshot goes: the trace file's mapping behind the records, or a memory file made for the report. */
struct sink {
    char *at, *end;
};

static void *reserve(struct sink *sink, size_t size)
{
    size_t padded = (size + 7) & ~(size_t)7;
    if ((size_t)(sink->end - sink->at) < padded || !pct_populate(sink->at, padded))
        return NULL;
    char *at = sink->at;
    sink->at += padded;
    return at;
}

static void *section(struct sink *sink, uint32_t type, uint32_t thread, size_t size)
{
    struct pct_snap_section *head = reserve(sink, sizeof *head + size);
    if (!head)
        return NULL;
    *head = (struct pct_snap_section){ .type = type, .thread = thread, .size = size };
    return head + 1;
}

/* of_code: what the map tells of the program's code is enough. */
static void add_maps(struct sink *sink, bool of_code)
{
    size_t known_size = 0;
    const char *known = of_code ? pct_known_maps(&known_size) : NULL;
    void *to = known ? section(sink, PCT_SNAP_MAPS, 0, known_size) : NULL;
    if (to) {
        __builtin_memcpy(to, known, known_size);
        return;
    }
    /* Also in a host, which has files where they are in any run. */
    long fd = pct_host_sys4(SYS_open, (long)"/proc/thread-self/maps", O_RDONLY | O_CLOEXEC, 0, 0);
    if (fd < 0)
        return;
    struct sink before = *sink;
    struct pct_snap_section *head = reserve(sink, sizeof *head);
    char *text = (char *)(head + 1);
    size_t size = 0;
    /* By the pieces in which the kernel gives it: memory that is only touched for its size costs more than the text. */
    for (long got = 1; head && got > 0 && size<MAPS_BYTES; size += got> 0 ? (size_t)got : 0) {
        sink->at = text + size;
        got = reserve(sink, MAPS_PIECE) ? pct_host_sys4(SYS_read, fd, (long)(text + size), MAPS_PIECE, 0) : 0;
    }
    pct_host_sys4(SYS_close, fd, 0, 0, 0);
    if (size)
        *head = (struct pct_snap_section){ .type = PCT_SNAP_MAPS, .size = size };
    sink->at = size ? text + ((size + 7) & ~(size_t)7) : before.at;
}

/* A copy of the stack from sp upwards; memory that is not there ends it. */
static void add_stack(struct sink *sink, uint32_t id, uintptr_t sp)
{
    struct sink before = *sink;
    uint64_t *at = section(sink, PCT_SNAP_STACK, id, sizeof *at + STACK_BYTES);
    if (!at)
        return;
    size_t size = 0;
    /* By pages: a read that crosses into nothing would fail as a whole. */
    while (size < STACK_BYTES) {
        size_t step = 4096 - (sp + size) % 4096;
        if (step > STACK_BYTES - size)
            step = STACK_BYTES - size;
        struct iovec to = { (char *)(at + 1) + size, step }, from = { (void *)(sp + size), step };
        if (pct_user_copy_pieces(&to, &from, 1) != (long)step)
            break;
        size += step;
    }
    pct_environment_clean(at + 1, sp, size);
    *at = sp;
    ((struct pct_snap_section *)at - 1)->size = sizeof *at + size;
    sink->at = before.at + ((sizeof(struct pct_snap_section) + sizeof *at + size + 7) & ~(size_t)7);
}

/* Who holds an object. Of a mutex the real one knows it best: the shortcut of an uncontended lock tells nobody else. */
static uint32_t holder_of(const struct pct_object *object)
{
    pthread_mutex_t mutex;
    struct iovec to = { &mutex, sizeof mutex }, from = { (void *)object->address, sizeof mutex };
    if ((object->class_ != PCT_CLASS_MUTEX && object->class_ != PCT_CLASS_LOADER) ||
        pct_user_copy_pieces(&to, &from, 1) != sizeof mutex)
        return object->holder;
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++)
        if (mutex.__data.__owner && pct_shim.slots[id].tid == mutex.__data.__owner)
            return id;
    return PCT_NO_THREAD;
}

/* A thread's name. As long as the program has named none all have that of the process: asking for each would leave an
 * entry of each in the kernel's cache of /proc, and whoever waits for the process then spins until its last thread,
 * which may have no CPU to do it on, has thrown its own away. Of a run that fails this was half of the time. */
void pct_end_read_name(int tid, char name[16])
{
    char path[64];
    struct pct_text text;
    pct_text_init(&text, path, sizeof path);
    pct_text_add(&text, "/proc/self/");
    if (pct_shim.renamed) {
        pct_text_add(&text, "task/");
        pct_text_add_u64(&text, (uint64_t)tid);
        pct_text_add(&text, "/");
    }
    pct_text_add(&text, "comm");
    long fd = pct_host_sys4(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0, 0);
    long got = fd < 0 ? 0 : pct_host_sys4(SYS_read, fd, (long)name, 15, 0);
    if (got > 0 && name[got - 1] == '\n')
        name[got - 1] = 0;
    if (fd >= 0)
        pct_host_sys4(SYS_close, fd, 0, 0, 0);
}

static bool is_ended_by_sanitizer(void)
{
    return pct_shim.header->verdict == PCT_VERDICT_EXIT && pct_shim.header->exit_status == PCT_STATUS_UNKNOWN;
}

/* The thread's own registers where it stands (a crash), or where it parked. */
static void add_thread(struct sink *sink, struct pct_shim_thread *t, const struct pct_shim_thread *self,
                       const ucontext_t *context)
{
    struct pct_snap_thread *snap = section(sink, PCT_SNAP_THREAD, t->core.id, sizeof *snap);
    if (!snap)
        return;
    static const enum pct_snap_state states[] = { [PCT_STATE_ENABLED] = PCT_SNAP_ENABLED,
                                                  [PCT_STATE_BLOCKED] = PCT_SNAP_BLOCKED,
                                                  [PCT_STATE_OUTSIDE] = PCT_SNAP_OUTSIDE,
                                                  [PCT_STATE_FINISHED] = PCT_SNAP_FINISHED };
    const struct pct_wait *wait = &t->core.wait;
    *snap = (struct pct_snap_thread){ .id = t->core.id,
                                      .tid = t->tid,
                                      .state = t->core.early ? PCT_SNAP_BLOCKED : states[pct_state(&t->core)],
                                      .op = wait->op,
                                      .holder = PCT_NO_THREAD,
                                      .deadline = t->core.timer.place ? wait->deadline : UINT64_MAX };
    if (t == self && (context || is_ended_by_sanitizer()))
        snap->state = PCT_SNAP_RUNNING;
    if (wait->object == &t->location)
        snap->object = t->location.number;
    if (t->core.queued) {
        snap->object = wait->object->number;
        snap->holder = holder_of(wait->object);
    }
    static const int order[16] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                   REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
    if (t == self && context) {
        for (int i = 0; i < 16; i++)
            snap->regs[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
        snap->regs[16] = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    } else {
        static const int places[8] = { 3, 6, 12, 13, 14, 15, 7, 16 };
        for (int i = 0; i < 8; i++)
            snap->regs[places[i]] = t->regs[i];
    }
    pct_end_read_name(snap->tid, snap->name);
    if (t->core.queued && wait->object->class_ != PCT_CLASS_THREAD && wait->object->class_ != PCT_CLASS_FD &&
        wait->object != &t->sleep_object) {
        struct pct_snap_object *object = section(sink, PCT_SNAP_OBJECT, t->core.id, sizeof *object);
        if (object)
            *object = (struct pct_snap_object){ .number = wait->object->number,
                                                .class_ = wait->object->class_,
                                                .address = wait->object->address,
                                                .holder = snap->holder,
                                                .waiters = wait->object->waiters };
    }
    if (t->core.state != PCT_STATE_FINISHED && snap->regs[7])
        add_stack(sink, t->core.id, snap->regs[7]);
}

/* The data races found, sure and possible. */
static void add_races(struct sink *sink)
{
    uint32_t count = 0, sure = 0;
    const struct pct_snap_race *races =
        pct_sched_races(&pct_S) ? pct_races_found(pct_sched_races(&pct_S), &count, &sure) : NULL;
    pct_shim.header->races = sure;
    pct_shim.header->possible_races = count - sure;
    for (uint32_t i = 0; i < count; i++) {
        struct pct_snap_race *race = section(sink, PCT_SNAP_RACE, races[i].access[1].thread, sizeof *race);
        if (race)
            *race = races[i];
    }
}

/* What the run has taught about places in the code. */
static void add_places(struct sink *sink)
{
    size_t count = pct_ordered_report(NULL, 0);
    struct pct_snap_place *to = count ? section(sink, PCT_SNAP_PLACES, 0, count * sizeof *to) : NULL;
    if (to)
        pct_ordered_report(to, count);
}

/* Where each recorded step was made, and the stacks that were kept before some, if that was wanted. */
static void add_sites(struct sink *sink)
{
    const uint64_t first = pct_shim.header->first;
    size_t size =
        pct_sched_sited(&pct_S) > first ? (pct_sched_sited(&pct_S) - first) * sizeof *pct_sched_sites(&pct_S) : 0;
    struct pct_site *sites = size ? section(sink, PCT_SNAP_SITES, 0, size) : NULL;
    if (sites)
        __builtin_memcpy(sites, pct_sched_sites(&pct_S) + first, size);
    const void *stacks = pct_sites_stacks(&size);
    void *to = stacks ? reserve(sink, size) : NULL;
    if (to)
        __builtin_memcpy(to, stacks, size);
}

/* What stands at this address, up to the end of what is mapped. */
static void copy_text(char *text, uintptr_t address, size_t size)
{
    size_t first = 4096 - address % 4096 < size ? 4096 - address % 4096 : size;
    struct iovec to = { text, size };
    struct iovec from[2] = { { (void *)address, first }, { (void *)(address + first), size - first } };
    pct_user_copy_pieces(&to, from, 2);
}

/* What the program calls its points. One whose code is no longer loaded has no name. */
static void add_points(struct sink *sink)
{
    for (uint32_t i = 0; i < pct_objects_room(&pct_S.objects); i++) {
        const struct pct_object *object = pct_objects_slot(&pct_S.objects, i);
        if (!object || object->class_ != PCT_CLASS_POINT)
            continue;
        struct pct_snap_point *point = section(sink, PCT_SNAP_POINT, 0, sizeof *point);
        if (!point)
            return;
        *point = (struct pct_snap_point){ .number = object->number };
        copy_text(point->name, object->address, sizeof point->name);
    }
}

/* What no thread waits for, so that the steps on it have its name, too. Who holds it, the steps tell. */
static void add_objects(struct sink *sink)
{
    enum { MOST = 256 };
    for (uint32_t i = 0, count = 0; i < pct_objects_room(&pct_S.objects) && count < MOST; i++) {
        const struct pct_object *object = pct_objects_slot(&pct_S.objects, i);
        if (!object || object->waiters || object->class_ == PCT_CLASS_THREAD || object->class_ == PCT_CLASS_FD ||
            object->class_ == PCT_CLASS_POINT || object->class_ == PCT_CLASS_MEMORY)
            continue;
        struct pct_snap_object *to = section(sink, PCT_SNAP_OBJECT, 0, sizeof *to);
        if (!to)
            return;
        *to = (struct pct_snap_object){
            .number = object->number, .class_ = object->class_, .address = object->address, .holder = PCT_NO_THREAD
        };
        count++;
    }
}

/* context: where the thread that runs was interrupted, or NULL. threads: their state, too. */
static void add_snapshot(struct sink *sink, const ucontext_t *context, bool threads)
{
    char *begin = sink->at;
    add_maps(sink, !threads && !pct_sched_races(&pct_S));
    add_races(sink);
    add_points(sink);
    if (pct_sched_sites(&pct_S))
        add_sites(sink);
    if (pct_ordered_active)
        add_places(sink);
    for (uint32_t id = 0; threads && id < pct_sched_threads(&pct_S) && id < THREADS_SHOWN; id++)
        if (pct_shim.slots[id].core.state != PCT_STATE_FINISHED)
            add_thread(sink, &pct_shim.slots[id], pct_self, context);
    if (threads)
        add_objects(sink);
    pct_shim.header->snapshot = (uint64_t)(begin - (char *)pct_shim.header);
    pct_shim.header->snapshot_size = (uint64_t)(sink->at - begin);
    pct_shim.header->file_size = (uint64_t)(sink->at - (char *)pct_shim.header);
}

/* Whether a child leaves its steps however it ends. */
static bool child_leaves_trace(void)
{
    return pct_script_leaves_trace() || pct_sites_of_family();
}

/* One with the header, the last steps and the snapshot. Returns its descriptor; negative: there is no room for it. */
static int make_whole_file(const ucontext_t *context)
{
    uint32_t steps = child_leaves_trace() ? SCRIPT_STEPS : REPORT_STEPS;
    size_t size = PCT_TRACE_HEADER_SIZE + steps * UINT64_C(8) + STACKS_BYTES + MAPS_BYTES;
    long fd = pct_is_child() ? pct_child_file_open(size) : PCT_SYS2(SYS_memfd_create, "pct-report", 0);
    if (fd < 0 || PCT_SYS2(SYS_ftruncate, fd, size))
        return -1;
    long at = PCT_SYS6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if ((at < 0 && at > -4096) || !pct_populate((void *)at, PCT_TRACE_HEADER_SIZE + steps * UINT64_C(8)))
        return -1;
    struct pct_trace_header *header = (void *)at;
    *header = *pct_shim.header;
    header->version = PCT_TRACE_FLAT;
    uint64_t *records = (uint64_t *)(at + PCT_TRACE_HEADER_SIZE);
    header->recorded = pct_record_last(&pct_S, records, steps);
    header->first = header->steps - header->recorded;
    header->records_size = steps * UINT64_C(8);
    pct_shim.header = header;
    struct sink sink = { (char *)(records + steps), (char *)at + size };
    add_snapshot(&sink, context, header->verdict != PCT_VERDICT_EXIT);
    PCT_SYS2(SYS_ftruncate, fd, header->file_size);
    return (int)fd;
}

/* Without a trace file. */
static int make_file(const ucontext_t *context)
{
    int fd = make_whole_file(context);
    if (fd < 0 && pct_is_child())
        pct_child_file_leave();
    return fd;
}

/* Print the report by the pct command that belongs to this library. */
static bool report(int fd)
{
    char file[64];
    struct pct_text text;
    pct_text_init(&text, file, sizeof file);
    pct_text_add(&text, "/proc/self/fd/");
    pct_text_add_u64(&text, (uint64_t)fd);
    char *const arguments[] = { "pct", "report", file, NULL };
    return fd >= 0 && pct_error_is_there() && pct_run_pct_run(arguments, 2, fd);
}

/* What there is to say without the report. */
static void summary(void)
{
    static const char *const names[] = {
#define NAME(id, name) name,
        PCT_VERDICTS(NAME)
#undef NAME
    };
    pct_say(names[pct_shim.header->verdict]);
    if (pct_shim.header->message[0])
        pct_say(pct_shim.header->message);
    char line[PCT_TOKEN_MAX + 80];
    struct pct_text text;
    pct_text_init(&text, line, sizeof line);
    pct_text_add(&text, "replay with: PCT_TOKEN=");
    pct_text_add(&text, pct_shim.header->token);
    pct_say(line);
}

/* The bytes of the file that records take. */
static uint64_t used_size(void)
{
    const char *end = pct_record_packed_end(&pct_S);
    return end ? (uint64_t)(end - (char *)pct_shim.header) : PCT_TRACE_HEADER_SIZE + pct_shim.header->recorded * 8;
}

/* The thread that closed the trace. */
static PCT_OF_RUN int finisher;

/* Completes the header, except for the snapshot. False: that was done. */
static bool finish(enum pct_verdict verdict)
{
    /* The watchdog may be about to close the trace, too. */
    if (!pct_sched_is_on(&pct_S) || __atomic_exchange_n(&pct_shim.ended, true, __ATOMIC_SEQ_CST))
        return false;
    pct_foreign_threads_count();
    if (pct_sched_races(&pct_S) && pct_sched_threads(&pct_S) > 1 && !pct_memory_was_seen())
        pct_uncontrolled(PCT_UNCONTROLLED_UNSEEN);
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S) && pct_sched_threads(&pct_S) > 1; id++)
        if (pct_state(&pct_shim.slots[id].core) != PCT_STATE_FINISHED)
            pct_thread_note_priority(&pct_shim.slots[id]);
    __atomic_store_n(&finisher, pct_any_tid(), __ATOMIC_SEQ_CST);
    pct_timerfd_leave();
    pct_record_close(&pct_S);
    pct_record_finish(&pct_S);
    pct_shim.header->randoms = __atomic_load_n(&pct_shim.randoms, __ATOMIC_RELAXED);
    /* What still runs, a sanitizer's report for one, passes through: the trace is closed, and its
     * file is about to be cut to size under the mapping. */
    pct_sched_shut(&pct_S);
    pct_shim.header->verdict = verdict;
    const char *why =
        pct_script_ended(pct_shim.header->steps, pct_shim.header->hash, !pct_is_child(), verdict == PCT_VERDICT_EXIT);
    if (why) {
        struct pct_text text;
        pct_text_init(&text, pct_shim.header->message, sizeof pct_shim.header->message);
        pct_text_add(&text, why);
        pct_shim.header->verdict = PCT_VERDICT_DIVERGENCE;
    }
    /* When time is over is nothing that a token could promise. */
    pct_shim.config.has_hash = pct_shim.mode == PCT_MODE_CONTROLLED && verdict != PCT_VERDICT_TIMEOUT;
    pct_shim.config.hash = pct_shim.header->hash;
    if (pct_sched_races(&pct_S)) {
        uint64_t passed = pct_races_suppressed(pct_sched_races(&pct_S), &pct_shim.header->suppressed);
        if (pct_shim.config.races == PCT_RACES_FAIL)
            pct_shim.config.passed_races = passed;
    }
    pct_config_format_token(pct_shim.header->token, sizeof pct_shim.header->token, &pct_shim.config, pct_shim.strategy);
    if (!pct_sched_is_ring(&pct_S))
        pct_shim.header->file_size = used_size();
    return true;
}

/* By its name: the descriptor is long closed, and the program may have another root, or another file there. */
static void cut_file(void)
{
    struct stat status;
    if (pct_shim.mapped && pct_shim.header->file_size && !PCT_SYS2(SYS_stat, pct_shim.trace_path, &status) &&
        status.st_dev == pct_shim.trace_device && status.st_ino == pct_shim.trace_inode)
        PCT_SYS2(SYS_truncate, pct_shim.trace_path, pct_shim.header->file_size);
}

/* Into the mapping of the trace's file, behind the records. */
static void append_snapshot(const ucontext_t *context, bool threads)
{
    char *base = (char *)pct_shim.header;
    struct sink sink = { base + ((pct_shim.header->file_size + 7) & ~UINT64_C(7)), base + pct_shim.mapped };
    add_snapshot(&sink, context, threads);
}

/* Another thread has closed the trace, is still writing what comes behind it, and ends the process then. */
static void let_it_end(void)
{
    static const uint32_t never;
    while (__atomic_load_n(&finisher, __ATOMIC_SEQ_CST) != pct_any_tid())
        pct_futex_wait(&never, 0, NULL);
}

static bool finish_with_snapshot(enum pct_verdict verdict, const ucontext_t *context)
{
    if (!finish(verdict))
        return false;
    if (!pct_host_stands() || verdict == PCT_VERDICT_EXIT)
        pct_host_leave(PCT_HOST_FAILED, 0);
    int fd = -1;
    if (pct_shim.mapped && !pct_sched_is_ring(&pct_S)) {
        /* Of a run that ended by itself, its races. */
        append_snapshot(context, verdict != PCT_VERDICT_EXIT || is_ended_by_sanitizer());
        if (!pct_host_is_on())
            cut_file();
        if (!pct_shim.quiet)
            fd = (int)PCT_SYS3(SYS_open, pct_shim.trace_path, O_RDONLY, 0);
    } else if (!pct_shim.quiet || pct_is_child()) {
        fd = make_file(context);
    }
    if (!pct_shim.quiet && !report(fd))
        summary();
    return true;
}

void pct_end_normal(void)
{
    uint32_t races = 0, sure = 0;
    if (pct_sched_races(&pct_S))
        pct_races_found(pct_sched_races(&pct_S), &races, &sure);
    if (races) {
        finish_with_snapshot(PCT_VERDICT_EXIT, NULL);
        return;
    }
    if (!finish(PCT_VERDICT_EXIT))
        return;
    if (pct_is_child() && (pct_shim.header->verdict == PCT_VERDICT_DIVERGENCE || child_leaves_trace()))
        make_file(NULL);
    if ((pct_sched_sites(&pct_S) || pct_ordered_active) && pct_shim.mapped && !pct_sched_is_ring(&pct_S))
        append_snapshot(NULL, false);
    /* The launcher reads what is in it, and uses it again. */
    if (!pct_shim.header->launcher)
        cut_file();
    if (pct_sched_threads(&pct_S) < 2 && pct_shim.header->steps < 2)
        return;
    char line[PCT_TOKEN_MAX + 80];
    struct pct_text text;
    pct_text_init(&text, line, sizeof line);
    pct_text_add(&text, "exit ");
    pct_text_add_u64(&text, (uint64_t)(uint8_t)pct_shim.header->exit_status);
    pct_text_add(&text, " after ");
    pct_text_add_u64(&text, pct_shim.header->steps);
    pct_text_add(&text, " steps of ");
    pct_text_add_u64(&text, pct_sched_threads(&pct_S));
    pct_text_add(&text, " threads; PCT_TOKEN=");
    pct_text_add(&text, pct_shim.header->token);
    pct_say(line);
}

void pct_end_died(void)
{
    if (pct_self)
        pct_save_registers(pct_self->regs);
    pct_shim.header->exit_status = PCT_STATUS_UNKNOWN;
    pct_shim.header->culprit = pct_self ? pct_self->core.id : PCT_NO_THREAD;
    finish_with_snapshot(PCT_VERDICT_EXIT, NULL);
}

static int exit_code(enum pct_verdict verdict)
{
    switch (verdict) {
    case PCT_VERDICT_DEADLOCK:
        return PCT_EXIT_DEADLOCK;
    case PCT_VERDICT_LIVELOCK:
        return PCT_EXIT_LIVELOCK;
    case PCT_VERDICT_DIVERGENCE:
        return PCT_EXIT_DIVERGENCE;
    case PCT_VERDICT_TIMEOUT:
        return PCT_EXIT_TIMEOUT;
    case PCT_VERDICT_RACE:
        return PCT_EXIT_RACE;
    default:
        return PCT_EXIT_INTERNAL;
    }
}

void pct_end_verdict(enum pct_verdict verdict, const char *message)
{
    struct pct_text text;
    if (pct_self)
        pct_save_registers(pct_self->regs); /* where it parked last is not where it stands */
    if (message) {
        pct_text_init(&text, pct_shim.header->message, sizeof pct_shim.header->message);
        pct_text_add(&text, message);
    }
    pct_shim.header->culprit = PCT_NO_THREAD;
    pct_debugger_end(verdict);
    if (!finish_with_snapshot(verdict, NULL))
        let_it_end();
    pct_host_failed(exit_code(verdict));
    PCT_SYS1(SYS_exit_group, exit_code(verdict));
    __builtin_unreachable();
}

/* After this the signal shall end the process. A sandbox may keep the handler from restoring the default; then a fault
 * that comes again while its signal is blocked is the end, and a signal that was sent comes here again and again. */
static void make_final(int signal, ucontext_t *context)
{
    enum { MANY = 8 };
    static PCT_OF_RUN int times;
    uint64_t bit = UINT64_C(1) << (signal - 1);
    *(uint64_t *)&context->uc_sigmask |= bit;
    if (++times == MANY)
        PCT_SYS1(SYS_exit_group, 128 + signal);
}

void pct_end_crash(int signal, void *context)
{
    make_final(signal, context);
    pct_enter(); /* begins a run that has not begun, so that there is one to report */
    if (!pct_sched_is_on(&pct_S) || !pct_is_process(pct_shim.pid))
        return;
    pct_shim.header->signal = signal;
    pct_shim.header->culprit = pct_self ? pct_self->core.id : PCT_NO_THREAD;
    if (finish_with_snapshot(signal == SIGABRT && pct_shim.assertion ? PCT_VERDICT_ASSERTION : PCT_VERDICT_CRASH,
                             context))
        pct_host_failed(-signal);
    else if (pct_shim.header->verdict != PCT_VERDICT_EXIT)
        let_it_end();
}
