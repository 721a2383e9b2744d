/* The interface between the scheduler and a strategy.
 *
 * A strategy decides, at a scheduling point, which enabled thread runs next and for how many steps. It is a table of
 * functions over a zeroed block of state that the scheduler provides; it never sees an address, a pthread or the clock,
 * and it must be a pure function of its parameters, the seed and the calls made to it: that is what makes a token
 * replay.
 *
 * Who calls it, and when: the scheduler, on the turn of the thread that holds the baton, inside its slow path. A
 * strategy therefore needs no locks, and must not call malloc, stdio or anything that the target may have replaced.
 * Helpers that keep to these rules stand in <pct/sets.h> (sets of threads) and <pct/random.h> (the random numbers).
 *
 * An out-of-tree strategy is a shared object that exports one `const struct pct_strategy pct_strategy`, loaded with
 * PCT_STRATEGY=./mine.so (there must be a slash in the name). docs/STRATEGIES.md walks through an example.
 */
#ifndef PCT_STRATEGY_H
#define PCT_STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

#define PCT_STRATEGY_ABI 11u
#define PCT_STRATEGY_ABI_LEAST 7u /* that is still understood: what came later is at the end, and optional */

#define PCT_NO_THREAD UINT32_MAX
#define PCT_RELUCTANTLY (UINT32_C(1) << 31) /* added to a thread: would_pick() */
#define PCT_MAX_THREADS 32767u /* thread ids are 0 .. PCT_MAX_THREADS-1, in the order of creation, then used again */
#define PCT_UNLIMITED UINT64_MAX
#define PCT_MAX_PARAMS 32

/* A parameter of a strategy: an unsigned whole number. Its value arrives in pct_run.param at the same index. */
struct pct_param {
    const char *name;       /* as in `depth=3`: lower-case letters, digits and `-` */
    uint64_t default_value; /* the value when the user gives none */
    uint64_t min, max;
    const char *help; /* one line */
    const char *zero; /* what the user may write for 0, as in `depth=auto`, or NULL */
    bool quiet;       /* tokens leave it out while it has its default, which therefore must never change */
};

/* What a thread is about to do: its pending operation. */
struct pct_operation {
    uint32_t op;     /* enum pct_op, <pct/trace.h> */
    uint32_t object; /* which one: numbers in the order of first use; PCT_THREAD_OBJECT + id for a thread; 0: none */
    bool reads;      /* commutes with another operation on this object that reads */
    /* Where in the program's code: the same number in all runs of the program; 0: not known, or the strategy has not
     * said that it wants `places`. From version 10 on. */
    uint32_t place;
};
#define PCT_THREAD_OBJECT 0x80000000u

struct pct_script_engine;

/* Of the strategy `script`: steps of the running thread at which it need not be asked, though its budget is used up:
 * those that it does not mind. It minds operations (bits by enum pct_op) wherever they are, and others if an address is
 * in one range: that of their object, or that at which the program calls them. */
struct pct_calm_range {
    uint64_t operations[2];
    const uint64_t *base; /* the range begins this far behind what stands here; NULL: behind 0 */
    uint64_t from, size;
};

/* An operation that is not meant though it is minded, as long as no object is numbered anew. */
struct pct_calm_known {
    uint64_t address;  /* on the object here, */
    uint32_t what;     /* PCT_CALM_WHAT() */
    uint32_t numbered; /* how many numbers had been given */
};
enum { PCT_CALM_KNOWN_LOG = 8, PCT_CALM_WORDS = 8 };
#define PCT_CALM_WHAT(thread, op) ((uint32_t)(thread) << 8 | (uint32_t)(op) | UINT32_C(0x80000000))

struct pct_calm {
    bool is;
    uint64_t operations[2];
    struct pct_calm_range object, place;
    const struct pct_calm_known *known; /* NULL: nothing is */
    const uint32_t *numbered;           /* how many numbers have been given */
    uint32_t thread;                    /* which this is about */
    /* Seldom: */
    bool more;                               /* there is something in the rest: it minds every operation */
    struct pct_calm_range others;            /* on objects in this range, */
    const uint64_t *pointer[PCT_CALM_WORDS]; /* once one of these, up to the first NULL, has another value than this, */
    uint64_t pointed[PCT_CALM_WORDS];
    const uint64_t
        *heap_end;       /* or does not lie before this any more, where memory ends that is given back from there */
    uint64_t left, link; /* or once the thread has left the function that returns to `link`, which stands at `left` */
};

static inline bool pct_calm_has(const uint64_t operations[2], uint32_t op)
{
    return operations[op >> 6] >> (op & 63) & 1;
}

static inline bool pct_calm_is_in(const struct pct_calm_range *range, uint32_t op, uint64_t address)
{
    return pct_calm_has(range->operations, op) &&
           address - (range->base ? *range->base : 0) - range->from < range->size;
}

/* Where in the table of what is known this one stands. */
static inline uint32_t pct_calm_known_place(uint32_t op, uint64_t address)
{
    return (uint32_t)((address + op) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PCT_CALM_KNOWN_LOG));
}

static inline bool pct_calm_knows(const struct pct_calm *calm, uint32_t op, uint64_t address)
{
    const struct pct_calm_known *known = &calm->known[pct_calm_known_place(op, address)];
    return known->address == address && known->what == PCT_CALM_WHAT(calm->thread, op) &&
           known->numbered == *calm->numbered;
}

/* Whether it minds this one for what stands in the rest. */
static inline bool pct_calm_minds_more(const struct pct_calm *calm, uint32_t op, uint64_t address)
{
    for (unsigned i = 0; i < PCT_CALM_WORDS && calm->pointer[i]; i++)
        if ((calm->heap_end && (uint64_t)(uintptr_t)(calm->pointer[i] + 1) > *calm->heap_end) ||
            *calm->pointer[i] != calm->pointed[i])
            return true;
    return pct_calm_is_in(&calm->others, op, address) ||
           (calm->left && (*(const uint64_t *)(uintptr_t)calm->left != calm->link ||
                           (uintptr_t)__builtin_frame_address(0) > calm->left));
}

/* Whether it minds this operation, on the object at this address (0: none), called at this place (0: not known). */
static inline bool pct_calm_minds(const struct pct_calm *calm, uint32_t op, uint64_t address, uint64_t place)
{
    bool minds = pct_calm_has(calm->operations, op) || pct_calm_is_in(&calm->object, op, address) ||
                 (place ? pct_calm_is_in(&calm->place, op, place) : pct_calm_has(calm->place.operations, op));
    return (minds && !(calm->known && pct_calm_knows(calm, op, address))) ||
           (calm->more && pct_calm_minds_more(calm, op, address));
}

/* What is fixed for a run before its first step. */
struct pct_run {
    uint64_t seed;
    uint64_t param[PCT_MAX_PARAMS];
    const char *list; /* the value of the strategy's list, of PCT_LIST_CHARACTERS; NULL or "": empty */
    /* There will be no more than this many threads; 0: PCT_MAX_THREADS. Decides how much state is needed, and nothing
     * else: a schedule does not depend on it. */
    uint32_t threads;
    /* Likewise: the numbers of objects will not be greater than this; 0: nothing is known of them. */
    uint32_t objects;
    /* What `pct explore` tells one run beside its token; NULL: nothing. For the strategy `explore`. */
    const uint32_t *plan;
    uint32_t plan_count;
    /* The steps of the trace that a replay follows (<pct/trace.h>); NULL: it is none. For the strategy `replay`. */
    const uint64_t *records;
    uint64_t records_count;
    /* What decides for the strategy `script`; NULL: nothing. */
    const struct pct_script_engine *script;
    /* Which process of its family this is, and their board, for the strategy `processes`; NULL: it is the first. */
    const struct pct_board *board;
};
/* A place in the plan: the thread that makes this step, and which waiter it is to wake, plus 1; 0: whichever. */
#define PCT_PLAN(thread, waiter) ((uint32_t)(thread) | (uint32_t)(waiter) << 16)
#define PCT_PLAN_THREAD(place) ((place)&0x7fffu)
#define PCT_PLAN_WAITER(place) ((place) >> 16)
/* The last place of a plan may be this, no step: who goes on behind it where the running thread cannot. The enabled
 * thread of the highest priority in this order (pct_plan_priority()) does; `lowest`, a thread plus 1, 0: none, comes
 * last. Without it: order 0, and none. */
#define PCT_PLAN_THEN(order, lowest) (0x8000u | (uint32_t)(lowest) | (uint32_t)(order) << 16)
/* Or, whatever can go on: each enabled thread at each step is as likely as any other, drawn from this number. */
#define PCT_PLAN_WALK(number) PCT_PLAN_THEN((number)&0xffff, 0x7fff)
#define PCT_PLAN_IS_THEN(place) ((place) >> 15 & 1)
#define PCT_LIST_CHARACTERS "0123456789abcdefghijklmnopqrstuvwxyz.-"

/* Why the scheduler asks. */
enum pct_why {
    PCT_WHY_START,   /* the first step of the run */
    PCT_WHY_BUDGET,  /* the running thread has used up the budget that pick() gave it */
    PCT_WHY_ENABLED, /* since the last pick a thread has become enabled, or all but one disabled; the budget may not be
                        used up */
    PCT_WHY_BLOCKED, /* the running thread's pending operation is not enabled, or by time alone: see early() */
    PCT_WHY_FINISHED /* the running thread has finished */
};

/* A scheduling point at which the strategy is asked. */
struct pct_point {
    uint64_t step;    /* steps passed so far: 0 at the start of the run */
    uint64_t ran;     /* steps that the running thread made since the last pick */
    uint32_t current; /* the running thread, PCT_NO_THREAD at the start; still enabled iff why is BUDGET or ENABLED */
    uint32_t enabled; /* how many threads are enabled: at least 1 */
    enum pct_why why;
};

/* "Run this thread for this many steps unless it blocks, another thread becomes enabled, or it is left alone." A budget
 * of 0 counts as 1; PCT_UNLIMITED means until one of those happens. */
struct pct_choice {
    uint32_t thread; /* must be enabled: anything else ends the run with an internal error */
    uint64_t budget; /* steps */
};

struct pct_strategy {
    uint32_t abi;                                      /* PCT_STRATEGY_ABI */
    const char *name;                                  /* as in the token */
    const char *summary;                               /* one line for `pct strategies` */
    const char *source;                                /* the paper and section that it follows, or NULL */
    const struct pct_param *params;                    /* ended by an entry without a name, or NULL */
    uint32_t (*state_size)(const struct pct_run *run); /* bytes of state; called once, before start() */

    /* Begin a run. state is zeroed and 64-byte aligned. Returns 0, or a negative errno when the parameters make no
     * sense together, and then *why is set to a message that the user can act on. If they are merely odd: 0, and a
     * message. */
    int (*start)(void *state, const struct pct_run *run, const char **why);

    /* A thread with this id exists from now on, made by the one that runs. It is not enabled until enable() says so.
     * When all ids have been given out, it may be that of a thread that has finished. Optional. */
    void (*created)(void *state, uint32_t thread);

    /* What this thread will do in its next step, unless it says otherwise before: the running thread when it comes to a
     * scheduling point, a new one before it is first enabled, one that waits when what it waits for changes. Operations
     * that can block are always announced; of others, those within a budget are not: with a budget of 1, all are.
     * Optional. */
    void (*announce)(void *state, uint32_t thread, const struct pct_operation *next);

    /* The pending operation of this thread can now complete / can no longer complete (or the thread has finished). */
    void (*enable)(void *state, uint32_t thread);
    void (*disable)(void *state, uint32_t thread);

    /* Called in the place of enable(), for a thread that waits and that nothing enables but its deadline, which is
     * near: chosen, it lets time go on to there, so that the wait times out though others could run. enable() or
     * disable() follows. Optional: for strategies to which such a thread is one like others, enable() is called, and
     * once only. */
    void (*early)(void *state, uint32_t thread);

    /* Which enabled thread runs next, and for how long. Never called without an enabled thread. */
    struct pct_choice (*pick)(void *state, const struct pct_point *point);

    /* Which of `waiters` (at least 2, in the order of their arrival) a signal wakes: an index below it.
     * Optional: without it, the first. */
    uint32_t (*choose)(void *state, uint32_t waiters, uint64_t step);

    /* Whether that signal may wake this waiter, for a strategy that cares who it is: choose() is asked among those that
     * it may wake, or among all if it may wake none. Optional: without it, all. */
    bool (*may_wake)(const void *state, uint32_t thread, uint64_t step);

    /* The running thread makes no progress: since it last blocked, it has passed `spins` (at least 1) scheduling points
     * that were yields, failed try-operations, sleeps of no length or reads of the clock in a loop. The next pick
     * follows at once, with why = BUDGET. A strategy that could run this thread for ever must let others go first
     * here (PCT, section 4.1, "starvation free"). Optional for strategies that are fair anyway. */
    void (*spinning)(void *state, uint32_t thread, uint64_t spins);

    /* The thread is about to end the process (exit, return from main). A strategy by priorities puts it last, so that
     * what the others still do shows its bugs (PCT, section 4.2, "Final Wait"). Optional. */
    void (*final_wait)(void *state, uint32_t thread);

    /* At the end of a run: what its parameter `k` should have been, where that is not the number of steps. ran: steps
     * since the last pick. Optional. */
    uint64_t (*points)(const void *state, uint64_t ran);

    /* The name of a parameter that is a list, as in `switches=1.4.2-2.9.1`, and a line about it; or NULL. `none` is the
     * empty list. start() parses the text. */
    const char *list;
    const char *list_help;

    /* The same as enable() and disable() for each of these threads, in this order. From version 8 on; optional. Many
     * threads wait for one mutex: with these, the strategy hears of them once when it is unlocked, once when one of
     * them has locked it. */
    void (*enable_all)(void *state, const uint16_t *threads, uint32_t count);
    void (*disable_all)(void *state, const uint16_t *threads, uint32_t count);

    /* After created(), for a thread whose role is known, before it is first enabled. Threads that begin with the same
     * function have the same role, a number from 1 to PCT_MOST_ROLES in the order of first use; the last is of all
     * others. A thread of which nothing is said has role 0, as main has. From version 9 on; optional. */
    void (*role)(void *state, uint32_t thread, uint32_t role);

    /* announce() is to say where operations are, which takes a look at the stack for each. From version 10 on. */
    bool places;

    /* Before pick(), and as things change while the process waits: the thread that pick() would choose if `without`
     * (PCT_NO_THREAD: none) could not go on; PCT_NO_THREAD: no other enabled one is to go on yet. Then the process
     * waits as where none is enabled, as long as a deadline or the outside world may change the answer, and pick() is
     * asked behind that all the same. With PCT_RELUCTANTLY, that thread, but what comes from outside has a while
     * before. step, ran: as in struct pct_point. From version 11 on; optional. */
    uint32_t (*would_pick)(void *state, uint64_t step, uint64_t ran, uint32_t without);
};
#define PCT_MOST_ROLES 15u

#endif
