/* The start: read the environment, open the trace, take control of the main thread; and the same again in a fork child.
 *
 * With -z initfirst the constructor runs before those of all other libraries, before libc knows the environment: it
 * takes it from its arguments. A mistake in the environment ends the process here, before any code of the target.
 *
 * Unless the trace is kept, the run itself begins with the first call that needs it (pct_enter_first): most processes
 * under a preloaded library are shells and tools that make no such call, and start and end as if it were not there. */
#include "start.h"
#include "end.h"
#include "engine.h"
#include "replay_file.h"
#include "script.h"
#include "start_files.h"
#include "tables.h"
#include "variables.h"
#include <common/list.h>
#include <common/pack.h>
#include <common/text.h>
#include <pct/random.h>
#include <preload/core/bind.h>
#include <preload/core/debugger.h>
#include <preload/core/environment.h>
#include <preload/core/host.h>
#include <preload/core/kernel.h>
#include <preload/core/real.h>
#include <preload/core/sites.h>
#include <preload/core/sys.h>
#include <preload/io/io.h>
#include <preload/io/news.h>
#include <preload/io/request.h>
#include <preload/io/streams.h>
#include <preload/memory/memory.h>
#include <preload/memory/channel.h>
#include <preload/memory/scope.h>
#include <preload/memory/watch.h>
#include <preload/process/exit.h>
#include <preload/process/forkserver.h>
#include <preload/sync/foreign_calls.h>
#include <preload/sync/layouts.h>
#include <preload/thread/affinity.h>
#include <preload/thread/cancel.h>
#include <preload/thread/foreign_threads.h>
#include <preload/thread/slots.h>
#include <preload/thread/thread.h>
#include <preload/time/family.h>
#include <preload/time/vtimer.h>
#include <preload/watchdog/watchdog.h>
#include <sched/races.h>
#include <sched/record.h>
#include <strategies/strategies.h>
#include <elf.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* The command line, for the report. It stands behind the others that are PCT_OF_START, as most of it stays empty. */
static char command[2048] __attribute__((section("pct_start_end")));

/* The private header of a run that is not recorded in a file. */
static struct pct_trace_header *private_header(void)
{
    return pct_map(PCT_TRACE_HEADER_SIZE);
}

PCT_OF_START static char **start_environment; /* as on the stack */

/* Address space for threads. With strategy none they make others without the baton. */
static void map_slots(void)
{
    if (!pct_shim.slots)
        pct_slots_begin(!strcmp(pct_shim.strategy->name, "none"));
}

/* What PCT_REPLAY names. */
static struct pct_recorded replay;

/* Open the file that PCT_TRACE names, and read its header, if it has one: *had. Refuses what is neither empty nor a
 * trace. Negative: it may not be opened, and the run is not recorded. */
static long open_trace_file(const char *path, struct stat *status, struct pct_trace_header *old, bool *had)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
    /* In /tmp the kernel may refuse O_CREAT of another user's file (fs.protected_regular), to root, too. */
    long fd = PCT_SYS3(SYS_open, path, flags, 0);
    if (fd == -ENOENT)
        fd = PCT_SYS3(SYS_open, path, flags | O_CREAT, 0600);
    if (pct_refused(fd) || fd == -EMFILE || fd == -ENFILE) {
        /* One that gave up its rights, or all descriptors, started another. A failure is told as of a child. */
        pct_say("cannot open the file that PCT_TRACE names for writing: the run is not recorded");
        pct_trace_file_keep(path);
        return fd;
    }
    if (fd < 0)
        pct_start_refuse("cannot open the file that PCT_TRACE names for writing");
    long got = PCT_SYS3(SYS_read, fd, old, sizeof *old);
    if (PCT_SYS2(SYS_fstat, fd, status) || !S_ISREG(status->st_mode))
        pct_start_refuse("PCT_TRACE does not name a regular file");
    if (got && (got < 16 || memcmp(old->magic, PCT_TRACE_MAGIC, 8)))
        pct_start_refuse("the file that PCT_TRACE names exists and is not a pct trace; it was left as it is");
    if (got && (!old->version || old->version > PCT_TRACE_VERSION))
        pct_start_refuse("the file that PCT_TRACE names is a trace of another version of pct; it was left as it is");
    *had = got == sizeof *old;
    return fd;
}

/* Map the file, which has `now` bytes, with this size, and close it. launched: the launcher has made it for this run.
 * NULL: there is no space for it. */
static void *map_trace(long fd, size_t size, off_t now, bool launched)
{
    long at = -1;
    void *place = pct_forkserver_reserved(size);
    /* Whether there are no steps of an earlier run to clear away: the launcher has done that. */
    bool clear = now <= PCT_TRACE_HEADER_SIZE || launched;
    bool fits = clear && now == (off_t)size;
    if (size >= 1 << 16 && (clear || !PCT_SYS2(SYS_ftruncate, fd, 0)) && (fits || !PCT_SYS2(SYS_ftruncate, fd, size)))
        at = PCT_SYS6(SYS_mmap, place, size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_NORESERVE | (place ? MAP_FIXED : 0), fd, 0);
    PCT_SYS1(SYS_close, fd);
    if ((at >= 0 || at <= -4096) && pct_populate((void *)at, PCT_TRACE_HEADER_SIZE))
        return (void *)at;
    pct_say("no space for the trace: the run is not recorded");
    if (place)
        PCT_SYS2(SYS_munmap, place, size);
    PCT_SYS2(SYS_truncate, pct_shim.trace_path, 0);
    pct_shim.trace_path = NULL;
    return NULL;
}

/* Open PCT_TRACE. Refuses a file that is neither empty nor a trace; NULL (and the run is not recorded) where it belongs
 * to a running parent, where there is no space, or where it says that this shall be a fork server. */
static struct pct_trace_header *open_trace(const char *path)
{
    struct pct_trace_header old = { .magic = "" };
    struct stat status;
    bool had = false;
    uint32_t images = 0;
    long fd = open_trace_file(path, &status, &old, &had);
    if (fd < 0) {
        replay.records = NULL;
        return NULL;
    }
    pct_trace_file_keep(path);
    pct_shim.trace_device = status.st_dev;
    pct_shim.trace_inode = status.st_ino;
    pct_shim.launcher = had ? old.launcher : 0;
    pct_shim.supervisor = had ? old.supervisor : 0;
    if (had && pct_trace_file_in_use(&old)) {
        PCT_SYS1(SYS_close, fd);
        replay.records = NULL;
        return NULL;
    }
    /* It is this process's own already. */
    if (had && old.verdict == PCT_VERDICT_RUNNING && old.pid == (int)PCT_SYS0(SYS_getpid))
        images = old.images + 1;
    if (images != replay.images)
        replay.records = NULL;

    size_t size = pct_trace_file_size();
    if (had && old.server) {
        PCT_SYS1(SYS_close, fd);
        pct_forkserver_start(old.server, start_environment);
        pct_forkserver_reserve(size);
        map_slots();
        return NULL;
    }
    /* The launcher may know of a checker that reads all memory. */
    if (had && old.launcher && old.file_most && old.file_most < size)
        size = old.file_most & ~(size_t)4095;
    void *at = map_trace(fd, size, status.st_size, had && old.launcher && !old.pid);
    if (!at)
        return NULL;
    PCT_SYS3(SYS_madvise, at, size, MADV_DONTDUMP);
    return pct_trace_file_take(at, size, &old, images);
}

/* The next run of a host: the file is mapped, and the launcher's. */
static struct pct_trace_header *open_again(const char *path, void *at, size_t size)
{
    const struct pct_trace_header old = *(const struct pct_trace_header *)at;
    pct_trace_file_keep(path);
    pct_host_trace_file(&pct_shim.trace_device, &pct_shim.trace_inode);
    pct_shim.launcher = old.launcher;
    pct_shim.supervisor = old.supervisor;
    if (!pct_host_populate(at, PCT_TRACE_HEADER_SIZE))
        pct_host_leave(PCT_HOST_TRACE, 0);
    return pct_trace_file_take(at, size, &old, 0);
}

static void open_replay(const char *path)
{
    const char *wrong = pct_recorded_open(&replay, path);
    if (wrong)
        pct_start_refuse(wrong);
    /* Unless told otherwise, the run is the one that the trace is of: with its seed and its time of day. */
    if (!pct_variables.PCT_TOKEN && !pct_variables.PCT_STRATEGY && !pct_variables.PCT_SEED)
        pct_variables.PCT_TOKEN = replay.token;
}

/* The strategy's list, if it comes from a file, or packed. */
static const char *list;

static void find_list(void)
{
    list = NULL;
    if (pct_variables.PCT_SCHEDULE && pct_shim.strategy->list && !(list = pct_start_read(pct_variables.PCT_SCHEDULE)))
        pct_start_refuse("cannot read the list that PCT_SCHEDULE names");
    if (*pct_shim.config.list == PCT_LIST_PACKED && !list && !(list = pct_start_unpack(pct_shim.config.list)))
        pct_start_refuse("the strategy's list is packed, and cannot be unpacked");
}

static struct pct_thread *thread_at(uint32_t id)
{
    return &pct_shim.slots[id].core;
}

/* The head of the trace, as far as it is known before the run. */
static void write_header(struct pct_trace_header *header)
{
    memcpy(header->magic, PCT_TRACE_MAGIC, 8);
    header->version = PCT_TRACE_FLAT;
    header->header_size = PCT_TRACE_HEADER_SIZE;
    long pid = PCT_SYS0(SYS_getpid);
    if (!pct_refused(pid))
        pct_shim.pid = (int)pid;
    header->pid = pct_shim.pid;
    header->seed = pct_shim.config.run.seed;
    header->epoch = pct_shim.config.epoch;
    header->culprit = PCT_NO_THREAD;
    struct pct_text text;
    pct_text_init(&text, header->strategy, sizeof header->strategy);
    pct_text_add(&text, pct_shim.strategy->name);
    pct_text_init(&text, header->command, sizeof header->command);
    pct_text_add(&text, command);
    pct_config_format_token(header->token, sizeof header->token, &pct_shim.config, pct_shim.strategy);
    pct_shim.header = header;
}

/* What the scheduler is told before it starts. recorded: the run that this one follows, or NULL. */
static void configure(struct pct_sched *s, const struct pct_recorded *recorded, bool none)
{
    s->host = &pct_host_futex;
    s->thread_at = thread_at;
    s->strategy = recorded ? &pct_strategy_replay : pct_shim.strategy;
    s->run = pct_shim.config.run;
    s->run.records = recorded ? recorded->records : NULL;
    s->run.records_count = recorded ? recorded->count : 0;
    s->run.list = list ? list : pct_shim.config.list;
    s->max_steps = pct_shim.config.max_steps;
    s->run_ns = pct_shim.run_ns;
    s->end = pct_end_of_run(pct_shim.config.end, s->run.seed);
    pct_debugger_begin();
    if ((pct_shim.mapped || pct_sites_of_family()) && !none)
        pct_sites_begin(s);
    s->step_ns = pct_shim.config.real_time || none ? 0 : PCT_STEP_NS;
    s->slack = recorded ? 0 : pct_shim.config.slack; /* recorded, each early deadline has a step of its own */
    /* These say which waits end early; but one repeats what a script did, to which coins said it. */
    s->slack_coins =
        (!pct_shim.strategy->list || pct_shim.strategy == &pct_strategy_processes) && !pct_shim.config.still;
    s->still = pct_shim.config.still && s->step_ns;
    s->explored = pct_shim.config.explored;
    pct_streams_start();
    s->base = s->step_ns ? pct_family_began() : 0;
}

/* Room for the trace's records behind its head, and what the race detector needs. */
static void begin_records(struct pct_sched *s, struct pct_trace_header *header, bool none)
{
    uint64_t room = pct_shim.mapped ? (pct_shim.mapped - PCT_TRACE_HEADER_SIZE) / 8 : 0, rest = 0;
    uint64_t *records = (void *)((char *)header + PCT_TRACE_HEADER_SIZE);
    if (room > PCT_PACK_AREA) {
        rest = room - PCT_PACK_AREA;
        room = PCT_PACK_AREA;
    }
    header->records_size = room * 8;
    if (!pct_shim.slots || pct_record_start(s, header, records, room))
        pct_fail_for_memory();
    pct_record_pack(s, records + room, rest * 8);
    if (pct_shim.config.races && !none && !pct_races_start(s))
        pct_say("no address space for the race detector: races are not looked for");
    if (s->races) {
        pct_news_begin();
        pct_sched_in_full(s);
    }
}

/* Begin a run in this process, whose only thread is the caller; it follows this trace, if that has records. */
static void begin(struct pct_trace_header *header, const struct pct_recorded *recorded)
{
    struct pct_sched *s = &pct_S;
    const char *why = NULL;
    bool none = !strcmp(pct_shim.strategy->name, "none");
    /* A trace has the steps of one process, the token what all of them did. */
    bool follows = recorded->records && pct_shim.strategy != &pct_strategy_processes;
    write_header(header);
    map_slots();
    configure(s, follows ? recorded : NULL, none);
    begin_records(s, header, none);
    pct_channel_open(pct_shim.strategy == &pct_strategy_explore ? pct_variables.PCT_EXPLORE : NULL);
    if (pct_shim.strategy == &pct_strategy_script)
        s->run.script = pct_script_open(pct_variables.PCT_EXPLORE);
    if (pct_shim.strategy == &pct_strategy_processes)
        s->run.board = pct_script_board();
    int failed = pct_sched_start(s, &why);
    if (failed == -ENOMEM)
        pct_fail_for_memory();
    if (failed)
        pct_start_refuse(why ? why : "the strategy refused to start");
    if (why && !pct_shim.quiet)
        pct_say(why);
    if (s->run.script && !s->log)
        s->calm = pct_strategy_script_calm(s->strategy_state);

    struct pct_shim_thread *self = &pct_shim.slots[0];
    pct_thread_adopt(self);
    pct_shim.ended = false;
    pct_sched_create(s, &self->core);
    pct_object_init(&s->objects, (void *)self->handle, PCT_CLASS_THREAD)->model[0] = 0;
    pct_shim.mode = none ? PCT_MODE_FREE : PCT_MODE_CONTROLLED;
    if (!none)
        pct_sched_begin(s, &self->core);
    pct_script_watch();
}

/* PCT_OF_RUN, by the linker. */
extern char of_run_from[] __asm__("__start_pct_run") __attribute__((visibility("hidden")));
extern char of_run_to[] __asm__("__stop_pct_run") __attribute__((visibility("hidden")));

/* The parent's: the address space may be limited. */
static void forget_trace(void)
{
    if (pct_shim.mapped && !PCT_SYS2(SYS_munmap, pct_shim.header, pct_shim.mapped))
        pct_shim.space -= pct_shim.mapped;
    pct_shim.header = NULL;
    pct_shim.mapped = 0;
}

void pct_start_child(uint32_t ordinal, uint64_t parent_seed)
{
    memset(&pct_page, 0, sizeof pct_page);
    memset(of_run_from, 0, (uintptr_t)of_run_to - (uintptr_t)of_run_from);
    pct_itimer_forget();
    pct_timer_forget();
    pct_aio_forget();
    pct_gai_forget();
    pct_mq_notify_forget();
    pct_foreign_threads_forget();
    pct_foreign_forget();
    pct_memory_forget();
    pct_watchdog_forget();
    pct_scope_forget();
    pct_watch_forget();
    pct_shim.mode = PCT_MODE_OFF;
    forget_trace();
    pct_slots_forget();
    pct_shim.children = 0;
    pct_shim.recorder = 0; /* the lock of the recorder: whoever held it is not in this process */
    pct_shim.robust = false;
    pct_shim.quiet = true; /* the parent's run is the one that is reported */
    pct_shim.config.run.seed = pct_random(parent_seed, PCT_STREAM_CHILD, ordinal);
    struct pct_trace_header *header = private_header();
    if (!header)
        pct_fail_for_memory();
    begin(header, &(const struct pct_recorded){ .count = 0 });
    pct_timerfd_inherit();
}

/* A forked run: it has variables of its own. */
static void start_again(void)
{
    memset(&pct_variables, 0, sizeof pct_variables);
    memset(&pct_shim.config, 0, sizeof pct_shim.config);
    pct_variables_read(start_environment);
    pct_variables_configure();
    find_list();
    pct_memory_settle();
    pct_affinity_start(pct_variables.PCT_CPU);
}

/* A child, however it was made, and a run of a fork server find this page empty, and pass everything through. */
static void map_page(void)
{
    long page = PCT_SYS6(SYS_mmap, &pct_page, sizeof pct_page, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (page != (long)&pct_page)
        pct_fail_for_memory();
    PCT_SYS3(SYS_madvise, &pct_page, sizeof pct_page, 18 /* MADV_WIPEONFORK */);
}

/* Whether the program is one of Go, by the note with its build id. */
static bool is_go(void)
{
    static const struct {
        Elf64_Nhdr head;
        char name[4];
    } wanted = { { .n_namesz = 4, .n_type = 4 }, "Go" };
    const Elf64_Phdr *part = (const void *)getauxval(AT_PHDR);
    uintptr_t base = 0;
    for (unsigned long left = part ? getauxval(AT_PHNUM) : 0; left; left--, part++) {
        if (part->p_type == PT_PHDR)
            base = getauxval(AT_PHDR) - part->p_vaddr;
        uintptr_t at = base + part->p_vaddr, end = at + part->p_filesz, align = part->p_align == 8 ? 8 : 4;
        while (part->p_type == PT_NOTE && at + sizeof wanted <= end) {
            const Elf64_Nhdr *note = (const void *)at;
            if (note->n_type == wanted.head.n_type && note->n_namesz == wanted.head.n_namesz &&
                !memcmp(note + 1, wanted.name, sizeof wanted.name))
                return true;
            at += (sizeof *note + note->n_namesz + align - 1) & -align;
            at += (note->n_descsz + align - 1) & -align;
        }
    }
    return false;
}

/* What is not known of this libc is refused. Not in processes that need no scheduler: it takes 10 us. */
PCT_STARTS static void check_layouts(void)
{
    char line[160];
    struct pct_text text;
    const char *unknown = pct_layouts_unknown();
    if (!unknown && !pct_news_lead())
        unknown = "streams";
    if (!unknown)
        return;
    pct_text_init(&text, line, sizeof line);
    pct_text_add(&text, "the ");
    pct_text_add(&text, unknown);
    pct_text_add(&text, " of this glibc (");
    pct_text_add(&text, gnu_get_libc_version());
    pct_text_add(&text, ") are not laid out as pct knows them: nothing can be controlled with it");
    pct_start_refuse(line);
}

struct pct_shim_thread *pct_enter_first(void)
{
    pct_tables_relocate();
    /* Not from within what a fork server calls: libc's dlsym() gives memory back, to an allocator that may read a clock
     * there. */
    static bool serves;
    if (serves)
        return NULL;
    /* Not in a child that runs in our memory, nor in a thread that pct did not see start. */
    long tid = PCT_SYS0(SYS_gettid);
    if (!pct_is_process(pct_shim.pid) || (tid != pct_shim.pid && !pct_refused(tid)))
        return NULL;
    /* Its runtime waits by system calls of its own, in threads that wait for each other: under a schedule of the calls
     * to libc that some of them make, nothing of it would end. */
    if (is_go()) {
        pct_shim.pending = false;
        if (!pct_variables.PCT_TRACE && !pct_variables.PCT_FAMILY)
            pct_say(
                "a program of Go: its runtime makes threads and system calls without libc, so it is not controlled");
        return NULL;
    }
    if (!pct_shim.main_thread)
        pct_engine_learn();
    bool forked = pct_forkserver_is_on();
    if (forked) {
        pct_foreign_threads_serve();
        serves = true;
        pct_forkserver_serve(start_environment);
        serves = false;
        pct_foreign_threads_begin();
        start_again();
    }
    pct_shim.pending = false;
    pct_variables_configure_defaults();
    if (!forked) {
        check_layouts();
        map_page();
        pct_fd_start();
    }
    pct_family_join(pct_variables.PCT_FAMILY);
    pct_family_await_turn();
    pct_variables_draw();
    pct_real_start();
    pct_cancel_start();
    pct_error_note();
    struct pct_trace_header *header = NULL;
    size_t size = 0;
    void *again = forked ? pct_host_trace(&size) : NULL;
    if (pct_variables.PCT_TRACE)
        header = again ? open_again(pct_variables.PCT_TRACE, again, size) : open_trace(pct_variables.PCT_TRACE);
    if (!forked && pct_forkserver_is_on()) {
        pct_shim.pending = true;
        return NULL;
    }
    if (!header)
        header = private_header();
    if (!header)
        pct_fail_for_memory();
    pct_host_close(header, pct_shim.mapped);
    begin(header, &replay);
    struct pct_shim_thread *self = pct_enter();
    if (self && pct_shim.exited)
        pct_exit_point(self, pct_shim.exit_status);
    return self;
}

/* ThreadSanitizer's runtime counts on being told of each thread: by its own functions, whose place ours have taken. */
PCT_STARTS static void refuse_tsan(void)
{
    const struct link_map *one, *other;
    const bool inside = pct_real_is_replaced("__tsan_init"), there = pct_real_symbol("__tsan_init", &one);
    if (inside || (there && !(pct_real_symbol("pct_tsan_access_1", &other) && one == other)))
        pct_start_refuse("this program was built with -fsanitize=thread, whose runtime does not run beside libpct.so: "
                         "start it by `pct run`, which puts its own in that place");
}

PCT_STARTS static void start(int argc, char **argv, char **environment)
{
    struct pct_text text;
    pct_bind_start();
    start_environment = environment;
    pct_shim.main_stack = (uintptr_t)argv - sizeof *argv;
    pct_random_begin(environment);
    pct_variables_read(environment);
    pct_shim.trace_path = pct_variables.PCT_TRACE;
    refuse_tsan();
    if (pct_variables.PCT_REPLAY) {
        pct_tables_relocate();
        open_replay(pct_variables.PCT_REPLAY);
    }
    if (pct_variables_configure())
        find_list();
    pct_slots_see_limit();
    pct_affinity_start(pct_variables.PCT_CPU);
    if (pct_variables.PCT_ENVIRONMENT && strcmp(pct_variables.PCT_ENVIRONMENT, "on")) {
        if (strcmp(pct_variables.PCT_ENVIRONMENT, "off"))
            pct_start_refuse("PCT_ENVIRONMENT must be on or off");
        pct_environment_hide(environment);
    }
    pct_text_init(&text, command, sizeof command);
    pct_text_add_command(&text, argc, argv);
    pct_thread_start();
    pct_signal_start();
    /* What it registers first is called last, after the destructors of all libraries: they may still join threads. One
     * of our own would run before those of libraries that do not depend on us. */
    pct_exit_watch();
    pct_shim.pid = (int)PCT_SYS0(SYS_getpid);
    pct_foreign_threads_begin();
    pct_shim.pending = true;
    /* What may still turn out to be a mistake of the user's is tried before any code of the target. */
    if (pct_variables.PCT_TRACE || strchr(pct_shim.config.strategy, '/'))
        pct_enter_first();
}

/* The loader's constructor. This entry stands first in the tables that the loader fills in: they begin with a page. */
__attribute__((section(".init_array"), used, aligned(4096))) static void (*const entry)(int, char **, char **) = start;
