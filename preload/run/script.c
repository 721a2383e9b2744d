/* The script of a run: see script.h. */
#include "script.h"
#include "end.h"
#include <common/text.h>
#include <preload/core/kernel.h>
#include <preload/core/maps.h>
#include <preload/core/real.h>
#include <preload/core/shim.h>
#include <preload/core/sites.h>
#include <preload/core/sys.h>
#include <preload/sync/mutex.h>
#include <preload/sync/rwlock.h>
#include <preload/time/family.h>
#include <preload/watchdog/lone.h>
#include <preload/watchdog/watchdog.h>
#include <common/script.h>
#include <patch/plan.h>
#include <sched/log.h>
#include <strategies/processes.h>
#include <strategies/schedule.h>
#include <strategies/strategies.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

/* Who holds that before which this thread stands. What a mutex says itself is the truth: its shortcut tells nobody. */
static uint32_t holder_of(const struct pct_thread *thread, const struct pct_object *object)
{
    if (object->class_ == PCT_CLASS_NONE || object->class_ == PCT_CLASS_THREAD)
        return PCT_NO_THREAD;
    return object->class_ == PCT_CLASS_MUTEX ? pct_mutex_owner(thread) : object->holder;
}

static bool look(uint32_t id, struct pct_script_look *out)
{
    if (id >= pct_sched_threads(&pct_S))
        return false;
    const struct pct_shim_thread *t = &pct_shim.slots[id];
    const struct pct_object *object = t->core.wait.object;
    *out = (struct pct_script_look){ .op = (uint8_t)t->core.wait.op,
                                     .place = t->core.site.call,
                                     .start = (uintptr_t)t->start,
                                     .holder = PCT_NO_THREAD,
                                     .finished = t->core.state == PCT_STATE_FINISHED,
                                     .ready = pct_state(&t->core) == PCT_STATE_ENABLED && !t->core.early,
                                     .deadline = t->core.wait.deadline != PCT_NEVER,
                                     .function = t->begins & PCT_BEGINS_FUNCTION,
                                     .line = t->begins & PCT_BEGINS_LINE };
    if (object) {
        out->class_ = object->class_;
        out->number = object->number;
        out->address = object->class_ == PCT_CLASS_THREAD ? 0 : object->address;
        out->holder = out->ready ? PCT_NO_THREAD : holder_of(&t->core, object);
        if (!out->ready && object->class_ == PCT_CLASS_RWLOCK && out->holder == PCT_NO_THREAD)
            out->readers = pct_rwlock_readers(object);
        if (out->readers)
            out->holder = (uint32_t)__builtin_ctzll(out->readers);
    }
    if (!out->ready && out->holder == PCT_NO_THREAD)
        out->holder = pct_mutex_holder(&t->core);
    return true;
}

static uint32_t pending(uint32_t id)
{
    const struct pct_thread *t = &pct_shim.slots[id].core;
    return t->state == PCT_STATE_FINISHED ? PCT_OP_COUNT : t->wait.op;
}

static void name(uint32_t id, char out[16])
{
    memset(out, 0, 16);
    if (id < pct_sched_threads(&pct_S))
        pct_end_read_name(pct_shim.slots[id].tid, out);
}

/* By an exception or longjmp(): the stack ends above, or other calls have written where it was to return to. A handler
 * may be on another stack. */
static bool has_left(uint32_t id, uint64_t stack, uint64_t link, bool *forget)
{
    const struct pct_shim_thread *t = &pct_shim.slots[id];
    uint64_t now = pct_sites_stack_of(&t->core), top = t->stack_top ? t->stack_top : pct_shim.main_stack;
    *forget = stack < top && *(const uint64_t *)(uintptr_t)stack != link;
    return *forget || (stack < top && now < top && now > stack + sizeof link);
}

/* By the kernel, for which a wrong address is no fault. */
static bool read_bytes(uint64_t address, void *bytes, size_t size)
{
    struct iovec here = { bytes, size }, there = { (void *)address, size };
    return PCT_SYS6(SYS_process_vm_readv, pct_any_tid(), &here, 1, &there, 1, 0) == (long)size;
}

/* How long to sleep at a time, as a relative that ends tells nobody; and for how long one that is not under pct may
 * seem to sleep only for a while. */
enum { SHORTEST_NS = 500000, LONGEST_NS = 10000000 };
#define PATIENCE_NS UINT64_C(10000000000)

/* lasts_too_long: whether to wait no longer, though others go on; NULL: never. */
static enum pct_script_await await_word(const uint32_t *word, uint32_t value,
                                        bool (*lasts_too_long)(struct pct_script_runner *),
                                        struct pct_script_runner *runner)
{
    struct timespec moment = { .tv_nsec = SHORTEST_NS };
    uint64_t now = pct_sched_now(&pct_S), began = pct_real_now(), again;
    bool may_change = true, lasts = false;
    pct_family_busy(now); /* it may have been idle until a deadline, which nobody waits for meanwhile */
    while (may_change && !lasts && __atomic_load_n(word, __ATOMIC_SEQ_CST) == value) {
        pct_family_idle(now, PCT_NEVER, false, &again);
        may_change = !pct_family_stuck(pct_real_now() - began > PATIENCE_NS);
        if (may_change)
            PCT_SYS4(SYS_futex, word, PCT_FUTEX_WAIT_SHARED, value, &moment);
        moment.tv_nsec = moment.tv_nsec < LONGEST_NS / 2 ? 2 * moment.tv_nsec : LONGEST_NS;
        lasts = lasts_too_long && lasts_too_long(runner);
        pct_family_woken();
    }
    pct_family_busy(now);
    if (lasts)
        pct_family_end_turns(); /* it keeps its own for too long */
    pct_family_await_turn();
    return __atomic_load_n(word, __ATOMIC_SEQ_CST) != value ? PCT_SCRIPT_AWAIT_CHANGED
           : lasts                                          ? PCT_SCRIPT_AWAIT_RUNS
                                                            : PCT_SCRIPT_AWAIT_VAIN;
}

static void wake_word(const uint32_t *word)
{
    pct_family_tell();
    PCT_SYS3(SYS_futex, word, 1 /* FUTEX_WAKE */, INT32_MAX);
}

static struct pct_script_channel *channel;
static char program[sizeof channel->program];
static struct pct_script_self self;

static void record_of(const struct pct_script_runner *runner, enum pct_script_switch_kind kind, uint32_t value)
{
    uint32_t i = __atomic_fetch_add(&channel->switches, 1, __ATOMIC_SEQ_CST);
    if (i >= PCT_SCRIPT_SWITCHES)
        return;
    struct pct_script_switch *at = &pct_script_switches(channel)[i];
    at->step = runner->step;
    at->value = value;
    at->process = (uint16_t)runner->process;
    at->image = (uint8_t)(runner->image < UINT8_MAX ? runner->image : UINT8_MAX);
    __atomic_store_n(&at->kind, kind, __ATOMIC_RELEASE);
}

static void record(enum pct_script_switch_kind kind, uint32_t value, uint64_t step)
{
    struct pct_script_runner own = { .process = self.number, .step = step == UINT64_MAX ? pct_steps(&pct_S) : step };
    pct_family_path(&own.image);
    record_of(&own, kind, value);
}

bool pct_script_has_family(void)
{
    return channel && channel->processes && pct_sched_has_script(&pct_S);
}

void pct_script_watch(void)
{
    if (!pct_script_has_family())
        return;
    pct_watchdog_start();
    pct_lone_watch();
}

static struct pct_script_said *said_by(uint32_t process)
{
    return process ? &channel->process[process - 1].said : &channel->said;
}

/* --- Waiting for the board ---------------------------------------------------------------------------------------- */

/* A loop that only others can end has this much CPU time, as something from outside might still write. One of which
 * that is not known has what a thread has that others could go on beside (PCT_WATCHDOG): no sign tells a loop that
 * counts its rounds, and would end if another wrote, from one that computes. Where time, or the outside world, may let
 * others go on, it has that this many times. The user hears of it after that much. */
#define SURE_NS UINT64_C(2000000000)
#define TELL_NS UINT64_C(3000000000)
enum { LONG_RUNS = 6 };

/* The process that goes on while this one waits, plus 1: since this step, and this much CPU time; and what was told. */
static struct {
    uint32_t process;
    uint64_t step, from, told;
} runs;

/* False: it has no number. */
static bool find_process(uint32_t ticket, uint32_t *process)
{
    uint32_t count = __atomic_load_n(&channel->processes, __ATOMIC_SEQ_CST);
    *process = 0;
    if (ticket == __atomic_load_n(&channel->ticket, __ATOMIC_SEQ_CST))
        return true;
    for (uint32_t i = 0; i < count && i < PCT_SCRIPT_PROCESSES; i++)
        if (__atomic_load_n(&channel->process[i].ticket, __ATOMIC_SEQ_CST) == ticket)
            *process = i + 1;
    return *process;
}

static void say_runner(struct pct_script_runner *runner, uint64_t seconds)
{
    struct pct_text text;
    pct_text_init(&text, runner->text, sizeof runner->text);
    pct_text_add(&text, runner->process ? "process " : "the first process");
    if (runner->process)
        pct_text_add_u64(&text, runner->process);
    pct_text_add(&text, " has run for ");
    pct_text_add_u64(&text, seconds);
    pct_text_add(&text, " s of CPU time without a scheduling point");
}

/* Whether the only process that goes on, and has lines that it may come to, has passed no point for too long: it may
 * wait for this one. */
static bool runs_too_long(struct pct_script_runner *runner)
{
    uint64_t cpu;
    uint32_t process, ticket = pct_family_runner(&cpu);
    const bool known = ticket && find_process(ticket, &process);
    const struct pct_script_said *said = known ? said_by(process) : NULL;
    const uint64_t step = known ? __atomic_load_n(&said->came, __ATOMIC_SEQ_CST) : 0;
    if (!known || said->over || runs.process != process + 1 || runs.step != step || cpu < runs.from) {
        runs.process = known && !said->over ? process + 1 : 0;
        runs.step = step;
        runs.from = cpu;
        runs.told = 0;
        return false;
    }
    const uint64_t passed = cpu - runs.from, seconds = passed / 1000000000;
    const bool ends = passed >= LONG_RUNS * pct_sched_run_ns(&pct_S);
    if (!ends && (passed < TELL_NS || seconds == runs.told))
        return false;
    *runner = (struct pct_script_runner){ .process = process, .image = said->image, .step = step };
    say_runner(runner, seconds);
    struct pct_script_said *own = said_by(self.number);
    memcpy(own->message, runner->text, sizeof runner->text);
    __atomic_store_n(&own->runs, (uint32_t)seconds, __ATOMIC_RELEASE);
    runs.told = seconds;
    return ends;
}

static enum pct_script_await await_board(const uint32_t *word, uint32_t value, struct pct_script_runner *runner)
{
    runs.process = 0;
    return await_word(word, value, runs_too_long, runner);
}

/* NULL: there is none here. */
static struct pct_script_channel *map_channel(const char *path)
{
    struct pct_script_channel head = { .magic = "" };
    struct stat status = { .st_size = 0 };
    long fd = PCT_SYS3(SYS_open, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
    if (fd < 0 || PCT_SYS3(SYS_read, fd, &head, sizeof head) != sizeof head || PCT_SYS2(SYS_fstat, fd, &status) ||
        memcmp(head.magic, PCT_SCRIPT_MAGIC, 8) != 0 || head.version != PCT_SCRIPT_VERSION)
        return NULL; /* the command finds that it never began */
    long at = PCT_SYS6(SYS_mmap, NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    PCT_SYS1(SYS_close, fd);
    if (at < 0 && at > -4096)
        pct_fail_for_memory();
    return (void *)at;
}

void pct_script_expect(uint32_t ticket)
{
    bool parts = channel && channel->parts;
    if (ticket && (parts || pct_sched_strategy_is(&pct_S, &pct_strategy_processes)))
        pct_family_take_turns();
    if (!parts)
        return;
    if (!self.number)
        __atomic_store_n(&channel->ticket, pct_family_slot(), __ATOMIC_SEQ_CST);
    uint32_t i = __atomic_fetch_add(&channel->processes, 1, __ATOMIC_SEQ_CST);
    pct_script_watch();
    if (i >= PCT_SCRIPT_PROCESSES)
        return;
    pct_family_path_of(ticket, channel->process[i].path);
    __atomic_store_n(&channel->process[i].ticket, ticket, __ATOMIC_SEQ_CST);
}

/* The number of this process, which is not the first; 0: it has none. */
static uint32_t find_number(void)
{
    uint32_t ticket = pct_family_slot(), process;
    return ticket && find_process(ticket, &process) ? process : 0;
}

void pct_script_rests(void)
{
    uint64_t step = pct_steps(&pct_S);
    if (pct_sched_has_script(&pct_S))
        pct_strategy_script_rests(pct_sched_strategy_state(&pct_S), step - pct_sched_picked_at(&pct_S), step);
    else if (pct_sched_strategy_is(&pct_S, &pct_strategy_processes))
        pct_strategy_processes_rests(pct_sched_strategy_state(&pct_S), step);
}

bool pct_script_returned(const struct pct_thread *thread)
{
    if (pct_sched_has_script(&pct_S))
        pct_strategy_script_returned(pct_sched_strategy_state(&pct_S), thread->id);
    else if (pct_sched_strategy_is(&pct_S, &pct_strategy_schedule))
        return pct_strategy_schedule_returned(pct_sched_strategy_state(&pct_S), thread->id, pct_steps(&pct_S));
    else if (pct_sched_strategy_is(&pct_S, &pct_strategy_processes))
        return pct_strategy_processes_returned(pct_sched_strategy_state(&pct_S), pct_steps(&pct_S));
    return pct_sched_has_script(&pct_S);
}

/* --- Threads that pass no point ----------------------------------------------------------------------------------- */

/* The thread, plus 1, that was seen last: at this step, and when it had had this much CPU time. */
static struct {
    uint32_t thread;
    uint64_t step, from, told;
} busy;

bool pct_script_listens(void)
{
    return channel && pct_sched_has_script(&pct_S) &&
           pct_strategy_script_is_under_way(pct_sched_strategy_state(&pct_S));
}

/* "libz.so.1+0x1c000" */
static void describe(uintptr_t pc, char *where, size_t size)
{
    struct pct_script_said *said = said_by(self.number);
    struct pct_mapping mapping;
    struct pct_text text;
    const bool known = pct_maps_find((const void *)pc, &mapping, said->file, sizeof said->file) && said->file[0];
    const char *slash = known ? strrchr(said->file, '/') : NULL;
    if (!known)
        said->file[0] = '\0';
    said->offset = known ? pc - mapping.from + mapping.offset : pc;
    pct_text_init(&text, where, size);
    for (const char *c = slash ? slash + 1 : said->file; *c && text.length + 20 < size; c++)
        pct_text_add_char(&text, *c);
    pct_text_add(&text, known ? "+0x" : "0x");
    pct_text_add_hex(&text, said->offset, 0);
}

/* Whether what nobody in the schedule does may let others go on, or end a loop. */
static bool may_come(void)
{
    return pct_sched_timers(&pct_S) || pct_sched_outside(&pct_S) || pct_sched_can_outside(&pct_S) ||
           pct_sched_kernel_waits(&pct_S) || (pct_family_relatives() && !pct_family_stuck(false));
}

bool pct_script_keeps(const struct pct_thread *thread, bool waits, uint64_t cpu, uintptr_t pc)
{
    char where[64];
    const uint64_t step = pct_steps(&pct_S);
    if (!pct_script_listens() || !pct_strategy_script_is_alone(pct_sched_strategy_state(&pct_S), thread->id))
        return false;
    /* That it lost the baton meanwhile, or time passed, is no progress. */
    if (busy.thread != thread->id + 1 || step - busy.step > 2 || cpu < busy.from) {
        busy.thread = thread->id + 1;
        busy.from = cpu;
        busy.told = 0;
        pct_family_ask_anew();
    }
    busy.step = step;
    const uint64_t passed = cpu - busy.from, seconds = passed / 1000000000;
    const bool open = may_come();
    const uint64_t most = open ? LONG_RUNS * pct_sched_run_ns(&pct_S) : waits ? SURE_NS : pct_sched_run_ns(&pct_S);
    struct pct_script_spin spin = { .thread = thread->id,
                                    .loops = waits,
                                    .ends = passed >= most,
                                    .stays = !pct_sched_may_take(&pct_S, thread, PCT_ARG_SPINS),
                                    .open = open,
                                    .seconds = seconds,
                                    .where = where };
    if (spin.ends || (passed >= TELL_NS && seconds > busy.told)) {
        busy.told = seconds;
        describe(pc, where, sizeof where);
        pct_strategy_script_spins(pct_sched_strategy_state(&pct_S), step, &spin);
    }
    if (spin.ends)
        pct_family_end_turns(); /* others have waited for long, and it may wait for them */
    return !spin.ends && !open;
}

bool pct_script_spun(const struct pct_thread *thread)
{
    const struct pct_script_spin spin = { .thread = thread->id, .loops = true, .ends = true };
    return pct_script_listens() && pct_strategy_script_is_alone(pct_sched_strategy_state(&pct_S), thread->id) &&
           pct_strategy_script_spins(pct_sched_strategy_state(&pct_S), pct_steps(&pct_S), &spin);
}

/* --- The beginning ------------------------------------------------------------------------------------------------ */

/* Of libc: where brk() has set the end of the heap. Looked up here, as no other run needs it. */
static const uint64_t *heap_end(void)
{
    static const uint64_t none;
    const struct link_map *libc;
    const Elf64_Sym *symbol = pct_real_symbol("__curbrk", &libc);
    return symbol ? (const uint64_t *)(libc->l_addr + symbol->st_value) : &none;
}

const struct pct_script_engine *pct_script_open(const char *path)
{
    static struct pct_script_host host;
    if (!path || !pct_script_engine_open || (!channel && !(channel = map_channel(path))))
        return NULL;
    if (!program[0])
        PCT_SYS3(SYS_readlink, "/proc/self/exe", program, sizeof program - 1);
    bool first = !__atomic_fetch_add(&channel->began, 1, __ATOMIC_SEQ_CST);
    self.number = first ? 0 : find_number();
    if (!first && !self.number)
        return NULL;
    if (first)
        memcpy(channel->program, program, sizeof program);
    struct pct_channel *log = pct_script_log(channel);
    if (log && !log->began++)
        pct_log_start(&pct_S, log);
    const char *slash = strrchr(program, '/');
    self.program = slash ? slash + 1 : program;
    pct_family_path(&self.image);
    self.image++;
    self.same = !strcmp(program, channel->program);
    host = (struct pct_script_host){ .look = look,
                                     .pending = pending,
                                     .renamed = &pct_shim.renamed,
                                     .numbered = &pct_S.objects.numbered,
                                     .heap_end = heap_end(),
                                     .name = name,
                                     .has_left = has_left,
                                     .read = read_bytes,
                                     .await = await_board,
                                     .wake = wake_word,
                                     .record = record,
                                     .record_of = record_of };
    return pct_script_engine_open(&host, channel, &self);
}

bool pct_script_leaves_trace(void)
{
    bool leaves = channel && channel->keeps && self.number && pct_sched_has_script(&pct_S);
    struct pct_script_process *process = leaves ? &channel->process[self.number - 1] : NULL;
    if (!leaves || process->said.outcome == PCT_SCRIPT_NEVER)
        return false;
    process->image = self.image;
    __atomic_store_n(&process->pid, (uint32_t)PCT_SYS0(SYS_getpid), __ATOMIC_RELEASE);
    return true;
}

const char *pct_script_ended(uint64_t steps, uint64_t hash, bool first, bool well)
{
    uint64_t last;
    uint32_t low;
    if (pct_sched_has_script(&pct_S) && self.number &&
        channel->process[self.number - 1].said.outcome != PCT_SCRIPT_NEVER)
        record(PCT_SCRIPT_SWITCH_END, (uint32_t)hash, steps);
    if (channel && pct_family_lost_turns())
        __atomic_store_n(&channel->lost_turns, 1, __ATOMIC_SEQ_CST);
    if (!pct_sched_strategy_is(&pct_S, &pct_strategy_processes))
        return NULL;
    struct pct_family_board *board = pct_family_board();
    bool other = !first && pct_strategy_processes_end(pct_sched_strategy_state(&pct_S), &last, &low) &&
                 (last != steps || low != (uint32_t)hash);
    if (other && well)
        return "at its end: it took other steps than under the script";
    if (other)
        __atomic_store_n(&board->strayed, 1, __ATOMIC_SEQ_CST);
    bool strayed = __atomic_load_n(&board->strayed, __ATOMIC_SEQ_CST),
         missing = __atomic_load_n(&board->begun, __ATOMIC_SEQ_CST) <
                   pct_strategy_processes_parts(pct_sched_strategy_state(&pct_S));
    /* Only the last one knows that no more will come. */
    if (!well || (!strayed && !missing) || !pct_family_is_last())
        return NULL;
    return missing ? "at its end: a process, or a program that one became, that the script had lines for never began"
                   : "at its end: another process failed otherwise than under the script";
}

/* --- Several processes, without a script -------------------------------------------------------------------------- */

static void tell_board(struct pct_family_board *board)
{
    __atomic_fetch_add(&board->posted, 1, __ATOMIC_SEQ_CST);
    wake_word(&board->posted);
}

static void post(uint32_t name)
{
    struct pct_family_board *board = pct_family_board();
    if (name < PCT_BOARD_POSTS)
        __atomic_store_n(&board->there[name], 1, __ATOMIC_SEQ_CST);
    else
        __atomic_store_n(&board->deadlocked, 1, __ATOMIC_SEQ_CST);
    tell_board(board);
}

static void begin_part(void)
{
    __atomic_fetch_add(&pct_family_board()->begun, 1, __ATOMIC_SEQ_CST);
}

static void await_post(uint32_t name)
{
    struct pct_family_board *board = pct_family_board();
    for (;;) {
        uint32_t posted = __atomic_load_n(&board->posted, __ATOMIC_SEQ_CST);
        if (name < PCT_BOARD_POSTS && __atomic_load_n(&board->there[name], __ATOMIC_SEQ_CST))
            return;
        if (__atomic_load_n(&board->deadlocked, __ATOMIC_SEQ_CST) ||
            await_word(&board->posted, posted, NULL, NULL) == PCT_SCRIPT_AWAIT_VAIN)
            break;
    }
    if (!__atomic_exchange_n(&board->deadlocked, 1, __ATOMIC_SEQ_CST))
        tell_board(board);
}

const struct pct_board *pct_script_board(void)
{
    static struct pct_board board = { .post = post, .await = await_post, .begin = begin_part };
    board.path = pct_family_path(&board.image);
    return &board;
}
