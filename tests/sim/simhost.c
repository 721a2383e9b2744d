/* The simulated host: stacks for the simulated threads, the driver that runs them, the clock and the world outside. See
 * simhost.h.
 *
 * The baton passes as in the real engine, by go(from, to): here it is a switch of stacks, and who waits outside runs on
 * without the baton until its wait begins. The driver, on the real thread's own stack, gets control when nobody can run
 * but by the passing of real time, when somebody comes back from outside, and at the end. */
#include "simhost.h"
#include <strategies/strategies.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_ASAN 1
#endif
#endif

#ifdef SIM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
enum { STACK_SIZE = 256 << 10 };
#else
enum { STACK_SIZE = 32 << 10 };
#endif

struct sim sim;

/* The driver's stack. */
static void *driver_pointer;
#ifdef SIM_ASAN
static void *driver_fake;
/* Of each stack: where its variables are that the sanitizer moves elsewhere, to see a use after return (gcc 13 does by
 * itself). A run that ends leaves its stacks in the middle of functions, so the next one on this stack goes on with
 * what is there; a fresh one for each thread of each run would use up all memory. */
static void *fakes[SIM_THREADS];
static const void *driver_bottom;
static size_t driver_size;
#endif

/* --- Stacks ------------------------------------------------------------------------------------------------------- */

/* Store the stack pointer, with the registers that the ABI preserves above it, and continue where `to` was stored. */
void sim_switch(void **from, void *to);
__asm__(".text\n"
        ".type sim_switch,@function\n"
        "sim_switch:\n\t"
        "pushq %rbp\n\t"
        "pushq %rbx\n\t"
        "pushq %r12\n\t"
        "pushq %r13\n\t"
        "pushq %r14\n\t"
        "pushq %r15\n\t"
        "movq %rsp, (%rdi)\n\t"
        "movq %rsi, %rsp\n\t"
        "popq %r15\n\t"
        "popq %r14\n\t"
        "popq %r13\n\t"
        "popq %r12\n\t"
        "popq %rbx\n\t"
        "popq %rbp\n\t"
        "ret\n"
        ".size sim_switch, .-sim_switch\n");

/* On a new stack, or back on an old one. */
static void on_stack(void)
{
#ifdef SIM_ASAN
    struct sim_thread *t = sim.running;
    __sanitizer_finish_switch_fiber(t ? fakes[t - sim.thread] : driver_fake, driver_bottom ? NULL : &driver_bottom,
                                    driver_size ? NULL : &driver_size);
#endif
}

static void entry(void)
{
    on_stack();
#ifdef SIM_ASAN
    __asan_handle_no_return(); /* the variables of the run before are gone */
#endif
    sim_live(sim.running);
}

static void prepare(struct sim_thread *t)
{
    uint32_t id = (uint32_t)(t - sim.thread);
    static char *stacks[SIM_THREADS]; /* kept from run to run */
    if (!stacks[id])
        stacks[id] = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stacks[id] == MAP_FAILED)
        __builtin_trap();
#ifdef SIM_ASAN
    /* The run before may have ended in the middle of functions that stood here. */
    __asan_unpoison_memory_region(stacks[id], STACK_SIZE);
#endif
    t->stack = stacks[id];
    /* As after a call of entry(): a return address that is never used, then what sim_switch() pops. */
    void **top = (void **)(stacks[id] + STACK_SIZE);
    top[-1] = NULL;
    top[-2] = (void *)entry;
    memset(top - 8, 0, 6 * sizeof *top);
    t->stack_pointer = top - 8;
}

/* Go from the running stack to another; NULL is the driver's. Returns when somebody comes back to this one. */
static void run(struct sim_thread *next)
{
    struct sim_thread *self = sim.running;
    if (next && !next->stack_pointer)
        prepare(next);
    sim.running = next;
    void *to = next ? next->stack_pointer : driver_pointer;
#ifdef SIM_ASAN
    __sanitizer_start_switch_fiber(self ? &fakes[self - sim.thread] : &driver_fake, next ? next->stack : driver_bottom,
                                   next ? (size_t)STACK_SIZE : driver_size);
#endif
    sim_switch(self ? &self->stack_pointer : &driver_pointer, to);
    on_stack();
}

void sim_to_driver(void)
{
    run(NULL);
}

void sim_stop(enum pct_verdict verdict, const char *message)
{
    sim.done = true;
    sim.result->verdict = verdict;
    if (message) {
        size_t length = strnlen(message, sizeof sim.result->message - 1);
        memcpy(sim.result->message, message, length);
    }
    sim_to_driver();
    __builtin_trap();
}

void sim_check(bool holds, const char *otherwise)
{
    if (!holds && !sim.result->broken)
        sim.result->broken = otherwise;
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */

enum { ARENA = 64 << 20, BLOCKS = 64 };
static char *arena;
static size_t arena_used;
static struct block {
    char *at;
    size_t size;
} blocks[BLOCKS]; /* of the run before */
static uint32_t blocks_used;

/* All memory of the run before is to be zero again. The kernel would give fresh pages, but faults cost more than
 * writing zeros; only the tables of which a run uses but the beginning are not written whole. */
static void clear_memory(void)
{
    for (uint32_t i = 0; i < blocks_used; i++) {
        size_t size = blocks[i].size, steps = pct_steps(&sim.sched);
        if (blocks[i].at == (char *)sim.sched.timers)
            size = SIM_THREADS * sizeof *sim.sched.timers;
        else if (blocks[i].at == (char *)sim.sched.nearing)
            size = SIM_THREADS * sizeof *sim.sched.nearing;
        else if (blocks[i].at == (char *)sim.sched.records && steps * sizeof *sim.sched.records < size)
            size = steps * sizeof *sim.sched.records;
        memset(blocks[i].at, 0, size);
    }
    arena_used = blocks_used = 0;
}

static void *map(size_t size)
{
    if (!arena) {
        arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (arena == MAP_FAILED)
            __builtin_trap();
    }
    size = (size + 63) & ~(size_t)63;
    if (blocks_used == BLOCKS || size > ARENA - arena_used)
        return NULL;
    blocks[blocks_used++] = (struct block){ arena + arena_used, size };
    arena_used += size;
    return arena + arena_used - size;
}

static bool populate(void *at, size_t size)
{
    (void)at;
    if (!sim.options->populate)
        return true;
    if (size > sim.populate_left)
        return false;
    sim.populate_left -= size;
    return true;
}

/* --- The world outside -------------------------------------------------------------------------------------------- */

/* What the world does by now. */
static void happen(void)
{
    for (; sim.events_done < SIM_EVENTS; sim.events_done++) {
        const struct sim_event *event = &sim.program->event[sim.events_done];
        if (!event->at || event->at > sim.real_ns)
            break;
        sim.outsiders--;
        if (event->post)
            sim.sem[event->sem]++;
        if (event->attention)
            pct_sched_attention(&sim.sched);
    }
}

static bool is_back(const struct sim_thread *t)
{
    return t->away && (t->away_until <= sim.real_ns || (t->away_sem >= 0 && sim.sem[t->away_sem]));
}

/* When anything happens next if nobody runs; PCT_NEVER. */
static uint64_t next_happening(void)
{
    uint64_t when = PCT_NEVER;
    if (sim.events_done < SIM_EVENTS && sim.program->event[sim.events_done].at)
        when = sim.program->event[sim.events_done].at;
    for (uint32_t id = 0; id < sim.sched.threads; id++)
        if (sim.thread[id].away && sim.thread[id].away_until < when)
            when = sim.thread[id].away_until;
    return when;
}

/* Whether a thread without the baton has something to do. */
static bool somebody_outside(void)
{
    for (uint32_t id = 0; id < sim.sched.threads; id++)
        if (sim.thread[id].released || is_back(&sim.thread[id]))
            return true;
    return false;
}

void sim_pass_time(void)
{
    sim.real_ns += PCT_STEP_NS;
    if (!sim.outsiders)
        return;
    happen();
    if (somebody_outside())
        sim_to_driver();
}

void sim_stay_away(struct sim_thread *self, uint64_t until, int sem)
{
    self->away = true;
    self->away_until = until;
    self->away_sem = sem;
    sim.outsiders++;
    sim_to_driver();
}

/* --- The host's functions ----------------------------------------------------------------------------------------- */

static struct sim_thread *of(struct pct_thread *thread)
{
    return (struct sim_thread *)thread;
}

static void go(struct pct_thread *from, struct pct_thread *to)
{
    sim_check(of(from) == sim.running, "go() from a thread that does not run");
    sim_check(from != to, "go() from a thread to itself");
    /* One that waits may get the baton to keep it until a deadline, or until something comes. */
    bool keeper = (pct_state(to) == PCT_STATE_BLOCKED || to->early) &&
                  (!pct_readiness_now(&sim.sched) || pct_is_replay(&sim.sched)) &&
                  ((sim.sched.timers_count && (sim.sched.outside || sim.program->relative)) ||
                   sim.sched.kernel_outside || sim.sched.can_attention);
    sim_check((pct_state(to) == PCT_STATE_ENABLED && !to->early) || keeper, "go() to a thread that is not enabled");
    sim_check(of(to)->parked || !of(to)->stack_pointer, "go() to a thread that is not parked");
    sim.baton = of(to);
    if (from->state == PCT_STATE_OUTSIDE)
        return;
    of(from)->parked = true;
    run(of(to));
    of(from)->parked = false;
}

static void release(struct pct_thread *thread)
{
    sim_check(of(thread)->parked, "release() of a thread that is not parked");
    if (!of(thread)->parked)
        return;
    if (!sim.running) { /* by pct_sched_tend() */
        sim.baton = of(thread);
        return;
    }
    of(thread)->released = true;
    sim.outsiders++;
}

static void park(struct pct_thread *from)
{
    sim_check(of(from) == sim.running, "park() of a thread that does not run");
    of(from)->parked = true;
    sim_to_driver();
    of(from)->parked = false;
}

static uint64_t now(void)
{
    return sim.real_ns;
}

/* Whether the scheduler does not know yet that this thread can go on. */
static bool is_news(const struct pct_thread *kernel_waits)
{
    for (; kernel_waits; kernel_waits = kernel_waits->kernel_next)
        if ((pct_state(kernel_waits) != PCT_STATE_ENABLED || kernel_waits->early) &&
            kernel_waits->wait.ready(kernel_waits))
            return true;
    return false;
}

static void poll_until(uint64_t when, const uint32_t *word, uint32_t value, struct pct_thread *kernel_waits)
{
    uint64_t began = sim.real_ns;
    happen();
    while (*(const volatile uint32_t *)word == value && sim.real_ns < when && !is_news(kernel_waits)) {
        if (somebody_outside()) {
            sim_to_driver();
            continue;
        }
        uint64_t next = next_happening();
        if (next == PCT_NEVER && when == PCT_NEVER)
            sim_stop(PCT_VERDICT_RUNNING, "the host sleeps for ever");
        sim.real_ns = next < when ? next : when;
        happen();
    }
    sim.idle_sleeps = sim.real_ns == began ? sim.idle_sleeps + 1 : 0;
    if (sim.idle_sleeps > 1000)
        sim_stop(PCT_VERDICT_RUNNING, "the scheduler asks for a sleep again and again, and none takes time");
}

static void sleep_until(uint64_t when, const uint32_t *word, uint32_t value)
{
    poll_until(when, word, value, NULL);
}

static uint64_t strangers(uint64_t until, bool lately)
{
    (void)until;
    (void)lately;
    return sim.real_ns < sim.program->stranger ? sim.program->asleep : PCT_NEVER;
}

static bool has_relatives(void)
{
    return sim.program->relative;
}

static bool still(void)
{
    return sim.real_ns >= sim.program->relative;
}

static bool idle(uint64_t virtual_now, uint64_t deadline, bool world, uint64_t *again)
{
    (void)virtual_now;
    (void)world;
    *again = sim.program->relative > sim.real_ns ? sim.program->relative : PCT_NEVER;
    return deadline != PCT_NEVER && sim.real_ns >= sim.program->relative;
}

/* The relative makes no steps: its clock stands. */
static uint64_t busy(uint64_t virtual_now)
{
    (void)virtual_now;
    return 0;
}

/* Where a thread is in its program: the operation that it makes, by its address. */
static uint64_t site(const struct pct_thread *thread)
{
    return (uintptr_t)(((const struct sim_thread *)thread)->at - 1);
}

static uint32_t place(uint64_t call)
{
    return (uint32_t)call;
}

static struct pct_host host = {
    .arrives = sim_arrives,
    .relatives = has_relatives,
    .still = still,
    .idle = idle,
    .busy = busy,
    .map = map,
    .go = go,
    .release = release,
    .park = park,
    .now = now,
    .sleep = sleep_until,
    .poll = poll_until,
    .populate = populate,
    .holder = sim_holder,
    .end = sim_stop,
};

static struct pct_thread *thread_at(uint32_t id)
{
    return &sim.thread[id].core;
}

/* --- The driver --------------------------------------------------------------------------------------------------- */

void sim_finished(void)
{
    /* Where the baton is idle the scheduler knows; else there is no thread left. A thread that finished with go() is
     * never seen here again. */
    if (!sim.sched.idle)
        sim.baton = NULL;
    sim_to_driver();
    __builtin_trap();
}

static struct sim_thread *without_baton(void)
{
    for (uint32_t id = 0; sim.outsiders && id < sim.sched.threads; id++) {
        struct sim_thread *t = &sim.thread[id];
        if (!t->released && !is_back(t))
            continue;
        sim.outsiders--;
        t->released = t->away = false;
        return t;
    }
    return NULL;
}

/* Nobody has the baton: when, in real time, the first timer is due. */
static uint64_t timer_due(void)
{
    const struct pct_sched *s = &sim.sched;
    return s->idle_deadline == PCT_NEVER ? PCT_NEVER : s->idle_real + (s->idle_deadline - s->idle_virtual);
}

static void drive(void)
{
    sim.baton = &sim.thread[0];
    while (!sim.done) {
        struct sim_thread *next = without_baton();
        if (!next && !sim.sched.idle)
            next = sim.baton;
        if (next) {
            run(next);
            continue;
        }
        uint64_t when = next_happening(), due = timer_due();
        if (!sim.sched.live) {
            sim.result->verdict = PCT_VERDICT_EXIT;
            return;
        }
        if (when == PCT_NEVER && due == PCT_NEVER) {
            strcpy(sim.result->message, "everybody waits for the outside world for ever");
            return;
        }
        when = when < due ? when : due;
        if (sim.real_ns < when)
            sim.real_ns = when;
        happen();
        pct_sched_tend(&sim.sched);
    }
}

static bool begin(void)
{
    struct pct_sched *s = &sim.sched;
    const char *why = "out of memory";
    host.strangers = sim.program->stranger ? strangers : NULL;
    s->host = &host;
    s->thread_at = thread_at;
    s->strategy = sim.options->replay ? &pct_strategy_replay : sim.options->strategy;
    s->run = sim.options->run;
    s->run.records = sim.options->replay;
    s->run.records_count = sim.options->replay_count;
    s->run.threads = SIM_THREADS;
    s->run.objects = SIM_OBJECTS;
    s->max_steps = sim.options->max_steps;
    s->end = sim.options->end;
    s->step_ns = sim.options->real_time ? 0 : PCT_STEP_NS;
    s->run_ns = SIM_RUN_NS;
    s->slack = sim.options->replay ? 0 : sim.options->slack;
    host.site = s->strategy->places ? site : NULL;
    host.place = place;
    struct pct_channel *channel = sim.options->channel;
    s->log = s->objects.log = channel;
    s->explored = channel != NULL;
    s->still = channel != NULL;
    s->run.plan = channel ? channel->plan : NULL;
    s->run.plan_count = channel ? channel->plan_count : 0;
    s->slack_coins = sim.options->slack_coins;
    s->foreign = sim.program->foreign;
    sim.populate_left = sim.options->populate;
    if (pct_record_start(s, &sim.header, sim.options->records, sim.options->max) || pct_sched_start(s, &why)) {
        sim.result->verdict = PCT_VERDICT_INTERNAL;
        strncpy(sim.result->message, why, sizeof sim.result->message - 1);
        return false;
    }
    memcpy(sim.var, sim.program->var, sizeof sim.var);
    memcpy(sim.sem, sim.program->sem, sizeof sim.sem);
    while (sim.outsiders < SIM_EVENTS && sim.program->event[sim.outsiders].at)
        sim.outsiders++;
    sim.thread[0].at = sim.program->thread[0];
    pct_sched_create(s, &sim.thread[0].core);
    pct_sched_begin(s, &sim.thread[0].core);
    return true;
}

struct sim_options sim_defaults(const struct pct_strategy *strategy)
{
    struct sim_options options = { .strategy = strategy };
    for (uint32_t i = 0; strategy->params && strategy->params[i].name; i++)
        options.run.param[i] = strategy->params[i].default_value;
    return options;
}

void sim_set(struct sim_options *options, const char *param, uint64_t value)
{
    const struct pct_param *params = options->strategy->params;
    for (uint32_t i = 0; params && params[i].name; i++)
        if (!strcmp(params[i].name, param))
            options->run.param[i] = value;
}

void sim_run(const struct sim_program *program, const struct sim_options *options, struct sim_result *result)
{
    clear_memory();
    /* Threads beyond those of the run before are zero already. */
    size_t used = sim.sched.threads;
    memset(sim.thread, 0, used * sizeof *sim.thread);
    memset(&sim, 0, offsetof(struct sim, thread));
    memset((char *)&sim + offsetof(struct sim, running), 0, sizeof sim - offsetof(struct sim, running));
    *result = (struct sim_result){ .culprit = PCT_NO_THREAD };
    sim.program = program;
    sim.options = options;
    sim.result = result;
    if (!begin())
        return;
    drive();
    pct_record_finish(&sim.sched);
    sim_check(sim.header.objects <= SIM_OBJECTS, "there are more objects than the strategy was told");
    result->steps = sim.header.steps;
    result->hash = sim.header.hash;
    result->switches = sim.header.switches;
    result->preemptions = sim.header.preemptions;
    result->virtual_ns = sim.header.virtual_ns;
    result->real_ns = sim.real_ns;
    result->recorded = sim.header.recorded;
    result->outside = sim.header.uncontrolled[PCT_UNCONTROLLED_OUTSIDE];
    result->threads = sim.header.threads;
    result->max_enabled = sim.header.max_enabled;
    result->deadlines = sim.sched.deadlines;
    result->fixed_deadlines = sim.sched.fixed_deadlines;
    memcpy(result->var, sim.var, sizeof result->var);
}
