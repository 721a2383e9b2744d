/* The ways of a script without those that commute: see dpor.h. The stack has the choices of the last run, up to where
 * it turned out to be like an earlier one. */
#include "dpor.h"
#include <cli/explore/dependence.h>
#include <pct/operations.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a thread did in its turn. */
struct step {
    uint32_t thread, count;
    bool global; /* commutes with nothing */
    bool lets;   /* it was blocked, or spun: threads that no line names could go on, if there were any that can */
    bool moves;  /* whether there are may have changed */
    struct pct_event *event;
};

/* A choice of the run, and what is known of its other ways. Threads are bits of masks. */
struct node {
    struct pct_script_choice choice;
    uint64_t number;     /* no other one ever has this */
    uint64_t wanted;     /* of a TURN: whom to try here, */
    uint64_t tried;      /* and who was */
    struct step *asleep; /* what need not come next: tried here, or before, and commuting with all since */
    uint32_t asleep_count;
    struct step step;        /* of the chosen thread */
    struct pct_event *waits; /* of a TURN, and of their end: what threads wait for that take part but cannot go on */
    uint32_t waits_count;
    uint64_t *clock; /* of a TURN: by thread, the last turn that happens before it, plus 1: its place in the stack */
};

struct pct_dpor {
    struct node *stack;
    uint32_t count, room;
    uint64_t numbers; /* that were given */
    bool begun;
    struct pct_dpor_facts facts;
};

enum { THREADS = PCT_SCRIPT_TURN_THREADS };

static uint64_t bit(uint32_t thread)
{
    return UINT64_C(1) << thread;
}

static bool is_turn(const struct node *node)
{
    return node->choice.kind == PCT_SCRIPT_CHOICE_TURN;
}

static uint32_t chosen_thread(const struct node *node)
{
    return node->choice.thread[node->choice.chosen];
}

static void free_node(struct node *node)
{
    for (uint32_t i = 0; i < node->asleep_count; i++)
        free(node->asleep[i].event);
    free(node->asleep);
    free(node->step.event);
    free(node->waits);
    free(node->clock);
}

struct pct_dpor *pct_dpor_new(void)
{
    return calloc(1, sizeof(struct pct_dpor));
}

void pct_dpor_free(struct pct_dpor *d)
{
    if (!d)
        return;
    while (d->count)
        free_node(&d->stack[--d->count]);
    free(d->stack);
    free(d);
}

const struct pct_dpor_facts *pct_dpor_facts(const struct pct_dpor *d)
{
    return &d->facts;
}

/* --- What commutes ------------------------------------------------------------------------------------------------ */

static bool depends_on(const struct step *step, const struct pct_event *event)
{
    if (step->global || event->global)
        return true;
    for (uint32_t i = 0; i < step->count; i++)
        if (pct_events_depend(&step->event[i], event))
            return true;
    return false;
}

static bool depend(const struct step *a, const struct step *b)
{
    if (a->thread == b->thread || a->global || b->global || (a->lets && b->moves) || (a->moves && b->lets))
        return true;
    for (uint32_t i = 0; i < b->count; i++)
        if (depends_on(a, &b->event[i]))
            return true;
    return false;
}

/* There is room. */
static void put_asleep(struct node *node, struct step *step)
{
    node->asleep[node->asleep_count++] = *step;
    step->event = NULL;
}

static uint64_t asleep(const struct node *node)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < node->asleep_count; i++)
        mask |= bit(node->asleep[i].thread);
    return mask;
}

/* --- A run as turns ----------------------------------------------------------------------------------------------- */

struct run {
    const struct pct_script_choice *made;
    uint32_t made_count;
    struct pct_execution x;
    const struct pct_log_entry *log;
    uint32_t *event;           /* by choice: events before it */
    struct pct_event *pending; /* by choice, THREADS each: what is pending there, of turns and their ends */
};

/* Where each choice stands in the log, and what was pending there. */
static bool follow(struct run *run, struct pct_channel *log)
{
    const struct pct_log_entry *entry = pct_channel_log(log);
    struct pct_log_entry last[THREADS] = { { 0 } };
    uint32_t at = 0, picks = 0;
    run->event = calloc(run->made_count + 1, sizeof *run->event);
    run->pending = calloc((size_t)run->made_count * THREADS + 1, sizeof *run->pending);
    if (!run->event || !run->pending)
        return false;
    for (uint32_t i = 0; i < run->made_count; i++) {
        if (run->made[i].kind == PCT_SCRIPT_CHOICE_PLAIN)
            continue;
        for (; at < run->made[i].at && at < log->log_count; at++) {
            picks += entry[at].kind == PCT_LOG_PICK;
            if (entry[at].kind == PCT_LOG_ANNOUNCE && entry[at].thread < THREADS)
                last[entry[at].thread] = entry[at];
        }
        run->event[i] = picks;
        for (uint32_t t = 0; t < THREADS; t++) {
            struct pct_event *event = &run->pending[(size_t)i * THREADS + t];
            *event = (struct pct_event){ .thread = (uint16_t)t, .op = last[t].op };
            pct_event_suppose(event, last[t].key);
            *event = pct_event_open(event);
        }
    }
    return true;
}

/* Whether a thread may have waited in a loop for memory that others write where there is no other order of turns in
 * which it looks behind that: out of a turn of its own, or for what is written out of turn. A run stops it there for
 * good (sched/await.h). */
static bool loops_out_of_turn(const struct run *run, const struct pct_channel *log)
{
    uint8_t pending[THREADS] = { 0 };
    uint32_t next = 0, turn = UINT32_MAX;
    bool loops = false;
    for (uint32_t at = 0; log->assumes >> PCT_ASSUMES_AWAIT & 1 && at < log->log_count; at++) {
        const struct pct_log_entry *entry = &run->log[at];
        for (; next < run->made_count; next++) {
            const struct pct_script_choice *choice = &run->made[next];
            if (choice->kind != PCT_SCRIPT_CHOICE_PLAIN && choice->at > at)
                break;
            if (choice->kind != PCT_SCRIPT_CHOICE_PLAIN)
                turn = choice->kind == PCT_SCRIPT_CHOICE_TURN ? choice->thread[choice->chosen] : UINT32_MAX;
        }
        bool far = entry->thread >= THREADS;
        uint8_t op = far ? PCT_OP_STORE : pending[entry->thread];
        if (entry->kind == PCT_LOG_ANNOUNCE && !far)
            pending[entry->thread] = entry->op;
        bool begins = entry->kind == PCT_LOG_DISABLE && pct_operation_accesses(op);
        bool writes = entry->kind == PCT_LOG_PICK && pct_operation_accesses(op) && pct_operation_gives(op);
        if ((begins || (writes && loops)) && entry->thread != turn)
            return true;
        loops |= begins;
    }
    return false;
}

/* Whether this thread waits at this choice, a turn or their end; able: those that can go on there. */
static bool waits(const struct run *run, uint32_t i, uint32_t thread, uint64_t able)
{
    uint8_t op = run->pending[(size_t)i * THREADS + thread].op;
    return !(able >> thread & 1) && op != PCT_OP_THREAD_FINISH && op != PCT_OP_NONE;
}

/* The turn behind this one, or the end of them; made_count: the run ended before. *whole: no other choice is between.
 */
static uint32_t next_turn(const struct run *run, uint32_t i, bool *whole)
{
    *whole = true;
    for (i++; i < run->made_count && run->made[i].kind == PCT_SCRIPT_CHOICE_PLAIN; i++)
        *whole = false;
    return i;
}

/* Whether this changed who can go on, or may by its deadline, of the threads that no line names: those that did not
 * stand at this choice. */
static bool moves(const struct pct_log_entry *entry, const struct pct_script_choice *choice)
{
    return (entry->kind == PCT_LOG_ENABLE || entry->kind == PCT_LOG_DISABLE || entry->kind == PCT_LOG_NEAR) &&
           (entry->thread >= THREADS || !((choice->list | choice->stand) >> entry->thread & 1));
}

/* What the turn of choice i was. False: no memory. */
static bool take_step(const struct run *run, uint32_t i, struct step *step)
{
    bool whole;
    uint32_t next = next_turn(run, i, &whole), thread = run->made[i].thread[run->made[i].chosen];
    bool cut = next == run->made_count;
    uint32_t from = run->event[i], to = cut ? run->x.count : run->event[next];
    free(step->event);
    *step = (struct step){ .thread = thread, .global = cut || !whole };
    step->event = malloc((to - from + 2) * sizeof *step->event);
    if (!step->event)
        return false;
    for (uint32_t e = from; e < to; e++) {
        const struct pct_event *event = &run->x.event[e];
        step->global |= event->thread != thread || event->global || event->jumped || event->choices;
        step->event[step->count++] = pct_event_open(event);
    }
    for (uint32_t at = run->made[i].at; !cut && at < run->made[next].at; at++)
        step->moves |= moves(&run->log[at], &run->made[next]);
    step->lets = !cut && run->made[next].let != run->made[i].let;
    if (!cut && waits(run, next, thread, run->made[next].able))
        step->event[step->count++] = run->pending[(size_t)next * THREADS + thread];
    return true;
}

static bool take_waits(const struct run *run, uint32_t i, uint64_t list, struct node *node)
{
    free(node->waits);
    node->waits_count = 0;
    node->waits = malloc(THREADS * sizeof *node->waits);
    for (uint32_t t = 0; t < THREADS && node->waits; t++)
        if (list >> t & 1 && waits(run, i, t, node->choice.able))
            node->waits[node->waits_count++] = run->pending[(size_t)i * THREADS + t];
    return node->waits != NULL;
}

/* --- Whom to try where -------------------------------------------------------------------------------------------- */

/* What only the threads that hold it, or that it is, can let this thread go on with: there is no other order. */
static bool is_held(const struct node *node, uint32_t thread)
{
    for (uint32_t i = 0; i < node->waits_count; i++)
        if (node->waits[i].thread == thread) {
            enum pct_op op = (enum pct_op)node->waits[i].op;
            return op == PCT_OP_MUTEX_LOCK || op == PCT_OP_STREAM || op == PCT_OP_SPIN_LOCK ||
                   op == PCT_OP_RWLOCK_RDLOCK || op == PCT_OP_RWLOCK_WRLOCK || op == PCT_OP_THREAD_JOIN;
        }
    return false;
}

/* This thread could have come before the turn of this node; first: at once, as nobody else has to come before it. Where
 * it sleeps and was not tried, earlier runs began with it, and found elsewhere who else is to come before it: so
 * whoever can is tried. */
static void want(struct node *node, const struct node *behind, uint32_t thread, bool first)
{
    bool able = node->choice.able >> thread & 1;
    if (able && (first || !((asleep(node) & ~node->tried) >> thread & 1)))
        node->wanted |= bit(thread);
    else if (able || !(is_held(node, thread) && behind->choice.able >> thread & 1))
        node->wanted |= node->choice.able;
}

/* The turns from `first` on, in the stack; behind `end` there are no more of this interleave so far. */
struct turns {
    struct node *stack;
    uint32_t first, end;
};

/* The node of the turn behind this one, or of their end. */
static const struct node *turn_behind(const struct turns *turns, uint32_t i)
{
    do
        i++;
    while (i < turns->end && turns->stack[i].choice.kind == PCT_SCRIPT_CHOICE_PLAIN);
    return &turns->stack[i];
}

/* Whether, of the turns before place `end` that do not happen behind that of place i, none has to come before what this
 * thread does next at i; by `clock`, that is what it does at `end`. */
static bool comes_first(const struct turns *turns, uint32_t i, uint32_t end, uint32_t thread, bool waits,
                        const uint64_t *clock)
{
    const struct node *stack = turns->stack;
    uint32_t of = stack[i].step.thread, own = i + 1;
    while (own < end && !(is_turn(&stack[own]) && stack[own].step.thread == thread))
        own++;
    if (own < end)
        clock = stack[own].clock;
    else if (waits)
        return false; /* what else there is in its turn is not known yet */
    for (uint32_t j = i + 1; j < own; j++)
        if (is_turn(&stack[j]) && clock[stack[j].step.thread] > j && stack[j].clock[of] <= i)
            return false;
    return true;
}

/* Where what this thread does next, behind the turns up to i, could have come earlier. event: NULL: it is `step`.
 * clock: what happens before it, which is added to. */
static void find_races(const struct turns *turns, uint32_t i, uint32_t thread, const struct step *step,
                       const struct pct_event *event, uint64_t *clock)
{
    for (uint32_t end = i; i-- > turns->first;) {
        struct node *node = &turns->stack[i];
        if (!is_turn(node) || node->step.thread == thread || clock[node->step.thread] > i)
            continue;
        if (step ? !depend(&node->step, step) : !depends_on(&node->step, event))
            continue;
        want(node, turn_behind(turns, i), thread, comes_first(turns, i, end, thread, !step, clock));
        for (uint32_t t = 0; t < THREADS; t++)
            if (clock[t] < node->clock[t])
                clock[t] = node->clock[t];
    }
}

/* What happens before what this thread does behind the turns up to i: its own last one. */
static void begin_clock(const struct turns *turns, uint32_t i, uint32_t thread, uint64_t clock[THREADS])
{
    memset(clock, 0, THREADS * sizeof *clock);
    while (i-- > turns->first) {
        const struct node *node = &turns->stack[i];
        if (!is_turn(node) || node->step.thread != thread)
            continue;
        memcpy(clock, node->clock, THREADS * sizeof *clock);
        return;
    }
}

/* Behind the turns before place i of the stack: those of the threads that wait there, and that of its own. */
static void look_back(const struct turns *turns, uint32_t i, bool has_step)
{
    struct node *node = &turns->stack[i];
    uint64_t clock[THREADS];
    for (uint32_t w = 0; w < node->waits_count; w++) {
        begin_clock(turns, i, node->waits[w].thread, clock);
        find_races(turns, i, node->waits[w].thread, NULL, &node->waits[w], clock);
    }
    if (!has_step)
        return;
    begin_clock(turns, i, node->step.thread, node->clock);
    find_races(turns, i, node->step.thread, &node->step, NULL, node->clock);
    node->clock[node->step.thread] = i + 1;
}

/* --- A run -------------------------------------------------------------------------------------------------------- */

static bool same(const struct pct_script_choice *a, const struct pct_script_choice *b)
{
    return a->of == b->of && a->chosen == b->chosen && a->kind == b->kind && a->list == b->list && a->able == b->able &&
           !memcmp(a->thread, b->thread, sizeof a->thread);
}

/* What is asleep behind the turn before, of this interleave (NULL: there is none), with room for this node's own. */
static bool carry_on(const struct node *before, struct node *node)
{
    uint32_t count = before ? before->asleep_count : 0;
    node->asleep = calloc(count + node->choice.of, sizeof *node->asleep);
    for (uint32_t i = 0; i < count && node->asleep; i++) {
        struct step copy = before->asleep[i];
        if (depend(&copy, &before->step))
            continue;
        copy.event = malloc((copy.count + 1) * sizeof *copy.event);
        if (!copy.event)
            return false;
        memcpy(copy.event, before->asleep[i].event, copy.count * sizeof *copy.event);
        put_asleep(node, &copy);
    }
    return node->asleep != NULL;
}

/* The chosen thread sleeps: from here on the run is like an earlier one. Whether somebody else could go on. */
static bool give_up(struct node *node)
{
    uint64_t others = node->choice.able & ~asleep(node);
    node->wanted = others & (~others + 1);
    return others;
}

static bool has_room(struct pct_dpor *d, uint32_t more)
{
    if (d->room - d->count >= more)
        return true;
    struct node *stack = realloc(d->stack, ((size_t)d->count + more) * sizeof *stack);
    if (stack) {
        d->stack = stack;
        d->room = d->count + more;
    }
    return stack != NULL;
}

/* Put the choices behind those of the stack there, and see what could have come earlier. */
static int take(struct pct_dpor *d, const struct run *run)
{
    uint32_t planned = d->count, before = UINT32_MAX; /* the turn before, of this interleave */
    struct turns turns = { .stack = d->stack };
    for (uint32_t i = 0; i < run->made_count; i++) {
        struct node *node = &d->stack[i];
        if (i >= planned) {
            *node = (struct node){ .choice = run->made[i], .number = ++d->numbers };
            d->count++;
        }
        if (run->made[i].kind == PCT_SCRIPT_CHOICE_PLAIN)
            continue;
        bool turn = is_turn(node), fresh = i >= planned;
        if (before == UINT32_MAX)
            turns.first = i;
        turns.end = i;
        uint64_t list = turn ? node->choice.list : before == UINT32_MAX ? 0 : d->stack[before].choice.list;
        if (fresh) {
            node->clock = turn ? calloc(THREADS, sizeof *node->clock) : NULL;
            if ((turn && !node->clock) || !take_waits(run, i, list, node) ||
                (turn && !carry_on(before != UINT32_MAX ? &d->stack[before] : NULL, node)))
                return -ENOMEM;
            node->wanted = turn ? bit(chosen_thread(node)) : 0;
        }
        bool sleeps = fresh && turn && asleep(node) >> chosen_thread(node) & 1;
        if (turn && !sleeps && i + 1 >= planned && !take_step(run, i, &node->step))
            return -ENOMEM;
        if (i + 1 >= planned)
            look_back(&turns, i, turn && !sleeps);
        if (sleeps) {
            d->facts.redundant++;
            if (!give_up(node))
                free_node(&d->stack[--d->count]);
            return 0;
        }
        before = turn ? i : UINT32_MAX;
    }
    if (before != UINT32_MAX) /* it ended in this turn: what the others were to do is not known */
        d->stack[before].wanted |= d->stack[before].choice.able;
    return 0;
}

int pct_dpor_add(struct pct_dpor *d, struct pct_script_channel *c, const uint64_t *records, uint64_t record_count,
                 bool ended)
{
    struct pct_channel *log = pct_script_log(c);
    struct run run = { .made = pct_script_choices(c), .made_count = c->choices, .log = pct_channel_log(log) };
    if (c->choices < d->count)
        return -EINVAL;
    for (uint32_t i = 0; i < d->count; i++)
        if (!same(&run.made[i], &d->stack[i].choice))
            return -EINVAL;
    int failed = pct_execution_read(&run.x, pct_channel_log(log), log->log_count, records, record_count, ended);
    if (failed)
        return failed;
    d->facts.doubts |= run.x.doubts | log->doubts;
    d->facts.unknown = d->facts.unknown ? d->facts.unknown : run.x.unknown;
    d->facts.pieces |= run.x.pieces;
    d->facts.loops |= loops_out_of_turn(&run, log);
    failed = follow(&run, log) && has_room(d, run.made_count + 1 - d->count) ? take(d, &run) : -ENOMEM;
    pct_execution_free(&run.x);
    free(run.event);
    free(run.pending);
    return failed;
}

/* --- The next way ------------------------------------------------------------------------------------------------- */

/* The way from `from` on that this choice goes next, if these threads sleep; choice.of: none. */
static uint32_t way_behind(const struct node *node, uint32_t from, uint64_t sleep)
{
    uint64_t left = node->wanted & ~sleep;
    while (from < node->choice.of && is_turn(node) && !(left >> node->choice.thread[from] & 1))
        from++;
    return from;
}

/* Another way of the last choice. False: it has gone all. */
static bool turn_to(struct node *node)
{
    if (node->step.event) {
        node->tried |= bit(node->step.thread);
        put_asleep(node, &node->step);
    }
    node->choice.chosen = way_behind(node, is_turn(node) ? 0 : node->choice.chosen + 1, asleep(node));
    return node->choice.chosen < node->choice.of;
}

bool pct_dpor_next(struct pct_dpor *d, struct pct_dpor_way *way)
{
    *way = (struct pct_dpor_way){ 0 };
    if (!d->begun) {
        d->begun = true;
        return true;
    }
    while (d->count && !turn_to(&d->stack[d->count - 1]))
        free_node(&d->stack[--d->count]);
    if (!d->count)
        return false;
    const struct node *last = &d->stack[d->count - 1];
    *way = (struct pct_dpor_way){
        .node = last->number, .count = d->count, .chosen = last->choice.chosen, .avoid = asleep(last)
    };
    return true;
}

void pct_dpor_plan(const struct pct_dpor *d, const struct pct_dpor_way *way,
                   struct pct_script_choice plan[PCT_SCRIPT_CHOICES])
{
    for (uint32_t i = 0; i < way->count; i++)
        plan[i] = d->stack[i].choice;
    if (way->count)
        plan[way->count - 1].chosen = way->chosen;
}

uint32_t pct_dpor_guess(const struct pct_dpor *d, struct pct_dpor_way way[], uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t i = d->count; i-- && count < most;) {
        const struct node *node = &d->stack[i];
        uint32_t chosen = node->choice.chosen;
        uint64_t avoid = is_turn(node) ? asleep(node) : 0;
        do {
            avoid |= is_turn(node) ? bit(node->choice.thread[chosen]) : 0;
            chosen = way_behind(node, is_turn(node) ? 0 : chosen + 1, avoid);
            if (chosen < node->choice.of) {
                way[count] =
                    (struct pct_dpor_way){ .node = node->number, .count = i + 1, .chosen = chosen, .avoid = avoid };
                count++;
            }
        } while (chosen < node->choice.of && count < most);
    }
    return count;
}

bool pct_dpor_may_come(const struct pct_dpor *d, const struct pct_dpor_way *way)
{
    const struct node *node = way->count && way->count <= d->count ? &d->stack[way->count - 1] : NULL;
    if (!node || node->number != way->node)
        return false;
    if (!is_turn(node))
        return way->chosen >= node->choice.chosen;
    return !(asleep(node) & (~way->avoid | bit(node->choice.thread[way->chosen])));
}
