/* libpct-demon.so: the thread that `pct demon` adds to a program, and the states that it records. Loaded beside
 * libpct.so where --demon names a plan (common/demon.h), in those runs alone.
 *
 * The demon thread is an ordinary thread of the run, made before main() begins: thread 1. It waits until the test is
 * entered, then makes the calls of the plan, and ends. A direct one does not wait: it takes the steps of the program
 * that --emit-test writes (demon/emit.c). Thread 2, the helper, is there where the test waits for others: it makes the
 * calls that let it go on, when no other thread can run. Who runs when is the strategy's to say, as of all threads.
 *
 * Points are recorded by the first thread of the program, each time that it enters one of the functions in
 * or after the test, with the baton (preload/patch/patch_entry.c calls pct_demon_enter()); and by the demon thread
 * where it enters its actions, and behind them. Memory is read by the kernel: a bad pointer in the program is no fault
 * of ours. */
#include "discover.h"
#include "reach.h"
#include <common/demon.h>
#include <preload/core/sys.h>
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

/* What a function may use below its stack pointer. */
enum { RED_ZONE = 128 };

/* A thread of ours. */
struct actor {
    long tid;
    uint32_t first, count; /* its actions */
    uint32_t call;         /* it is about to enter this one; 0: it has; both as in struct pct_demon_point */
    uint32_t base;         /* added to their numbers */
};

static struct {
    struct pct_demon_plan *plan; /* NULL: this process has none */
    uint64_t threads[2];         /* pct_demon_enter() */
    uint64_t bias;               /* what the loader has moved the program by */
    uint64_t test[PCT_DEMON_ARGUMENTS];
    uint64_t stack;                      /* the stack pointer where the test was entered, and */
    uint64_t last;                       /* where the first thread was at a point, last */
    uint32_t caller;                     /* who the point that is recorded is of: as in its own */
    long pid;                            /* and so the id of its first thread */
    uint32_t times[PCT_DEMON_FUNCTIONS]; /* that the first thread has entered each */
    struct actor demon, helper;
    sem_t entered;
} demon;

bool pct_demon_read(uint64_t from, void *to, size_t size)
{
    struct iovec ours = { .iov_base = to, .iov_len = size };
    struct iovec theirs = { .iov_base = (void *)(uintptr_t)from, .iov_len = size };
    return PCT_SYS6(SYS_process_vm_readv, demon.pid, &ours, 1, &theirs, 1, 0) == (long)size;
}

static uint64_t find_root(const struct pct_demon_place *place, const uint64_t *call)
{
    uint64_t pointer = 0;
    switch (place->root) {
    case PCT_DEMON_TEST_ARGUMENT:
        return demon.test[place->number % PCT_DEMON_ARGUMENTS];
    case PCT_DEMON_CALL_ARGUMENT:
        return call ? call[place->number % PCT_DEMON_ARGUMENTS] : 0;
    case PCT_DEMON_GHOST:
        return 0;
    case PCT_DEMON_GLOBAL:
        return place->address + demon.bias;
    default:
        return pct_demon_read(place->address + demon.bias, &pointer, sizeof pointer) ? pointer : 0;
    }
}

uint64_t pct_demon_find(const struct pct_demon_place *place, const uint64_t *call)
{
    uint64_t at = find_root(place, call);
    for (uint32_t i = 0; at && i <= place->steps && i <= PCT_DEMON_STEPS; i++) {
        if (i && !pct_demon_read(at + place->step[i - 1], &at, sizeof at))
            at = 0;
        const bool said = !i && place->root == PCT_DEMON_CALL_ARGUMENT && !demon.caller; /* by the program */
        if (at && !said && place->container[i] && !pct_demon_is_element(&demon.plan->map, at, place->container[i]))
            at = 0;
    }
    return at ? at + place->offset : 0;
}

/* GLIBC: the lock word and the owner of a mutex are its first and its third. */
static unsigned is_held(uint64_t mutex)
{
    int words[3] = { 0 };
    if (!pct_demon_read(mutex, words, sizeof words) || !words[0])
        return 0;
    return (words[2] == (int)demon.pid ? PCT_DEMON_BY_TEST : 0) |
           (words[2] == (int)PCT_SYS0(SYS_gettid) ? PCT_DEMON_BY_CALLER : 0);
}

static void read_cell(const struct pct_demon_cell *cell, const uint64_t *call, uint64_t stack,
                      struct pct_demon_value *value)
{
    uint64_t object = pct_demon_find(&cell->place, call);
    if (!object)
        return;
    value->address = object + cell->offset;
    value->own = stack && value->address >= stack && value->address < demon.stack;
    if (cell->lock == PCT_DEMON_PRESENCE)
        return;
    if (!cell->lock) {
        value->known = pct_demon_read(value->address, &value->value, cell->size <= 8 ? cell->size : 8);
        return;
    }
    uint64_t mutex = value->address;
    value->known = cell->lock == 1 || pct_demon_read(mutex, &mutex, sizeof mutex);
    value->value = value->known ? is_held(mutex) : 0;
}

/* Where memory that is not the test's own leads into its frames, these are not private. */
static void look_for_escapes(struct pct_demon_point *point, uint64_t stack)
{
    bool any = false;
    for (uint32_t i = 0; i < demon.plan->cells; i++)
        any |= point->cells[i].own;
    if (!any || !pct_demon_reaches(stack, demon.stack, (uint64_t)(uintptr_t)demon.plan, demon.threads))
        return;
    for (uint32_t i = 0; i < demon.plan->cells; i++)
        point->cells[i].own = 0;
}

/* stack: that of the thread, where the call is; 0: no frames of the test are on it. */
static void record(uint32_t function, uint32_t caller, const uint64_t *arguments, uint64_t stack)
{
    struct pct_demon_plan *plan = demon.plan;
    demon.caller = caller;
    if (caller)
        pct_demon_forget();
    if (plan->points < plan->room) {
        struct pct_demon_point *point = &plan->point[plan->points];
        point->function = function;
        point->entry = plan->seen;
        point->caller = caller;
        point->times = demon.times[function];
        memcpy(point->arguments, arguments, sizeof point->arguments);
        for (uint32_t i = 0; i < plan->cells; i++)
            if (plan->cell[i].function == UINT32_MAX || plan->cell[i].function == function)
                read_cell(&plan->cell[i], arguments, stack, &point->cells[i]);
        look_for_escapes(point, stack);
    }
    plan->points++;
}

__attribute__((visibility("default"))) void pct_demon_enter(uint64_t address,
                                                            const uint64_t arguments[PCT_DEMON_ARGUMENTS],
                                                            uint64_t stack, bool passed, const uint64_t threads[2])
{
    struct pct_demon_plan *plan = demon.plan;
    const long thread = plan ? PCT_SYS0(SYS_gettid) : 0;
    struct actor *actor = thread == demon.demon.tid ? &demon.demon : thread == demon.helper.tid ? &demon.helper : NULL;
    if (!plan || (thread != demon.pid && !actor))
        return;
    memcpy(demon.threads, threads, sizeof demon.threads);
    plan->seen += !actor && !passed; /* of those of the same name, too: the trace has them */
    uint32_t function = 0;
    while (function < plan->functions && plan->function[function] + demon.bias != address)
        function++;
    if (function == plan->functions)
        return;
    if (actor) {
        if (passed && actor->call &&
            plan->action[pct_demon_action_of(plan, actor->call)].function + demon.bias == address) {
            record(function, actor->call, arguments, 0);
            actor->call = 0;
        }
        return;
    }
    if (passed) {
        bool line = plan->lines >> function & 1;
        demon.last = stack;
        if (plan->entered != 1)
            return;
        if (plan->points < plan->room)
            pct_demon_discover(&plan->map);
        record(function, 0, line ? demon.test : arguments, line ? stack - RED_ZONE : stack);
        return;
    }
    demon.times[function]++;
    pct_demon_entered(function, arguments);
    if (!function && !plan->entered++) {
        memcpy(demon.test, arguments, sizeof demon.test);
        demon.stack = stack;
    }
    bool due = plan->at ? plan->seen == plan->at : !function && plan->entered == 1;
    due |= plan->again && plan->seen == plan->again;
    if (due && !plan->direct)
        sem_post(&demon.entered);
}

static void act(const struct pct_demon_action *action)
{
    uint64_t a[PCT_DEMON_ARGUMENTS] = { 0 };
    uint64_t at = action->function + demon.bias;
    pct_demon_forget();
    void (*function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
    for (uint32_t i = 0; i < action->arguments && i < PCT_DEMON_ARGUMENTS; i++)
        a[i] =
            action->argument[i].scalar ? action->argument[i].value : pct_demon_find(&action->argument[i].place, NULL);
    memcpy(&function, &at, sizeof function);
    function(a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* And record what is behind them. */
static void act_all(struct actor *actor)
{
    uint32_t made = 0;
    while (made < actor->count && actor->first + made < PCT_DEMON_ACTIONS) {
        actor->call = actor->base + made + 1;
        act(&demon.plan->action[actor->first + made++]);
    }
    if (made)
        record(0, actor->base + made + 1, demon.test, 0);
}

static void wait_for_entry(void)
{
    while (!demon.plan->direct && sem_wait(&demon.entered))
        continue;
}

static void *be_the_demon(void *unused)
{
    struct pct_demon_plan *plan = demon.plan;
    const uint32_t first = plan->actions - plan->second;
    demon.demon = (struct actor){ .tid = PCT_SYS0(SYS_gettid), .count = first };
    wait_for_entry();
    if (plan->probes) {
        record(0, 1, demon.test, demon.last);
        abort();
    }
    plan->begun = 1;
    act_all(&demon.demon);
    if (plan->second && !plan->apart) {
        demon.demon.first = first;
        demon.demon.count = plan->second;
        demon.demon.base = first + 1;
        sem_post(&demon.entered); /* for demon/run.c, which looks for this in the trace */
        wait_for_entry();
        wait_for_entry();
        act_all(&demon.demon);
    }
    plan->ended = 1;
    return unused;
}

/* Of a direct plan. */
static void *be_the_later(void *unused)
{
    static struct actor later;
    later = (struct actor){ .first = demon.plan->actions - demon.plan->second, .count = demon.plan->second };
    act_all(&later);
    return unused;
}

/* By the default order of `schedule` a thread without a switch to it runs when no one before it can. */
static void *be_the_helper(void *unused)
{
    demon.helper = (struct actor){
        .tid = PCT_SYS0(SYS_gettid), .first = demon.plan->actions, .count = demon.plan->helps, .base = PCT_DEMON_HELPS
    };
    act_all(&demon.helper);
    return unused;
}

static bool begin_thread(void *(*run)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL))
        return false;
    pthread_detach(thread);
    return true;
}

static const char *find_variable(char **environment)
{
    static const char name[] = "PCT_DEMON=";
    for (; *environment; environment++)
        if (!memcmp(*environment, name, sizeof name - 1))
            return *environment + sizeof name - 1;
    return NULL;
}

/* The auxiliary vector stands behind the environment. */
static uint64_t find_entry(char **environment)
{
    while (*environment)
        environment++;
    const Elf64_auxv_t *at = (const void *)(environment + 1);
    while (at->a_type != AT_NULL && at->a_type != AT_ENTRY)
        at++;
    return at->a_type == AT_ENTRY ? at->a_un.a_val : 0;
}

static struct pct_demon_plan *open_plan(const char *path)
{
    struct stat status = { .st_size = 0 };
    long file = PCT_SYS3(SYS_open, path, O_RDWR | O_CLOEXEC, 0), at = -1;
    bool shared = file >= 0;
    if (!shared)
        file = PCT_SYS3(SYS_open, path, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0)
        return NULL;
    if (!PCT_SYS2(SYS_fstat, file, &status) && (size_t)status.st_size >= sizeof *demon.plan) {
        /* One without points is kept, and many runs may use it at once. */
        shared = shared && (size_t)status.st_size > sizeof *demon.plan;
        at = PCT_SYS6(SYS_mmap, NULL, status.st_size, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE, file,
                      0);
    }
    PCT_SYS1(SYS_close, file);
    struct pct_demon_plan *plan = at < 0 && at > -4096 ? NULL : (void *)at;
    size_t room = plan ? ((size_t)status.st_size - sizeof *plan) / sizeof plan->point[0] : 0;
    bool fine = plan && !memcmp(plan->magic, PCT_DEMON_MAGIC, sizeof plan->magic) && plan->room <= room &&
                plan->functions && plan->functions <= PCT_DEMON_FUNCTIONS && plan->cells <= PCT_DEMON_CELLS &&
                plan->actions + (uint64_t)plan->helps <= PCT_DEMON_ACTIONS && plan->second <= plan->actions &&
                !plan->entered;
    return fine ? plan : NULL;
}

/* Whether this is the program that the plan was made for: a run may start others, which have the same environment. */
static bool is_the_program(const struct pct_demon_plan *plan)
{
    enum { PAGE = 4096 };
    uint8_t code[PCT_DEMON_CODE];
    const size_t size = plan->uncoded < sizeof code ? sizeof code - plan->uncoded : 0;
    return size && demon.bias % PAGE == 0 && pct_demon_read(plan->function[0] + demon.bias, code, size) &&
           !memcmp(code, plan->code, size);
}

__attribute__((constructor)) static void begin(int count, char **arguments, char **environment)
{
    (void)count;
    (void)arguments;
    const char *path = find_variable(environment);
    struct pct_demon_plan *plan = path ? open_plan(path) : NULL;
    if (!plan)
        return;
    demon.pid = PCT_SYS0(SYS_getpid);
    demon.bias = find_entry(environment) - plan->entry;
    if (!is_the_program(plan) || (!plan->direct && sem_init(&demon.entered, 0, 0)))
        return;
    demon.plan = plan;
    plan->bias = demon.bias;
    /* Of those that do not wait, the first one runs where no other can. */
    const bool helps_first = plan->direct && plan->helps;
    if ((helps_first && !begin_thread(be_the_helper)) || !begin_thread(be_the_demon) ||
        (plan->apart && !begin_thread(be_the_later)) || (!helps_first && plan->helps && !begin_thread(be_the_helper)))
        demon.plan = NULL;
}
