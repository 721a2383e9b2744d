/* The strategy `order`: a random schedule that keeps to some ordering constraints. It asks whether these constraints
 * are what a bug needs: PCT calls the size of the smallest set of constraints such that every schedule that keeps to
 * them shows the bug its depth (definitions 5 to 8).
 *
 *     before=1.4.2.7-2.10x1.1.10x2    A.N.B.M  operation N of thread A comes before operation M of thread B;
 *                                     KxN instead of N: its Nth operation of kind K (enum pct_op)
 *            0.32x1.w2                A.N.wB   operation N of thread A, a signal, wakes thread B, if that waits for it;
 *                                     A.N.nB   it does not, if others wait, too
 *
 * A thread's operations are counted by themselves, from 1. A thread whose next operation has to wait for another one is
 * held back; if all enabled threads are, a deadline comes that is near; without one, one of them goes on all the same,
 * and the run broke that constraint: whoever asks can see it from the trace. What is left is a random walk that stays
 * with a thread for a while: how long is the seed's choice, from a switch at every step to none without need, because
 * each kind of schedule is rare in the others. The end of the process waits for nobody: that a schedule shows a bug
 * only because it does would be a constraint, too.
 *
 * An access that a watchpoint tells of is announced when it has been made, and nobody knows what its thread does next:
 * it is held back if that may be the operation that has to wait.
 *
 * Called by the scheduler through <pct/strategy.h>. */
#include "base.h"
#include "number_list.h"
#include <pct/trace.h>
#include <stddef.h>

enum { MAX_CONSTRAINTS = 4096, SAID = 3 };

/* An operation. */
struct event {
    uint32_t thread, op, count; /* the count-th of this kind; of op 0: of all */
    uint32_t made;              /* this many of these there were */
};

enum kind { BEFORE, WAKES, PASSES_BY };

struct constraint {
    struct event first, then; /* of a wake, then.thread is the waiter */
    enum kind kind;
};

struct state {
    uint64_t seed;
    uint32_t shift;   /* a thread is left with a probability of 1 to 2^shift; 63: never without need */
    uint32_t running; /* whom the last pick chose, plus 1; 0: there was none */
    uint64_t step;    /* of that pick */
    uint64_t picks;
    bool spins; /* and it makes no progress */
    uint32_t count;
    struct pct_rank_set enabled, early;
    struct pct_rank_set free;      /* scratch: those who are enabled and not held back */
    uint8_t next[PCT_MAX_THREADS]; /* what the thread does next */
    uint8_t doing;                 /* what the one that the last pick chose was about to do; PCT_OP_NONE: nobody knew */
    uint8_t said[SAID];            /* what it has announced since then */
    uint32_t said_count;
    struct constraint constraints[];
};

static uint32_t state_size(const struct pct_run *run)
{
    return (uint32_t)(sizeof(struct state) + pct_list_count(run->list) * sizeof(struct constraint));
}

/* THREAD.COUNT or THREAD.OPxCOUNT */
static bool read_event(const char **at, struct event *event)
{
    if (!pct_list_number(at, &event->thread) || !pct_list_skip(at, '.') || !pct_list_number(at, &event->count))
        return false;
    if (pct_list_skip(at, 'x')) {
        event->op = event->count;
        if (!pct_list_number(at, &event->count) || !event->op || event->op >= PCT_OP_COUNT)
            return false;
    }
    return event->thread < PCT_MAX_THREADS && event->count;
}

/* What must come behind the first operation, or whom it must, or must not, wake. */
static bool read_rest(const char **at, struct constraint *c)
{
    c->kind = pct_list_skip(at, 'w') ? WAKES : pct_list_skip(at, 'n') ? PASSES_BY : BEFORE;
    if (c->kind == BEFORE)
        return read_event(at, &c->then);
    return pct_list_number(at, &c->then.thread) && c->then.thread < PCT_MAX_THREADS;
}

static int start(void *state, const struct pct_run *run, const char **why)
{
    static const uint32_t shifts[4] = { 0, 1, 3, 63 };
    struct state *s = state;
    const char *at = run->list;
    s->seed = run->seed;
    s->shift = shifts[run->seed % 4];
    while (at && *at) {
        struct constraint *c = &s->constraints[s->count++];
        bool fine = read_event(&at, &c->first) && pct_list_skip(&at, '.') && read_rest(&at, c) &&
                    (!*at || (pct_list_skip(&at, '-') && *at));
        if (!fine || c->first.thread == c->then.thread || s->count > MAX_CONSTRAINTS) {
            *why = "before is a list like 1.4.2.7-2.9.1.6 (operation 4 of thread 1 comes before operation 7 of thread "
                   "2; ...)";
            return -22; /* EINVAL */
        }
    }
    return 0;
}

PCT_ENABLED_OR_EARLY(enabled, early)

static void announce(void *state, uint32_t thread, const struct pct_operation *next)
{
    struct state *s = state;
    s->next[thread] = (uint8_t)next->op;
    if (s->running == thread + 1 && s->said_count < SAID)
        s->said[s->said_count++] = (uint8_t)next->op;
}

static bool held(const struct state *s, uint32_t thread)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const struct event *first = &s->constraints[i].first, *then = &s->constraints[i].then;
        bool may_be = !then->op || then->op == s->next[thread] || s->next[thread] == PCT_OP_NONE;
        if (s->constraints[i].kind == BEFORE && then->thread == thread && then->made + 1 == then->count && may_be &&
            first->made < first->count)
            return true;
    }
    return false;
}

/* A thread whose deadline is near, and which others wait for; PCT_NO_THREAD. */
static uint32_t wanted(const struct state *s)
{
    for (uint32_t i = 0; s->early.top && i < s->count; i++) {
        const struct event *first = &s->constraints[i].first;
        if (s->constraints[i].kind == BEFORE && first->made < first->count &&
            pct_rank_set_has(&s->early, first->thread) && !held(s, first->thread))
            return first->thread;
    }
    return PCT_NO_THREAD;
}

/* What the running thread made in this step since the last pick, from 0; PCT_OP_NONE: something that has no kind here.
 * Two steps in one turn are an access behind another one, or an arrival from outside. */
static uint32_t made_in(const struct state *s, uint32_t step)
{
    uint32_t known = s->doing != PCT_OP_NONE, said = step - known;
    uint32_t op = step < known ? s->doing : said < s->said_count ? s->said[said] : PCT_OP_NONE;
    return !step || op == PCT_OP_LOAD || op == PCT_OP_STORE ? op : PCT_OP_NONE;
}

/* The running thread has made this many steps. */
static void count(struct state *s, uint32_t steps)
{
    uint32_t thread = s->running - 1, known = (s->doing != PCT_OP_NONE) + s->said_count;
    for (uint32_t i = 0; i < 2 * s->count && steps; i++) {
        struct event *event = i % 2 ? &s->constraints[i / 2].then : &s->constraints[i / 2].first;
        if (event->thread != thread)
            continue;
        for (uint32_t step = 0; event->op && step < steps && step < known; step++)
            event->made += made_in(s, step) == event->op;
        event->made += event->op ? 0 : steps;
    }
    /* All that it announced has been made. */
    uint32_t last = steps && steps >= known ? made_in(s, steps - 1) : PCT_OP_NONE;
    if (last == PCT_OP_LOAD || last == PCT_OP_STORE)
        s->next[thread] = PCT_OP_NONE;
}

/* Any of these. */
static uint32_t any(const struct state *s, const struct pct_rank_set *set, uint32_t count, uint64_t draw)
{
    uint64_t which = pct_random_below(s->seed, PCT_STREAM_PICK, draw, count);
    uint32_t thread = pct_rank_set_lowest(set);
    while (which-- && thread != PCT_NO_RANK)
        thread = pct_rank_set_above(set, thread);
    return thread;
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    if (s->running)
        count(s, (uint32_t)(point->step - s->step));
    s->step = point->step;
    uint32_t free = 0, enabled = 0, running = s->running ? s->running - 1 : PCT_NO_THREAD;
    uint32_t hurries = wanted(s);
    struct pct_rank_set *set = &s->free;
    for (uint32_t t = pct_rank_set_lowest(&s->enabled); t != PCT_NO_RANK; t = pct_rank_set_above(&s->enabled, t)) {
        bool waits = held(s, t) || (s->spins && t == running);
        enabled++;
        free += !waits;
        if (waits)
            pct_rank_set_remove(set, t);
        else
            pct_rank_set_insert(set, t);
    }
    bool on =
        free && running != PCT_NO_THREAD && pct_rank_set_has(&s->enabled, running) && pct_rank_set_has(set, running);
    uint64_t draw = s->picks++ * 2;
    uint32_t next = running;
    if (!on || (s->shift < 63 && !pct_random_below(s->seed, PCT_STREAM_PICK, draw + 1, UINT64_C(1) << s->shift)))
        next = free ? any(s, set, free, draw) : hurries != PCT_NO_THREAD ? hurries : any(s, &s->enabled, enabled, draw);
    /* What is in the scratch set and not enabled must not stay there. */
    for (uint32_t t = pct_rank_set_lowest(&s->enabled); t != PCT_NO_RANK; t = pct_rank_set_above(&s->enabled, t))
        pct_rank_set_remove(set, t);
    s->running = next + 1;
    s->doing = s->next[next];
    s->said_count = 0;
    s->spins = false;
    return (struct pct_choice){ .thread = next, .budget = 1 };
}

PCT_CHOOSE

/* The running thread's next operation, after the steps that it has made since the last pick, is this one. */
static bool is_next(const struct state *s, const struct event *event, uint64_t step)
{
    uint64_t steps = step - s->step;
    uint64_t made = event->made + (event->op ? steps && event->op == s->doing : steps);
    return event->thread + 1 == s->running && made + 1 == event->count &&
           (!event->op || event->op == s->next[event->thread]);
}

static bool may_wake(const void *state, uint32_t thread, uint64_t step)
{
    const struct state *s = state;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct constraint *c = &s->constraints[i];
        if (c->kind != BEFORE && (c->then.thread == thread) != (c->kind == WAKES) && is_next(s, &c->first, step))
            return false;
    }
    return true;
}

static void spinning(void *state, uint32_t thread, uint64_t spins)
{
    (void)spins;
    struct state *s = state;
    s->spins = s->running == thread + 1;
}

const struct pct_strategy pct_strategy_order = {
    .name = "order",
    .summary = "a random schedule that keeps to a list of ordering constraints",
    .source = "Burckhardt et al., ASPLOS 2010, definitions 5 to 8 (the depth of a bug)",
    PCT_BASE,
    .announce = announce,
    .early = early,
    .choose = choose,
    .may_wake = may_wake,
    .spinning = spinning,
    .list = "before",
    .list_help = "A.N.B.M-...: operation N of thread A comes before operation M of thread B; KxN: its Nth of kind K; "
                 "A.N.wB: it wakes thread B",
};
