/* Random programs for the simulated host: of every operation that the table of dependence has a row for. */
#ifndef PCT_TESTS_MADE_H
#define PCT_TESTS_MADE_H

#include "explored.h"

enum { OPS = 40, MOST_THREADS = 4, MOST_SCHEDULES = 6000 };

static uint64_t random_seed, random_place;
static uint32_t draw(uint32_t bound)
{
    return (uint32_t)pct_random_below(random_seed, PCT_STREAM_USER, random_place++, bound);
}

static struct sim_op text[MOST_THREADS + 1][OPS];
static struct sim_op *list;
static uint32_t length;

#define ADD_OP(...)                                                                                                    \
    do {                                                                                                               \
        assert_true(length < OPS);                                                                                     \
        list[length++] = (struct sim_op)__VA_ARGS__;                                                                   \
    } while (0)

static void add_action(uint8_t held, uint32_t kinds);

static void add_locked(uint8_t m, uint32_t kinds)
{
    ADD_OP(LOCK(m));
    for (uint32_t i = draw(2); i; i--)
        add_action(m, kinds);
    ADD_OP(UNLOCK(m));
}

/* kinds: bit i: such actions may be among those of the program. */
enum {
    LOCKS = 1,
    CONDS = 2,
    SEMS = 4,
    RWLOCKS = 8,
    BARRIERS = 16,
    VARIABLES = 32,
    TIME = 64,
    ONCES = 128,
    FUTEXES = 256,
    ATOMICS = 512,
    KERNELS = 1024,
    DESTROYS = 2048,
    CHECKS = 4096,
    KINDS = 13,
    ALL_KINDS = (1 << KINDS) - 1,
    ROBUSTS = 1 << KINDS, /* these are in programs of their own */
    SPINS = 2 << KINDS,
    MADE = 4 << KINDS,
    LOADS = 8 << KINDS,
    KERNEL_WAITS = 16 << KINDS,
    GUARDS = 32 << KINDS
};

/* The robust mutexes are those behind the others. Who finds that a thread has ended with one repairs it, or does as if
 * it had, or nothing; who has it may end with it. */
static void add_robust(uint8_t m, uint8_t held, uint32_t kinds)
{
    if (m == held)
        return;
    if (draw(3))
        ADD_OP({ .kind = SIM_LOCK, .a = m, .value = kinds & TIME && draw(2) ? 2000 : -1 });
    else
        ADD_OP(TRYLOCK(m));
    if (draw(4)) {
        ADD_OP(UNLESS(2, 1));
        ADD_OP({ .kind = draw(3) ? SIM_CONSISTENT : SIM_SET, .a = m, .value = 1 });
    }
    ADD_OP(UNLESS(1, 0));
    uint32_t from = length;
    for (uint32_t i = draw(2); i; i--)
        add_action(m, kinds);
    if (draw(3))
        ADD_OP(UNLOCK(m));
    list[from - 1].a = (uint8_t)(length - from);
}

static void add_rw(uint8_t m)
{
    switch (draw(4)) {
    case 0:
        ADD_OP(RDLOCK(m));
        if (draw(2))
            ADD_OP(READ(0));
        ADD_OP(RWUNLOCK(m));
        break;
    case 1:
        ADD_OP(WRLOCK(m));
        if (draw(2))
            ADD_OP(WRITE(0, 1 + draw(2)));
        ADD_OP(RWUNLOCK(m));
        break;
    case 2:
        ADD_OP(TRYRDLOCK(m));
        ADD_OP(UNLESS(1, 1));
        ADD_OP(RWUNLOCK(m));
        break;
    default:
        ADD_OP(TRYWRLOCK(m));
        ADD_OP(UNLESS(1, 1));
        ADD_OP(RWUNLOCK(m));
    }
}

static void add_sem(uint8_t s)
{
    switch (draw(3)) {
    case 0:
        ADD_OP(UP(s));
        break;
    case 1:
        ADD_OP(DOWN(s));
        break;
    default:
        ADD_OP(TRYDOWN(s));
    }
}

static void add_cond(uint8_t held)
{
    uint32_t what = draw(3);
    if (what == 0 && held < SIM_THINGS)
        ADD_OP(WAIT(0, held));
    else if (what < 2)
        ADD_OP(SIGNAL(0));
    else
        ADD_OP(BROADCAST(0));
}

static void add_time(uint8_t held)
{
    if (draw(2))
        ADD_OP(SLEEP(1000 * (1 + draw(3))));
    else if (held < SIM_THINGS)
        ADD_OP(WAIT_FOR(0, held, 2000));
    else
        ADD_OP(DOWN_FOR(1, 1000 * (1 + draw(2))));
}

static void add_once(uint8_t held, uint32_t kinds)
{
    ADD_OP(ONCE(0));
    ADD_OP({ .kind = SIM_UNLESS, .value = 1 });
    uint32_t from = length;
    if (draw(2) && kinds != ONCES)
        add_action(held, kinds & ~(uint32_t)ONCES);
    ADD_OP(ONCE_DONE(0));
    list[from - 1].a = (uint8_t)(length - from);
}

/* A guarded static is used; whoever makes it may not succeed. */
static void add_guard(uint8_t held, uint32_t kinds)
{
    uint8_t o = 1 + !draw(4);
    ADD_OP(GUARD(o));
    ADD_OP({ .kind = SIM_UNLESS, .value = 1 });
    uint32_t from = length;
    if (draw(2))
        add_action(held, kinds & ~(uint32_t)GUARDS);
    ADD_OP(GUARD_END(o, draw(3) != 0));
    list[from - 1].a = (uint8_t)(length - from);
}

static void add_futex(void)
{
    uint8_t v = !draw(4);
    switch (draw(4)) {
    case 0:
        ADD_OP(FUTEX_WAIT(v, draw(2)));
        break;
    case 1:
        ADD_OP(FUTEX_WAKE(v, 1 + draw(3)));
        break;
    case 2:
        ADD_OP(REQUEUE(v, draw(2), !v));
        break;
    default:
        ADD_OP(WRITE(v, 1 + draw(2)));
    }
}

static void add_atomic(uint8_t v)
{
    switch (draw(4)) {
    case 0:
        ADD_OP(ATOMIC_READ(v));
        break;
    case 1:
        ADD_OP(ATOMIC_WRITE(v, 1 + draw(2)));
        break;
    case 2:
        ADD_OP(ATOMIC_ADD(v, 1 + draw(2)));
        break;
    default:
        ADD_OP(ATOMIC_TRY(v, 1 + draw(2)));
    }
}

static void add_access(uint8_t v)
{
    if (draw(2))
        ADD_OP(READ(v));
    else
        ADD_OP(WRITE(v, 1 + draw(2)));
}

static void add_spin(uint8_t s, uint8_t held, uint32_t kinds)
{
    if (draw(2)) {
        ADD_OP(SPINLOCK(s));
        if (kinds != SPINS && draw(2))
            add_action(held, kinds & ~(uint32_t)SPINS);
        ADD_OP(SPINUNLOCK(s));
        return;
    }
    if (random_place % 2) { /* as in add_kernel() */
        ADD_OP(PASS(s));
        return;
    }
    ADD_OP(TRYSPINLOCK(s));
    ADD_OP(UNLESS(1, 1));
    ADD_OP(SPINUNLOCK(s));
}

/* Whether any thread of the program may wait for what the kernel keeps: see kernel_keeps(), reversals.c. */
static bool waits_in_kernel;

/* What the kernel keeps, by each operation that uses it. */
static void add_kernel(bool waits)
{
    static const uint8_t ops[] = { PCT_OP_READ,        PCT_OP_WRITE,   PCT_OP_POLL,     PCT_OP_CLOSE,
                                   PCT_OP_ACCEPT,      PCT_OP_CONNECT, PCT_OP_SHUTDOWN, PCT_OP_FILE_LOCK,
                                   PCT_OP_FILE_UNLOCK, PCT_OP_OPEN,    PCT_OP_MESSAGE };
    waits_in_kernel |= waits;
    uint8_t op = ops[random_place % sizeof ops]; /* no draw of its own: programs of before are the same */
    if (waits && draw(2))
        ADD_OP(KERNEL_WAIT(op));
    else
        ADD_OP(KERNEL_BY(op, draw(3)));
}

static void add_load(uint8_t held, uint32_t kinds)
{
    ADD_OP(LOAD);
    for (uint32_t i = draw(3); i; i--)
        add_action(held, kinds & ~(uint32_t)LOADS);
    ADD_OP(LOADED);
}

/* Objects of their own: made by the first who needs them, with a mutex held, or by each, or unmade while others may use
 * them, as far as that is harmless. */
enum { MADE_ONE = 5 };

static void use_made(uint32_t what)
{
    uint8_t o = MADE_ONE;
    switch (what) {
    case 0:
        add_locked(o, LOCKS);
        break;
    case 1:
        ADD_OP(LOCK(4));
        if (draw(2))
            ADD_OP(WAIT(o, 4));
        else
            ADD_OP(SIGNAL(o));
        ADD_OP(UNLOCK(4));
        break;
    case 2:
        add_rw(o);
        break;
    case 3:
        ADD_OP(BARRIER(o));
        break;
    case 4:
        add_spin(o, o, SPINS);
        break;
    default:
        add_sem(o);
    }
}

static void init_made(uint32_t what)
{
    static const uint8_t inits[] = { PCT_OP_MUTEX_INIT,   PCT_OP_COND_INIT, PCT_OP_RWLOCK_INIT,
                                     PCT_OP_BARRIER_INIT, PCT_OP_SPIN_INIT, PCT_OP_SEM_INIT };
    ADD_OP({ .kind = SIM_MAKE, .a = MADE_ONE, .b = inits[what], .value = draw(3) });
}

static void add_made(uint8_t held)
{
    static const uint8_t unmade[] = { PCT_OP_MUTEX_DESTROY,   PCT_OP_COND_DESTROY, PCT_OP_RWLOCK_DESTROY,
                                      PCT_OP_BARRIER_DESTROY, PCT_OP_SPIN_DESTROY, PCT_OP_SEM_DESTROY };
    uint32_t what = draw(6);
    if (held != SIM_THINGS)
        return;
    switch (draw(4)) {
    case 0: /* if nobody has done so */
        ADD_OP(LOCK(3));
        ADD_OP(ATOMIC_ADD((uint8_t)(2 + what), 1));
        ADD_OP(UNLESS(0, 1));
        init_made(what);
        ADD_OP(UNLOCK(3));
        use_made(what);
        break;
    case 1:
        ADD_OP({ .kind = SIM_MAKE, .a = MADE_ONE, .b = unmade[what] });
        break;
    case 2: /* undefined, but it has an outcome: the semaphore counts anew */
        ADD_OP(MAKE(SEM_INIT, MADE_ONE + 1, draw(3)));
        ADD_OP(TRYDOWN(MADE_ONE + 1));
        break;
    default:
        if (draw(2))
            ADD_OP(UP(MADE_ONE + 1));
        else
            ADD_OP(TRYDOWN(MADE_ONE + 1));
    }
}

/* One of the kinds that only programs of their own have, if any. */
static bool add_own(uint8_t m, uint8_t held, uint32_t kinds)
{
    uint32_t own = kinds & (ROBUSTS | SPINS | MADE | LOADS | KERNEL_WAITS), kind;
    if (kinds & GUARDS && draw(3)) {
        add_guard(held, kinds);
        return true;
    }
    if (!own || draw(2))
        return false;
    do
        kind = (uint32_t)ROBUSTS << draw(5);
    while (!(kind & own));
    switch (kind) {
    case ROBUSTS:
        add_robust(2 + m, held, kinds);
        break;
    case SPINS:
        add_spin(m, held, kinds);
        break;
    case MADE:
        add_made(held);
        break;
    case LOADS:
        add_load(held, kinds);
        break;
    default:
        add_kernel(true);
    }
    return true;
}

static void add_action(uint8_t held, uint32_t kinds)
{
    uint8_t m = !draw(4);
    uint32_t kind;
    if (add_own(m, held, kinds))
        return;
    do
        kind = 1u << draw(KINDS);
    while (!(kind & kinds));
    switch (kind) {
    case LOCKS:
        if (m == held)
            break;
        if (draw(3)) {
            add_locked(m, kinds);
            break;
        }
        ADD_OP(TRYLOCK(m));
        ADD_OP(UNLESS(1, 1));
        ADD_OP(UNLOCK(m));
        break;
    case CONDS:
        if (held < SIM_THINGS || draw(2))
            add_cond(held);
        else
            add_locked(m, kinds);
        break;
    case SEMS:
        add_sem(m);
        break;
    case RWLOCKS:
        add_rw(m);
        break;
    case BARRIERS:
        ADD_OP(BARRIER(0));
        break;
    case TIME:
        add_time(held);
        break;
    case ONCES:
        add_once(held, kinds);
        break;
    case FUTEXES:
        add_futex();
        break;
    case ATOMICS:
        add_atomic(m);
        break;
    case KERNELS:
        add_kernel(false);
        break;
    case DESTROYS:
        ADD_OP(DESTROY(m));
        break;
    case CHECKS:
        ADD_OP(CHECK(0, 0));
        explored_to_the_full = true;
        break;
    default:
        add_access(m);
    }
}

/* What becomes of the thread with this list. by: who does it. */
static void add_end_of(uint32_t other, bool by_main)
{
    switch (draw(4)) {
    case 0:
        ADD_OP(DETACH((uint8_t)other));
        break;
    case 1:
        ADD_OP(TRYJOIN((uint8_t)other));
        explored_to_the_full = true;
        break;
    default:
        if (by_main)
            ADD_OP(JOIN((uint8_t)other));
    }
}

static struct sim_program make_program(uint64_t number)
{
    struct sim_program program = { .barrier = { 2 } };
    explored_slack = number % 2 ? 1000000 : 0; /* of half of the programs, deadlines may come early */
    random_seed = number;
    random_place = 0;
    explored_to_the_full = false;
    uint32_t kinds = draw(4) ? (1u << draw(KINDS)) | (1u << draw(KINDS)) | (draw(2) ? 0 : VARIABLES) : ALL_KINDS;
    uint32_t threads = 3 + !draw(3);
    program.sem[0] = draw(3);
    for (uint32_t t = 0; t < threads; t++) {
        list = text[t];
        length = 0;
        program.thread[t] = list;
        if (t)
            for (uint32_t i = 1 + draw(threads == 3 ? 3 : 2); i; i--)
                add_action(SIM_THINGS, kinds);
        bool nested = !(number % 5); /* thread 1 makes thread 2 */
        for (uint32_t i = 1; !t && i < threads; i++)
            if (!nested || i != 2)
                ADD_OP(CREATE((uint8_t)i));
        if (t == 1 && nested)
            ADD_OP(CREATE(2));
        if (t == 2 && !(number % 3))
            add_end_of(1, false);
        if (!t && !draw(3))
            add_action(SIM_THINGS, kinds);
        for (uint32_t i = 1; !t && i < threads && !nested; i++)
            if (draw(2) && (number % 3 || i != 1))
                add_end_of(i, true);
        if (!t && !draw(4)) {
            ADD_OP(EXITING);
            if (draw(2))
                add_action(SIM_THINGS, kinds);
            ADD_OP(EXIT_NOW);
        }
        if (t && !(number % 7) && !draw(3))
            ADD_OP(EXIT_NOW);
        ADD_OP({ .kind = SIM_END });
    }
    return program;
}

/* What the random program of this number, whose draws come now, begins with. */
static struct sim_program begin_program(uint64_t number, uint64_t slack)
{
    explored_slack = slack;
    random_seed = number;
    random_place = 0;
    explored_to_the_full = waits_in_kernel = false;
    return (struct sim_program){ .barrier = { 2 } };
}

/* What is added from now on is this thread's, of three; the first, main, makes the others. */
static void begin_thread(struct sim_program *program, uint32_t t)
{
    list = text[t];
    length = 0;
    program->thread[t] = list;
    for (uint8_t i = 1; !t && i < 3; i++)
        ADD_OP(CREATE(i));
}

/* Programs of the kinds that make_program() has not. */
static inline struct sim_program make_own(uint64_t number)
{
    struct sim_program program = begin_program(number, number % 4 ? 0 : 1000000);
    uint32_t own = number % 5 == 2 ? GUARDS : (uint32_t)SPINS << draw(4), kinds;
    kinds = own | (draw(2) ? (uint32_t)SPINS << draw(4) : 0) | 1u << draw(KINDS) | (draw(2) ? VARIABLES : LOCKS);
    program.barrier[MADE_ONE] = 2;
    for (uint32_t t = 0; t < 3; t++) {
        begin_thread(&program, t);
        for (uint32_t i = t ? 1 + draw(2) : !draw(3); i; i--)
            if (!draw(4) || !add_own(!draw(4), SIM_THINGS, kinds))
                add_action(SIM_THINGS, kinds);
        if (!t && !draw(4))
            add_end_of(1 + draw(2), true);
        ADD_OP({ .kind = SIM_END });
    }
    return program;
}

/* Threads whose accesses go over one variable or two: whom a later one meets of those that came between others decides
 * which sequences cover one another. Main is the last of four. */
static inline struct sim_program make_wide(uint64_t number)
{
    struct sim_program program = begin_program(number, 0);
    for (uint32_t t = 0; t < 4; t++) {
        list = text[t];
        length = 0;
        program.thread[t] = list;
        for (uint8_t i = 1; !t && i < 4; i++)
            ADD_OP(CREATE(i));
        for (uint32_t i = 1 + draw(2); i; i--) {
            const uint8_t v = (uint8_t)draw(3);
            const int64_t value = 1 + (int64_t)t;
            switch (draw(3)) {
            case 0:
                ADD_OP(READ(v));
                if (i > 1)
                    ADD_OP(UNLESS(0, 1)); /* it goes on if nobody has written there */
                break;
            case 1:
                ADD_OP(WRITE(v, value));
                break;
            default:
                ADD_OP(FILL(v % 2, value));
            }
        }
        ADD_OP({ .kind = SIM_END });
    }
    return program;
}

/* Barriers that three threads pass, once or twice, with what comes before and behind that. Main is the last of four. */
static inline struct sim_program make_barriers(uint64_t number)
{
    struct sim_program program = begin_program(number, 0);
    program.barrier[0] = 3;
    program.barrier[MADE_ONE] = 2;
    for (uint32_t t = 0; t < 4; t++) {
        list = text[t];
        length = 0;
        program.thread[t] = list;
        for (uint8_t i = 1; !t && i < 4; i++)
            ADD_OP(CREATE(i));
        for (uint32_t i = t ? 1 + draw(2) : !draw(4); i; i--) {
            const uint32_t what = draw(6);
            if (what < 4)
                ADD_OP(BARRIER(0));
            else if (what == 4)
                ADD_OP(BARRIER(MADE_ONE));
            else
                add_action(SIM_THINGS, LOCKS | VARIABLES);
        }
        ADD_OP({ .kind = SIM_END });
    }
    return program;
}

/* Threads that end with robust mutexes, which others find so. */
static inline struct sim_program make_robust(uint64_t number)
{
    struct sim_program program = begin_program(number, number % 4 ? 0 : 1000000);
    uint32_t kinds = ROBUSTS | LOCKS | (draw(2) ? 1u << draw(KINDS) : VARIABLES) | (number % 4 ? 0 : TIME);
    program.robust = 12;
    explored_to_the_full = true; /* the end of a thread that has one is seen by others */
    for (uint32_t t = 0; t < 3; t++) {
        begin_thread(&program, t);
        for (uint32_t i = t ? 1 + !draw(3) : !draw(4); i; i--)
            if (draw(4))
                add_robust(2 + !draw(4), SIM_THINGS, kinds);
            else
                add_action(SIM_THINGS, kinds);
        if (t == 2 && !draw(4))
            ADD_OP(JOIN(1));
        if (!t && !draw(4))
            add_end_of(1 + draw(2), true);
        ADD_OP({ .kind = SIM_END });
    }
    return program;
}

#endif
