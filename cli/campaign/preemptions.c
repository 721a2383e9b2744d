/* Schedules with few preemptions: see preemptions.h.
 *
 * Each item is a schedule that was found as another way to go on in the run of its parent, behind all switches that
 * this one was told: so each set of choices is found once. */
#include "preemptions.h"
#include <cli/base/grow.h>
#include <cli/base/cli.h>
#include <cli/trace/events.h>
#include <cli/trace/switches.h>
#include <errno.h>
#include <pct/strategy.h>
#include <stdlib.h>
#include <string.h>

/* Choices: the thread has made this many operations; then `value` goes on, or is the waiter that it wakes. */
struct item {
    char *list; /* as text, once it was handed out */
    struct pct_switch *choice;
    uint32_t count, preemptions;
};

struct queue {
    struct item *item;
    size_t count, room, asked; /* the first of them were handed out */
};

struct pct_preemptions {
    struct queue queue[PCT_PREEMPTIONS_MOST + 1]; /* by preemptions */
    size_t taken[PCT_PREEMPTIONS_MOST + 1];       /* of each */
    double likely[PCT_PREEMPTIONS_MOST + 1]; /* schedules, when no more than the run of its parent is known of each */
    struct pct_preemptions_state state;
    unsigned bound;
};

/* A run that is looked at. */
struct run {
    const struct pct_trace *trace;
    const struct item *item;
    uint32_t *number; /* of each record among those of its thread */
    uint64_t *before; /* by thread: the index of its last record so far + 1, 0: it has made none */
    struct pct_events *events;
    bool whole; /* all threads came to their end */
    /* Schedules without a further preemption: the choices up to here; and of each with one here, the share of the
     * choices of the whole run that lie behind it. */
    double choices, behind;
};

static int push(struct pct_preemptions *p, const struct item *parent, struct pct_switch choice, bool preempts)
{
    uint32_t preemptions = parent ? parent->preemptions + preempts : 0, count = parent ? parent->count + 1 : 0;
    if (preemptions > p->bound)
        return 0;
    struct queue *q = &p->queue[preemptions];
    if (!PCT_GROW(q->item, q->count, q->room))
        return -ENOMEM;
    struct item item = { .count = count, .preemptions = preemptions };
    item.choice = malloc((count + 1) * sizeof *item.choice);
    if (!item.choice)
        return -ENOMEM;
    if (parent) {
        memcpy(item.choice, parent->choice, parent->count * sizeof *item.choice);
        item.choice[parent->count] = choice;
    }
    q->item[q->count++] = item;
    return 0;
}

struct pct_preemptions *pct_preemptions_new(unsigned bound)
{
    struct pct_preemptions *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->bound = bound;
    if (!push(p, NULL, (struct pct_switch){ 0 }, false))
        return p;
    free(p);
    return NULL;
}

void pct_preemptions_free(struct pct_preemptions *p)
{
    for (unsigned i = 0; p && i <= PCT_PREEMPTIONS_MOST; i++) {
        for (size_t k = 0; k < p->queue[i].count; k++) {
            free(p->queue[i].item[k].list);
            free(p->queue[i].item[k].choice);
        }
        free(p->queue[i].item);
    }
    free(p);
}

/* The fewest preemptions of a schedule that is still to be taken; bound + 1: there is none. */
static unsigned open_from(const struct pct_preemptions *p)
{
    unsigned i = 0;
    while (i <= p->bound && p->taken[i] == p->queue[i].count)
        i++;
    return i;
}

struct pct_preemptions_state pct_preemptions_look(const struct pct_preemptions *p)
{
    struct pct_preemptions_state state = p->state;
    state.below = open_from(p);
    if (state.below > p->bound)
        return state;
    state.begun = p->queue[state.below].asked;
    state.likely = p->likely[state.below] < 1e18 ? (uint64_t)p->likely[state.below] : UINT64_MAX;
    return state;
}

const char *pct_preemptions_next(struct pct_preemptions *p)
{
    unsigned from = open_from(p);
    /* Those that were handed out, and not taken, may lead to more with as many preemptions: these come first. */
    if (from > p->bound || p->queue[from].asked == p->queue[from].count)
        return NULL;
    struct item *item = &p->queue[from].item[p->queue[from].asked];
    struct pct_switches switches = { .item = item->choice, .count = item->count };
    item->list = pct_switches_format(&switches, NULL);
    if (!item->list)
        return NULL;
    p->queue[from].asked++;
    p->state.asked++;
    return item->list;
}

/* --- What a run shows --------------------------------------------------------------------------------------------- */

static bool same_object(uint64_t a, uint64_t b)
{
    unsigned class_ = pct_name_op_class(PCT_RECORD_OP(a));
    return class_ != PCT_CLASS_NONE && class_ == pct_name_op_class(PCT_RECORD_OP(b)) &&
           PCT_RECORD_OBJECT(a) == PCT_RECORD_OBJECT(b);
}

static bool reads(uint64_t record)
{
    unsigned op = PCT_RECORD_OP(record);
    return op == PCT_OP_LOAD || op == PCT_OP_ATOMIC_LOAD || op == PCT_OP_RWLOCK_RDLOCK || op == PCT_OP_RWLOCK_TRYRDLOCK;
}

/* Whether another thread does something in this run that the operation may not commute with. */
static bool conflicts(const struct run *run, uint64_t record)
{
    for (uint64_t i = 0; i < run->trace->count; i++) {
        uint64_t other = run->trace->records[i];
        if (PCT_RECORD_THREAD(other) != PCT_RECORD_THREAD(record) && same_object(other, record) &&
            !(reads(record) && reads(other)))
            return true;
    }
    return !run->whole;
}

/* Whether somebody has used what the thread waits for since it began to wait: this may have ended the wait. */
static bool may_have_ended(const struct run *run, uint32_t thread, uint64_t at, const struct pct_pending *pending)
{
    uint64_t wanted = PCT_RECORD(thread, pending->op, 0, pending->object);
    for (uint64_t i = run->before[thread]; i <= at; i++)
        if (same_object(run->trace->records[i], wanted))
            return true;
    return false;
}

/* Whether this thread could run behind the record; where the trace does not say, perhaps. */
static bool may_run(const struct run *run, uint32_t thread, uint64_t at)
{
    if (!pct_events_lives(run->events, thread))
        return false;
    struct pct_pending pending = pct_events_pending(run->events, thread);
    if (!pending.known || !pending.blocked)
        return true;
    switch (pending.op) {
    case PCT_OP_COND_WAKE:
    case PCT_OP_BARRIER_LEAVE:
    case PCT_OP_FUTEX_WOKEN:
    case PCT_OP_SIGNAL_WAIT:
        return may_have_ended(run, thread, at, &pending);
    default:
        return false;
    }
}

static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* It has failed a try, which lets others go first by default. */
static bool has_tried(const struct pct_event *event)
{
    return PCT_RECORD_ARG(event->record) == PCT_ARG_BUSY;
}

/* The thread was left though it could go on, or may have been able to: it ends the process, or has failed
 * a try; or what it was about to do is not known, as a crash came before. */
static bool was_passed_over(const struct run *run, const struct pct_event *event)
{
    if (event->next == event->thread)
        return false;
    if (has_tried(event))
        return may_run(run, event->thread, event->index);
    bool cut_off = event->reason == PCT_REASON_NONE && run->trace->header.verdict != PCT_VERDICT_DEADLOCK;
    return cut_off || event->reason == PCT_REASON_PREEMPTED || event->reason == PCT_REASON_EXIT;
}

static bool is_same(uint64_t a, uint64_t b)
{
    return PCT_RECORD_OP(a) == PCT_RECORD_OP(b) && PCT_RECORD_OBJECT(a) == PCT_RECORD_OBJECT(b);
}

/* The thread does the same before or behind its step; where it was cut off, only the former is known. */
static bool does_so_again(const struct run *run, const struct pct_event *event)
{
    struct pct_pending next = pct_events_pending(run->events, event->thread);
    if (next.known)
        return is_same(PCT_RECORD(event->thread, next.op, 0, next.object), event->record);
    uint64_t i = event->index;
    while (i && PCT_RECORD_THREAD(run->trace->records[i - 1]) != event->thread)
        i--;
    return i && is_same(run->trace->records[i - 1], event->record);
}

/* It waits by trying, yielding or looking again and again: there are schedules without end. */
static bool loops(const struct run *run, const struct pct_event *event)
{
    return event->reason == PCT_REASON_YIELDS || event->reason == PCT_REASON_SPINS ||
           (was_passed_over(run, event) && does_so_again(run, event));
}

/* Who else could have gone on behind the record of this event. */
static int branch(struct pct_preemptions *p, struct run *run, const struct pct_event *event)
{
    const uint64_t *records = run->trace->records;
    uint64_t at = event->index;
    bool went_on = event->next == event->thread;
    bool endless = loops(run, event), itself = was_passed_over(run, event);
    uint64_t others = 0;
    int failed = 0;
    if (went_on && (run->item->preemptions == p->bound || !conflicts(run, records[at + 1])))
        return 0;
    for (uint32_t thread = 0; thread < pct_events_threads(run->events) && !failed; thread++) {
        if (thread == event->next || (thread == event->thread && !itself) || !may_run(run, thread, at))
            continue;
        p->state.loops = p->state.loops || endless;
        struct pct_switch choice = { .thread = event->thread, .made = run->number[at], .value = thread };
        failed = endless ? 0 : push(p, run->item, choice, went_on);
        others += !went_on && !endless;
        if (went_on && !endless)
            run->behind += 1 / run->choices;
    }
    run->choices *= (double)(1 + others);
    if (!p->state.taken)
        p->state.orders = multiply(p->state.orders, 1 + others);
    return failed;
}

/* Whom else it could have woken. */
static int branch_wake(struct pct_preemptions *p, const struct run *run, const struct pct_event *event)
{
    int failed = 0;
    for (uint32_t i = 1; i < event->waiters && !failed; i++) {
        struct pct_switch choice = {
            .thread = event->thread, .made = run->number[event->index] - 1, .value = i, .wake = true
        };
        failed = push(p, run->item, choice, false);
    }
    return failed;
}

/* Where choices are made in a run: of record i, first which waiter it wakes, then who goes on behind it. */
#define WAKE_OF(i) (2 * (i) + 1)
#define BEHIND(i) (2 * (i) + 2)

/* Where the last choice of the list was made; further ones come behind it. 0: it has none; UINT64_MAX: the choice was
 * not made, as its thread could not run. */
static uint64_t decided(const struct run *run)
{
    const struct item *item = run->item;
    const struct pct_trace *trace = run->trace;
    if (!item->count)
        return 0;
    const struct pct_switch *last = &item->choice[item->count - 1];
    for (uint64_t i = 0; i < trace->count; i++) {
        uint64_t record = trace->records[i];
        if (PCT_RECORD_THREAD(record) != last->thread || run->number[i] != last->made + last->wake)
            continue;
        bool made = last->wake ? PCT_RECORD_ARG(record) == last->value
                               : i + 1 < trace->count && PCT_RECORD_THREAD(trace->records[i + 1]) == last->value;
        return !made ? UINT64_MAX : last->wake ? WAKE_OF(i) : BEHIND(i);
    }
    return UINT64_MAX;
}

static int expand(struct pct_preemptions *p, struct run *run)
{
    struct pct_event event;
    uint64_t last = decided(run);
    int failed = 0;
    if (!p->state.taken)
        p->state.orders = 1;
    p->state.repeated += last == UINT64_MAX;
    while (!failed && last != UINT64_MAX && pct_events_next(run->events, &event)) {
        run->before[event.thread] = event.index + 1;
        bool own = run->number[event.index], goes_on = event.index + 1 < run->trace->count;
        if (own && WAKE_OF(event.index) > last)
            failed = branch_wake(p, run, &event);
        if (!failed && own && goes_on && BEHIND(event.index) > last)
            failed = branch(p, run, &event);
    }
    if (run->item->preemptions < p->bound)
        p->likely[run->item->preemptions + 1] += run->choices * run->behind;
    return failed;
}

static bool is_whole(const struct pct_trace *trace)
{
    uint8_t open[PCT_MAX_THREADS + 1] = { 1 };
    unsigned count = 1;
    for (uint64_t i = 0; i < trace->count; i++) {
        uint64_t record = trace->records[i];
        unsigned op = PCT_RECORD_OP(record);
        uint32_t thread = op == PCT_OP_THREAD_CREATE ? PCT_RECORD_OBJECT(record) : PCT_RECORD_THREAD(record);
        bool ends = op == PCT_OP_THREAD_FINISH || op == PCT_OP_EXIT_NOW;
        count = count + !ends - open[thread <= PCT_MAX_THREADS ? thread : 0];
        open[thread <= PCT_MAX_THREADS ? thread : 0] = !ends;
    }
    return !count;
}

static int take(struct pct_preemptions *p, const struct item *item, const struct pct_trace *trace)
{
    static const struct pct_snapshot none;
    struct run run = { .trace = trace, .item = item, .whole = is_whole(trace), .choices = 1 };
    run.number = pct_switches_number(trace);
    run.before = calloc(PCT_MAX_THREADS + 1, sizeof *run.before);
    run.events = pct_events_open(trace, &none);
    int failed = run.number && run.before && run.events ? expand(p, &run) : -ENOMEM;
    pct_events_close(run.events);
    free(run.number);
    free(run.before);
    return failed;
}

int pct_preemptions_take(struct pct_preemptions *p, const struct pct_trace *trace)
{
    unsigned from = open_from(p);
    const struct item item = p->queue[from].item[p->taken[from]]; /* a copy: the queue may move */
    int failed = trace ? take(p, &item, trace) : 0;
    p->taken[from]++;
    p->state.taken++;
    return failed;
}
