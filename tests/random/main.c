/* Draws a random correct program from a seed, and runs it.
 *     random-c [--print] [--closed] [--only EVENT,...] [--expect RESULT] SEED
 * It prints what it has computed, the same in each run, and ends with status 0; or says what is wrong, and aborts.
 * --closed draws a program without other processes, and without anything that they could have, too: its runs are a
 * function of the schedule. --only leaves events out, for a smaller program; --print prints the program; --expect
 * says what must come out. */
#include "random.h"
#include <stdarg.h>
#include <sys/mman.h>

#pragma weak cxx_kinds
#pragma weak cxx_locks
#pragma weak cxx_patterns
#pragma weak more_cxx_kinds
#pragma weak more_cxx_locks
#pragma weak more_cxx_patterns

static struct {
    uint64_t seed;
    unsigned threads, events, things, locks, signals, ending;
    bool closed, tree, sleeper, waiter, c11;
    const char *expected;
    bool handlers, abrupt; /* handlers of signals are installed; one of them is without SA_RESTART */
    struct event event[MOST_EVENTS];
    struct lock lock[MOST_EVENTS];
    struct thing *thing; /* in memory that children share */
    void *owner[128];    /* of a number of signal */
} program;

enum { MOST_THINGS = 4096 };

/* --- Failure, chance, time --------------------------------------------------------------------------------------- */

void failed(const char *file, int line, const char *what, long long value)
{
    char text[256];
    int length = snprintf(text, sizeof text, "seed %lu: %s:%d: %.100s fails: %lld\n", (unsigned long)program.seed, file,
                          line, what, value);
    (void)!write(STDERR_FILENO, text, (size_t)length < sizeof text ? (size_t)length : sizeof text);
    abort();
}

bool closed_program(void)
{
    return program.closed;
}

bool interruptions(void)
{
    return program.handlers;
}

bool again_at(const char *file, int line, bool restarts)
{
    if (errno != EINTR)
        return false;
    if (!program.handlers || (restarts && !program.abrupt))
        failed(file, line, "no interruption", EINTR);
    return true;
}

/* splitmix64 */
uint32_t draw(uint64_t *place, uint32_t below)
{
    uint64_t x = *place += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return (uint32_t)((x >> 32) * below >> 32);
}

struct timespec interval_of(int64_t us)
{
    return (struct timespec){ .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };
}

struct timespec deadline_of(clockid_t clock, int64_t us)
{
    struct timespec now;
    CHECK_OK(clock_gettime(clock, &now));
    us += now.tv_nsec / 1000 + 1;
    return (struct timespec){ .tv_sec = now.tv_sec + us / 1000000, .tv_nsec = us % 1000000 * 1000 };
}

int64_t now_us(void)
{
    struct timespec now;
    CHECK_OK(clock_gettime(CLOCK_MONOTONIC, &now));
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

void doze(uint64_t *place)
{
    struct timespec a_moment = interval_of(draw(place, 300));
    switch (draw(place, 6)) {
    case 0:
        sched_yield();
        break;
    case 1:
        while (nanosleep(&a_moment, &a_moment))
            CHECK(again(false));
        break;
    case 2:
        while (clock_nanosleep(CLOCK_MONOTONIC, 0, &a_moment, &a_moment))
            CHECK(program.handlers);
        break;
    }
}

/* --- Things ------------------------------------------------------------------------------------------------------ */

bool wait_thing(struct thing *thing, int64_t limit_us, uint64_t *place)
{
    return thing->kind->wait(thing, limit_us, draw(place, 64));
}

void wake_thing(struct thing *thing, uint64_t *place)
{
    thing->kind->wake(thing, draw(place, 64));
}

static struct thing *new_thing(const struct kind *kind, int signal)
{
    unsigned number = __atomic_fetch_add(&program.things, 1, __ATOMIC_RELAXED);
    CHECK(number < MOST_THINGS);
    struct thing *thing = &program.thing[number];
    thing->kind = kind;
    thing->number = (int)number;
    thing->signal = signal;
    thing->owner = getpid();
    return thing;
}

/* In memory of this process alone. */
struct thing *another_thing(const struct thing *like)
{
    static struct thing thing;
    memset(&thing, 0, sizeof thing);
    thing.kind = like->kind;
    thing.number = like->number;
    thing.signal = like->signal;
    thing.owner = getpid();
    if (thing.signal)
        program.owner[thing.signal] = &thing;
    if (thing.kind->make)
        thing.kind->make(&thing);
    return &thing;
}

void end_thing(struct thing *thing)
{
    if (thing->kind->drop)
        thing->kind->drop(thing);
}

struct event *event_of_signal(int number)
{
    return program.owner[number];
}

struct thing *thing_of_signal(int number)
{
    return program.owner[number];
}

void install(struct event *event, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | (event->abrupt ? 0 : SA_RESTART) };
    if (event->seed & 1)
        sigfillset(&action.sa_mask);
    CHECK_OK(sigaction(event->signal, &action, NULL));
}

void signal_of(const struct event *event, sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, event->signal);
}

void let_in(const struct event *event, int how)
{
    sigset_t set;
    signal_of(event, &set);
    CHECK_OK(pthread_sigmask(how, &set, NULL));
}

pthread_t start_thread(void *(*routine)(void *), void *argument)
{
    pthread_t thread;
    CHECK_OK(pthread_create(&thread, NULL, routine, argument));
    return thread;
}

/* --- Drawing ----------------------------------------------------------------------------------------------------- */

static int new_signal(void *owner)
{
    int number = SIGRTMIN + (int)program.signals++;
    program.owner[number] = owner;
    return number;
}

static bool room_for_signals(unsigned count)
{
    return program.signals + count <= MOST_SIGNALS;
}

static const struct kind *draw_kind(unsigned need, unsigned avoid, uint64_t *place)
{
    static const struct kind *const tables[] = { sync_kinds,    descriptor_kinds, stream_kinds,
                                                 moving_kinds,  watched_kinds,    signal_kinds,
                                                 process_kinds, cxx_kinds,        more_cxx_kinds };
    const struct kind *fit[256];
    unsigned count = 0;
    if (!room_for_signals(2))
        avoid |= SIGNALS;
    if (program.closed)
        avoid |= OUTSIDE;
    for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct kind *kind = tables[i]; kind && kind->name; kind++)
            if ((kind->flags & need) == need && !(kind->flags & avoid))
                fit[count++] = kind;
    CHECK(count > 0);
    return fit[draw(place, count)];
}

static const struct lock_kind *draw_lock_kind(unsigned need, uint64_t *place)
{
    unsigned avoid = program.closed ? BEYOND : 0;
    static const struct lock_kind *const tables[] = { locks, owner_locks, cxx_locks, more_cxx_locks };
    const struct lock_kind *fit[64];
    unsigned count = 0;
    for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct lock_kind *kind = tables[i]; kind && kind->name; kind++)
            if ((kind->flags & need) == need && !(kind->flags & avoid))
                fit[count++] = kind;
    CHECK(count > 0);
    return fit[draw(place, count)];
}

static bool used(const struct pattern *pattern)
{
    for (unsigned i = 0; i < program.events; i++)
        if (program.event[i].pattern == pattern)
            return true;
    return false;
}

static const struct pattern *draw_pattern(uint64_t *place)
{
    static const struct pattern *const tables[] = { wait_patterns,    lock_patterns,       thread_patterns,
                                                    call_patterns,    stream_patterns,     request_patterns,
                                                    signal_patterns,  old_signal_patterns, process_patterns,
                                                    program_patterns, owner_patterns,      leaving_patterns,
                                                    family_patterns,  cxx_patterns,        more_cxx_patterns };
    const struct pattern *fit[256];
    unsigned count = 0;
    for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct pattern *pattern = tables[i]; pattern && pattern->name; pattern++)
            if (pattern->least <= program.threads && (!(pattern->flags & NEEDS_SIGNAL) || room_for_signals(1)) &&
                (!(pattern->flags & ALONE) || !used(pattern)) && (!(pattern->flags & FOREIGN) || !program.closed))
                fit[count++] = pattern;
    CHECK(count > 0);
    return fit[draw(place, count)];
}

static struct lock *draw_lock(unsigned need, uint64_t *place)
{
    /* Often one that another event has, too. */
    for (unsigned i = 0; i < program.locks; i++)
        if ((program.lock[i].kind->flags & need) == need && draw(place, 2))
            return &program.lock[i];
    if (program.locks == MOST_EVENTS)
        return &program.lock[0];
    struct lock *lock = &program.lock[program.locks++];
    lock->kind = draw_lock_kind(need, place);
    return lock;
}

/* Locks are taken in the order of their addresses. */
static void draw_locks(struct event *event, uint64_t *place)
{
    const struct pattern *pattern = event->pattern;
    for (unsigned i = 0; i < pattern->locks; i++) {
        struct lock *lock = draw_lock(i ? 0 : pattern->lock_need, place);
        unsigned at = i;
        for (unsigned j = 0; j < i; j++)
            if (event->lock[j] == lock)
                lock = NULL;
        if (!lock)
            continue;
        while (at && (!event->lock[at - 1] || event->lock[at - 1] > lock)) {
            event->lock[at] = event->lock[at - 1];
            at--;
        }
        event->lock[at] = lock;
    }
}

static void draw_event(struct event *event, uint64_t *place)
{
    const struct pattern *pattern = event->pattern = draw_pattern(place);
    int order[MOST_THREADS];
    event->number = program.events;
    unsigned most = pattern->most < program.threads ? pattern->most : program.threads;
    event->parties = pattern->least + draw(place, most - pattern->least + 1);
    for (unsigned i = 0; i < program.threads; i++) {
        unsigned at = draw(place, i + 1);
        order[i] = order[at];
        order[at] = (int)i;
    }
    memcpy(event->party, order, sizeof order);
    event->rounds = 1 + draw(place, MOST_ROUNDS);
    event->seed = (uint64_t)draw(place, UINT32_MAX) << 8 | draw(place, 256);
    event->abrupt = !draw(place, 2);
    if (pattern->flags & NEEDS_SIGNAL)
        event->signal = new_signal(event);
    for (unsigned i = 0; i < pattern->things; i++) {
        const struct kind *kind = draw_kind(pattern->need, pattern->avoid, place);
        struct thing *thing = new_thing(kind, 0);
        if (kind->flags & SIGNALS)
            thing->signal = new_signal(thing);
        event->thing[i] = thing;
    }
    draw_locks(event, place);
    program.events++;
}

static void draw_program(uint64_t seed)
{
    uint64_t place = seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
    /* Few events: more of their interleavings, at a smaller price. */
    unsigned events = draw(&place, 3) ? 3 + draw(&place, MOST_EVENTS - 2) : 1 + draw(&place, 3);
    program.seed = seed;
    program.threads = 1 + draw(&place, MOST_THREADS);
    program.ending = draw(&place, 5);
    program.tree = draw(&place, 2);
    program.c11 = !draw(&place, 4);
    program.sleeper = !draw(&place, 4);
    program.waiter = !draw(&place, 4);
    while (program.events < events)
        draw_event(&program.event[program.events], &place);
}

/* LIST: the numbers of the events that stay, with commas between. */
static void keep(const char *list)
{
    bool stays[MOST_EVENTS] = { false };
    while (*list) {
        char *end;
        unsigned long number = strtoul(list, &end, 10);
        CHECK(end > list && number < program.events);
        stays[number] = true;
        list = end + (*end == ',');
    }
    for (unsigned i = 0; i < program.events; i++)
        if (!stays[i])
            program.event[i].pattern = NULL;
}

static void note_handlers(void)
{
    for (unsigned i = 0; i < program.events; i++) {
        const struct event *event = &program.event[i];
        if (!event->pattern)
            continue;
        bool handles = event->pattern->flags & NEEDS_HANDLER;
        program.handlers |= handles;
        program.abrupt |= handles && event->abrupt;
        for (unsigned j = 0; j < event->pattern->things; j++)
            if (event->thing[j]->kind->flags & HANDLES)
                program.handlers = program.abrupt = true;
    }
}

static const char *const endings[] = { "return", "exit", "_exit", "quick_exit", "pthread_exit" };

static void print_program(void)
{
    printf("seed %lu: %u threads%s%s%s%s, ends by %s\n", (unsigned long)program.seed, program.threads,
           program.tree ? ", each created by the one before" : "", program.c11 ? ", C11" : "",
           program.sleeper ? ", and one that sleeps for ever" : "",
           program.waiter ? ", and one that waits for ever" : "", endings[program.ending]);
    for (unsigned i = 0; i < program.events; i++) {
        const struct event *event = &program.event[i];
        if (!event->pattern)
            continue;
        printf("event %u: %s, %u rounds, threads", i, event->pattern->name, event->rounds);
        for (unsigned j = 0; j < event->parties; j++)
            printf(" %d", event->party[j]);
        for (unsigned j = 0; j < event->pattern->things; j++)
            printf(", %s", event->thing[j]->kind->name);
        for (unsigned j = 0; j < 3; j++)
            if (event->lock[j])
                printf(", lock %u %s", (unsigned)(event->lock[j] - program.lock), event->lock[j]->kind->name);
        if (event->signal)
            printf(", signal %d", event->signal);
        puts((event->pattern->flags & NEEDS_HANDLER) && event->abrupt ? ", without SA_RESTART" : "");
    }
}

/* --- Running ----------------------------------------------------------------------------------------------------- */

static void prepare(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < MOST_SIGNALS; i++)
        sigaddset(&set, SIGRTMIN + i);
    sigaddset(&set, SIGALRM);
    CHECK_OK(pthread_sigmask(SIG_BLOCK, &set, NULL));
    for (unsigned i = 0; i < program.locks; i++)
        program.lock[i].kind->make(&program.lock[i]);
    for (unsigned i = 0; i < program.events; i++) {
        struct event *event = &program.event[i];
        if (!event->pattern)
            continue;
        for (unsigned j = 0; j < event->pattern->things; j++)
            if (event->thing[j]->kind->make)
                event->thing[j]->kind->make(event->thing[j]);
        if (event->pattern->prepare)
            event->pattern->prepare(event);
    }
}

static uint64_t finish(void)
{
    uint64_t result = program.seed;
    for (unsigned i = 0; i < program.events; i++) {
        struct event *event = &program.event[i];
        if (!event->pattern)
            continue;
        if (event->pattern->finish)
            event->pattern->finish(event);
        for (unsigned j = 0; j < event->pattern->things; j++)
            end_thing(event->thing[j]);
        result = (result ^ (uint64_t)event->result) * UINT64_C(0x100000001b3);
    }
    for (unsigned i = 0; i < program.locks; i++) {
        CHECK_EQ(program.lock[i].guarded, program.lock[i].also);
        result = (result ^ (uint64_t)program.lock[i].guarded) * UINT64_C(0x100000001b3);
        if (program.lock[i].kind->drop)
            program.lock[i].kind->drop(&program.lock[i]);
    }
    return result;
}

static void take_part(int thread)
{
    sigset_t before, after;
    CHECK_OK(pthread_sigmask(SIG_SETMASK, NULL, &before));
    for (unsigned i = 0; i < program.events; i++) {
        struct event *event = &program.event[i];
        for (unsigned role = 0; event->pattern && role < event->parties; role++)
            if (event->party[role] == thread) {
                uint64_t place = event->seed + role * UINT64_C(0x632be59bd9b4e019);
                event->pattern->run(event, role, &place);
                CHECK_OK(pthread_sigmask(SIG_SETMASK, NULL, &after));
                for (int number = 1; number <= SIGRTMAX; number++)
                    CHECK_EQ(sigismember(&after, number), sigismember(&before, number));
            }
    }
}

static void *run_thread(void *number);
static int run_c11_thread(void *number)
{
    return (int)(long)run_thread(number);
}

static void create(long number, pthread_t *thread)
{
    if (program.c11)
        CHECK_EQ(thrd_create(thread, run_c11_thread, (void *)number), thrd_success);
    else
        CHECK_OK(pthread_create(thread, NULL, run_thread, (void *)number));
}

static void join(long number, pthread_t thread)
{
    if (program.c11) {
        int result;
        CHECK_EQ(thrd_join(thread, &result), thrd_success);
        CHECK_EQ(result, number + 1);
    } else {
        void *result;
        CHECK_OK(pthread_join(thread, &result));
        CHECK_EQ((long)result, number + 1);
    }
}

static void *run_thread(void *argument)
{
    long number = (long)argument;
    pthread_t next;
    if (program.tree && number + 1 < program.threads)
        create(number + 1, &next);
    take_part((int)number);
    if (program.tree && number + 1 < program.threads)
        join(number + 1, next);
    return (void *)(number + 1);
}

static void *sleep_for_ever(void *unused)
{
    for (;;)
        usleep(1000);
    return unused;
}

static sem_t never;
static void *wait_for_ever(void *unused)
{
    for (;;)
        sem_wait(&never);
    return unused;
}

static void start_background(void *(*routine)(void *))
{
    CHECK_OK(pthread_detach(start_thread(routine, NULL)));
}

static void *report(void *first)
{
    if (first)
        CHECK_OK(pthread_join(*(pthread_t *)first, NULL));
    char result[32];
    snprintf(result, sizeof result, "%016lx", (unsigned long)finish());
    CHECK(!program.expected || !strcmp(result, program.expected));
    puts(result);
    fflush(stdout);
    if (program.ending == 2)
        _exit(0);
    if (program.ending == 3)
        quick_exit(0);
    if (program.ending)
        exit(0);
    return NULL;
}

int main(int argc, char **argv)
{
    bool print = false;
    const char *only = NULL;
    static pthread_t thread[MOST_THREADS], self;
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++)
        if (!strcmp(argv[at], "--print"))
            print = true;
        else if (!strcmp(argv[at], "--closed"))
            program.closed = true;
        else if (!strcmp(argv[at], "--only") && at + 1 < argc)
            only = argv[++at];
        else if (!strcmp(argv[at], "--expect") && at + 1 < argc)
            program.expected = argv[++at];
        else
            argc = 0;
    if (at + 1 != argc) {
        fprintf(stderr, "usage: %s [--print] [--closed] [--only EVENT,...] [--expect RESULT] SEED\n", argv[0]);
        return 2;
    }
    size_t bytes = MOST_THINGS * sizeof *program.thing;
    program.thing = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(program.thing != MAP_FAILED);
    draw_program(strtoul(argv[at], NULL, 10));
    if (only)
        keep(only);
    note_handlers();
    if (print) {
        print_program();
        return 0;
    }
    prepare();
    if (program.sleeper)
        start_background(sleep_for_ever);
    if (program.waiter)
        start_background(wait_for_ever);
    for (unsigned i = 1; i < program.threads && !program.tree; i++)
        create(i, &thread[i]);
    run_thread(NULL);
    for (unsigned i = 1; i < program.threads && !program.tree; i++)
        join(i, thread[i]);
    if (program.ending == 4) {
        self = pthread_self();
        CHECK_OK(pthread_detach(start_thread(report, &self)));
        pthread_exit(NULL);
    }
    report(NULL);
    return 0;
}
