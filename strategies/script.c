/* The strategy `script`: a script says who stands and who goes first (script.h, runtime/script/); whatever it does not
 * say runs in the default order of the strategy `schedule`. What `pct script` makes its runs with; beside that command
 * there is no script, and the runs are all the same.
 *
 * Each step is asked for, since each may be the one that the script waits for. A thread that sleeps goes on when no
 * other can, and one that ends the process after all others. Called by the scheduler through <pct/strategy.h>. */
#include "script.h"
#include "default_order.h"
#include <stddef.h>

struct state {
    const struct pct_script_engine *engine;
    struct pct_script_control control;
    struct pct_default_order order;
    bool let_pass;             /* the last pick was to let a deadline come, which is no operation of the program's */
    struct pct_calm calm;      /* what the running thread may do unasked */
    bool told;                 /* the engine knows already which operation was made since the last pick */
    uint32_t returned;         /* plus 1: the one that has come back from outside since the last pick */
    uint32_t without;          /* plus 1: one that is not asked for */
    uint64_t turned;           /* it has had its turn for the pick behind this many steps, plus 1 */
    uint64_t waits;            /* since this step, plus 1, the process waits for one that may go on; 0: it does not */
    _Alignas(64) char inner[]; /* the engine's */
};

static uint32_t state_size(const struct pct_run *run)
{
    return (uint32_t)sizeof(struct state) + (run->script ? run->script->state_size : 0);
}

static int start(void *state, const struct pct_run *run, const char **why)
{
    struct state *s = state;
    s->engine = run->script;
    s->control.first = PCT_NO_THREAD;
    s->control.over = !s->engine;
    return s->engine ? s->engine->start(s->inner, &s->control, why) : 0;
}

PCT_DEFAULT_ORDER(order)

const struct pct_calm *pct_strategy_script_calm(const void *state)
{
    return &((const struct state *)state)->calm;
}

/* The thread makes no progress, or ends the process. */
static void spins(void *state, uint32_t thread, uint64_t count)
{
    ((struct state *)state)->calm.is = false;
    ((struct state *)state)->control.let++;
    spinning(state, thread, count);
}

static void ends_process(void *state, uint32_t thread)
{
    ((struct state *)state)->calm.is = false;
    final_wait(state, thread);
}

static void created(void *state, uint32_t thread)
{
    struct state *s = state;
    s->calm.is = false;
    if (!s->control.over)
        s->engine->created(s->inner, thread);
}

/* --- Whom the script lets go on ----------------------------------------------------------------------------------- */

static bool stands(const struct state *s, uint32_t thread)
{
    return pct_rank_set_has(&s->control.held, thread);
}

/* It neither stands nor ends the process. */
static bool may_go(const struct state *s, uint32_t thread)
{
    return !stands(s, thread) && thread + 1 != s->order.exiting && thread + 1 != s->without;
}

/* The first of the set that may go on; PCT_NO_RANK: none. */
static uint32_t lowest(const struct state *s, const struct pct_rank_set *set)
{
    uint32_t t = pct_rank_set_lowest(set);
    while (t != PCT_NO_RANK && !may_go(s, t))
        t = pct_rank_set_above(set, t);
    return t;
}

/* The enabled one behind this one that may go on, in the ring of ids; PCT_NO_RANK: none. */
static uint32_t behind(const struct state *s, uint32_t thread)
{
    uint32_t t = pct_rank_set_above(&s->order.enabled, thread);
    while (t != PCT_NO_RANK && !may_go(s, t))
        t = pct_rank_set_above(&s->order.enabled, t);
    return t != PCT_NO_RANK ? t : lowest(s, &s->order.enabled);
}

static bool can_go(const struct state *s, uint32_t thread)
{
    return pct_rank_set_has(&s->order.enabled, thread) && may_go(s, thread);
}

/* An enabled one; PCT_NO_RANK: there is none that may go on. */
static uint32_t choose_enabled(const struct state *s)
{
    uint32_t running = s->order.running - 1, first = s->control.first;
    if (s->order.running && s->order.spins)
        return behind(s, running);
    if (first != PCT_NO_THREAD && can_go(s, first))
        return first;
    return s->order.running && can_go(s, running) ? running : lowest(s, &s->order.enabled);
}

/* Or one whose deadline lets it go on, or, last, the one that ends the process. */
static uint32_t choose_thread(const struct state *s)
{
    uint32_t next = choose_enabled(s), first = s->control.first, exiting = s->order.exiting - 1;
    if (next == PCT_NO_RANK && first != PCT_NO_THREAD && pct_rank_set_has(&s->order.early, first) && may_go(s, first))
        next = first;
    if (next == PCT_NO_RANK)
        next = lowest(s, &s->order.early);
    if (next == PCT_NO_RANK && s->order.exiting && pct_rank_set_has(&s->order.enabled, exiting) && !stands(s, exiting))
        next = exiting;
    return next;
}

/* Ask the script, as long as it leaves nobody who can go on. */
static uint32_t ask(struct state *s, uint32_t made, uint64_t step)
{
    if (s->turned != step + 1)
        s->engine->turn(s->inner, &s->control, made, step);
    while (!s->control.over) {
        uint32_t next = choose_thread(s);
        if (next != PCT_NO_RANK) {
            if (s->waits || next != pct_default_order_next(&s->order))
                s->engine->chose(s->inner, next, s->waits ? s->waits - 1 : step, s->waits);
            return next;
        }
        s->engine->stuck(s->inner, &s->control, step);
    }
    return pct_default_order_next(&s->order);
}

/* The thread that has made an operation since the engine was asked last, if this many steps were made since the last
 * pick.
 */
static uint32_t made_since(const struct state *s, uint64_t ran)
{
    bool stepped = (ran && !s->let_pass) || (s->returned && s->returned == s->order.running);
    return s->order.running && stepped && !s->told ? s->order.running - 1 : PCT_NO_THREAD;
}

void pct_strategy_script_rests(void *state, uint64_t ran, uint64_t step)
{
    struct state *s = state;
    uint32_t made = made_since(s, ran);
    s->told = true;
    s->turned = 0;
    s->calm.is = false;
    if (!s->control.over)
        s->engine->turn(s->inner, &s->control, made, step);
    if (!s->control.over && choose_thread(s) == PCT_NO_RANK)
        s->engine->is_stuck(s->inner);
}

/* Where those that the script leaves cannot go on, something from outside may yet let them. */
static uint32_t would_pick(void *state, uint64_t step, uint64_t ran, uint32_t without)
{
    struct state *s = state;
    if (!s->told) {
        pct_strategy_script_rests(s, ran, step);
        s->turned = step + 1;
    }
    while (!s->control.over) {
        s->without = without + 1;
        uint32_t next = choose_thread(s);
        s->without = 0;
        if (next != PCT_NO_RANK)
            return next;
        if (without != PCT_NO_THREAD || !s->engine->is_stuck(s->inner)) {
            s->waits = s->waits ? s->waits : step + 1;
            return PCT_NO_THREAD;
        }
        s->engine->stuck(s->inner, &s->control, step);
    }
    return pct_default_order_next(&s->order);
}

bool pct_strategy_script_is_under_way(const void *state)
{
    return !((const struct state *)state)->control.over;
}

bool pct_strategy_script_is_alone(const void *state, uint32_t thread)
{
    const struct state *s = state;
    uint32_t next = behind(s, thread);
    return !s->control.over && (next == PCT_NO_RANK || next == thread) && lowest(s, &s->order.early) == PCT_NO_RANK;
}

bool pct_strategy_script_spins(void *state, uint64_t step, const struct pct_script_spin *spin)
{
    struct state *s = state;
    s->engine->spins(s->inner, &s->control, step, spin);
    if (s->control.over)
        s->calm.is = false;
    return s->control.over;
}

void pct_strategy_script_returned(void *state, uint32_t thread)
{
    struct state *s = state;
    s->calm.is = false;
    s->returned = thread + 1;
}

void pct_strategy_script_passed(void *state, uint32_t thread, bool enters, uint64_t place, uint64_t stack)
{
    struct state *s = state;
    s->calm.is = false;
    if (!s->control.over)
        s->engine->passed(s->inner, thread, enters, place, stack);
}

uint32_t pct_strategy_script_choose(void *state, uint32_t thread, uint32_t ways)
{
    struct state *s = state;
    s->calm.is = false;
    return s->engine->choose(s->inner, thread, ways);
}

/* Whether this thread goes on, if nothing changes: one that goes while the first one spins makes a single step. */
static bool keeps(const struct state *s, uint32_t thread)
{
    uint32_t first = s->control.first;
    return first == PCT_NO_THREAD || first == thread || !can_go(s, first);
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    uint32_t made = made_since(s, point->ran);
    s->told = false;
    uint32_t next = s->control.over ? pct_default_order_next(&s->order) : ask(s, made, point->step);
    s->turned = s->waits = s->returned = 0;
    s->let_pass = pct_rank_set_has(&s->order.early, next);
    pct_default_order_chose(&s->order, next);
    s->calm.is = false;
    if (!s->control.over && !s->let_pass && keeps(s, next))
        s->engine->calm(s->inner, next, &s->calm);
    return (struct pct_choice){ .thread = next, .budget = s->control.over ? PCT_UNLIMITED : 1 };
}

const struct pct_strategy pct_strategy_script = {
    .name = "script",
    .summary = "what `pct script` makes its runs with; alone, a single run without preemptions",
    .source = "Concurrit: Elmas, Burnim, Necula, Sen, PLDI 2013",
    PCT_BASE,
    .created = created,
    .early = early,
    .spinning = spins,
    .final_wait = ends_process,
    .would_pick = would_pick,
};
