/* Ordering constraints of a run: see orders.h.
 *
 * The run is read as a partial order: program order, starts and ends of threads, and pairs of dependent operations. A
 * vector clock for each thread tells what follows from the pairs taken so far, so that only those remain that say
 * something new. Acquisitions stand for the critical sections that they begin: `unlock before lock` could not be turned
 * round, one section before the other can. A section in which a condition is waited for ends with its last release. */
#include "orders.h"
#include <cli/base/cli.h>
#include "switches.h"
#include "alternative_wakes.h"
#include <errno.h>
#include <pct/strategy.h>
#include <stdlib.h>
#include <string.h>

enum {
    BACK = 1024, /* uses of an object that are compared with the next one */
    LATER = 64   /* operations that a thread would have made next */
};

/* What an operation does to its object, as far as others are concerned. */
enum effect {
    NOTHING,
    CHANGES, /* depends on all but what does nothing */
    READS,   /* not on others that read */
    ACQUIRES,
    TRIES,    /* an acquisition that fails while somebody holds the object */
    RELEASES, /* not on acquisitions, which wait for it anyway, nor on other releases */
};

static enum effect effect_of(unsigned op)
{
    switch (op) {
    case PCT_OP_MUTEX_LOCK:
    case PCT_OP_RWLOCK_WRLOCK:
    case PCT_OP_SPIN_LOCK:
    case PCT_OP_SEM_WAIT:
    case PCT_OP_ONCE:
    case PCT_OP_GUARD_ACQUIRE:
    case PCT_OP_FILE_LOCK:
        return ACQUIRES;
    case PCT_OP_MUTEX_TRYLOCK:
    case PCT_OP_RWLOCK_TRYWRLOCK:
    case PCT_OP_RWLOCK_TRYRDLOCK:
    case PCT_OP_SPIN_TRYLOCK:
    case PCT_OP_SEM_TRYWAIT:
        return TRIES;
    case PCT_OP_RWLOCK_RDLOCK:
    case PCT_OP_STREAM: /* it does not keep the lock */
    case PCT_OP_LOAD:
    case PCT_OP_ATOMIC_LOAD:
        return READS;
    case PCT_OP_MUTEX_UNLOCK:
    case PCT_OP_RWLOCK_UNLOCK:
    case PCT_OP_SPIN_UNLOCK:
    case PCT_OP_SEM_POST:
    case PCT_OP_ONCE_DONE:
    case PCT_OP_GUARD_RELEASE:
    case PCT_OP_FILE_UNLOCK:
        return RELEASES;
    case PCT_OP_COND_WAKE:
    case PCT_OP_BARRIER_LEAVE:
    case PCT_OP_FUTEX_WOKEN:
        return NOTHING;
    }
    unsigned class_ = pct_name_op_class(op);
    return class_ == PCT_CLASS_NONE || class_ == PCT_CLASS_THREAD ? NOTHING : CHANGES;
}

bool pct_orders_releases(unsigned op)
{
    return effect_of(op) == RELEASES;
}

static bool depend(enum effect a, enum effect b)
{
    if (a == NOTHING || b == NOTHING || (a == READS && b == READS))
        return false;
    if (a == RELEASES || b == RELEASES) {
        enum effect other = a == RELEASES ? b : a;
        return other == CHANGES || other == TRIES;
    }
    return true;
}

/* An operation of a thread on an object, in the order of the trace. */
struct use {
    struct pct_event event;
    enum effect effect;
    uint32_t previous; /* the use of the same object before it, plus 1 */
    uint32_t other;    /* likewise, by another thread */
};

struct reader {
    struct pct_orders *orders;
    const struct pct_trace *trace;
    uint32_t *number; /* by record */
    uint32_t *made;   /* by thread: its operations so far */
    uint32_t *counts; /* by thread and kind of operation, likewise */
    struct use *uses;
    size_t use_count;
    uint32_t *last[2]; /* by object, numbered ones and descriptors: the last use, plus 1 */
    uint32_t objects[2];
    uint32_t threads;
    struct pct_event *ends; /* by thread: what it did last */
    struct pct_event exit;  /* the end of the process; number 0: not yet */
    uint32_t *clocks;       /* by thread, a row each: up to which operation of each other it is known to come behind */
    uint32_t *stamps;       /* the rows at each use: what a pair with it brings */
    uint32_t *held;         /* by thread: the mutex that it locked last, which a condition wait gives up */
    struct pct_alternative_wakes wakes;
    size_t woken; /* of these, this many have been come to */
};

static uint32_t *row(uint32_t *rows, const struct reader *r, size_t i)
{
    return rows + i * r->threads;
}

static void join(const struct reader *r, uint32_t *into, const uint32_t *from)
{
    for (uint32_t t = 0; t < r->threads; t++)
        if (from[t] > into[t])
            into[t] = from[t];
}

static void append(struct pct_orders *orders, const struct pct_event *first, const struct pct_event *then)
{
    /* The first of the last ones stands where the next will. */
    orders->item[(orders->left_out + orders->count) % PCT_ORDERS_MOST] = (struct pct_order){ *first, *then, false };
    if (orders->count < PCT_ORDERS_MOST)
        orders->count++;
    else
        orders->left_out++;
}

/* This use comes behind those that it depends on; what that says anew is an order. The latest first: it brings most. */
static void add_orders(struct reader *r, struct use *use, uint32_t from)
{
    uint32_t *clock = row(r->clocks, r, use->event.thread);
    unsigned back = 0;
    /* Of an object that all use all the time, the last uses say it. */
    for (uint32_t at = from, next; at && back < BACK; at = next, back++) {
        const struct use *before = &r->uses[at - 1];
        /* Behind what a thread did, this use is behind all that the thread did before. */
        next = before->other;
        if (before->event.thread == use->event.thread || clock[before->event.thread] >= before->event.number)
            continue;
        next = before->previous;
        if (!depend(before->effect, use->effect))
            continue;
        append(r->orders, &before->event, &use->event);
        join(r, clock, row(r->stamps, r, at - 1));
    }
}

static void add_use(struct reader *r, const struct pct_event *event, enum effect effect, uint32_t object)
{
    unsigned which = pct_name_op_class(event->op) == PCT_CLASS_FD;
    if (effect == NOTHING || !object || object > r->objects[which])
        return;
    struct use *use = &r->uses[r->use_count];
    *use = (struct use){ .event = *event, .effect = effect, .previous = r->last[which][object] };
    use->event.object = object;
    if (use->previous) {
        const struct use *previous = &r->uses[use->previous - 1];
        use->other = previous->event.thread == event->thread ? previous->other : use->previous;
    }
    add_orders(r, use, use->previous);
    if (event->step >= PCT_STEP_LATER)
        return; /* nothing comes behind it */
    memcpy(row(r->stamps, r, r->use_count), row(r->clocks, r, event->thread), r->threads * sizeof *r->stamps);
    r->last[which][object] = (uint32_t)++r->use_count;
}

static void add_order(struct reader *r, const struct pct_event *first, const struct pct_event *then)
{
    uint32_t *clock = row(r->clocks, r, then->thread);
    if (clock[first->thread] >= first->number)
        return;
    append(r->orders, first, then);
    clock[first->thread] = first->number;
}

/* The end of the process, against what each other thread did last before it. */
static void add_exit(struct reader *r, const struct pct_event *exit)
{
    for (uint32_t t = 0; t < r->threads; t++)
        if (t != exit->thread && r->ends[t].number)
            add_order(r, &r->ends[t], exit);
}

/* The thread makes this operation: its place among the thread's own. */
static struct pct_event make_event(struct reader *r, uint32_t thread, unsigned op, uint32_t object, uint64_t step)
{
    return (struct pct_event){ .thread = thread,
                               .number = ++r->made[thread],
                               .op = op,
                               .count = ++r->counts[thread * PCT_OP_COUNT + op],
                               .object = object,
                               .step = step };
}

/* The uses that an operation is. */
static void add_event(struct reader *r, const struct pct_event *event)
{
    uint32_t thread = event->thread, object = event->object;
    uint32_t *clock = row(r->clocks, r, thread);
    if (event->op == PCT_OP_THREAD_JOIN && object < r->threads)
        join(r, clock, row(r->clocks, r, object));
    clock[thread] = event->number;
    if (event->op == PCT_OP_THREAD_CREATE && object < r->threads)
        join(r, row(r->clocks, r, object), clock);
    add_use(r, event, effect_of(event->op), object);
    if (event->op == PCT_OP_MUTEX_LOCK || event->op == PCT_OP_MUTEX_TRYLOCK)
        r->held[thread] = object;
    if (event->op == PCT_OP_COND_WAIT) /* gives its mutex up; a trylock sees that */
        add_use(r, event, RELEASES, r->held[thread]);
    if (event->op == PCT_OP_COND_WAKE)
        add_use(r, event, ACQUIRES, r->held[thread]);
    if (event->op == PCT_OP_EXIT)
        add_exit(r, event);
    /* The end of the process is against what was done, and what is done after it against the end. */
    if (event->step < PCT_STEP_LATER) {
        if (r->exit.number && r->exit.thread != thread)
            add_order(r, &r->exit, event);
        r->ends[thread] = *event;
    }
    if (event->op == PCT_OP_EXIT && event->step < PCT_STEP_LATER)
        r->exit = *event;
}

/* The end of the wait of a thread that a signal has just woken. */
static struct pct_event wake_of(const struct reader *r, uint32_t thread, const struct pct_event *signal)
{
    struct pct_event event = { .thread = thread,
                               .number = r->made[thread] + 1,
                               .op = PCT_OP_COND_WAKE,
                               .count = r->counts[thread * PCT_OP_COUNT + PCT_OP_COND_WAKE] + 1,
                               .object = signal->object,
                               .step = PCT_STEP_PENDING };
    for (uint64_t i = signal->step + 1; i < r->trace->count; i++)
        if (PCT_RECORD_THREAD(r->trace->records[i]) == thread && r->number[i]) {
            event.step = i;
            break;
        }
    return event;
}

/* The last wakes stand behind the orders that there can be. */
static void add_wake(struct reader *r, const struct pct_event *signal)
{
    if (r->woken >= r->wakes.count || r->wakes.item[r->woken].step != signal->step)
        return;
    uint32_t thread = r->wakes.item[r->woken++].woken;
    if (r->wakes.count - r->woken < PCT_ORDERS_MOST && thread < r->threads)
        r->orders->item[PCT_ORDERS_MOST + r->orders->wakes++] =
            (struct pct_order){ *signal, wake_of(r, thread, signal), true };
}

static void read_record(struct reader *r, uint64_t i)
{
    uint64_t record = r->trace->records[i];
    if (!r->number[i])
        return;
    struct pct_event event =
        make_event(r, PCT_RECORD_THREAD(record), PCT_RECORD_OP(record), PCT_RECORD_OBJECT(record), i);
    add_event(r, &event);
    add_wake(r, &event);
}

/* What blocked threads were about to do. */
static void read_pending(struct reader *r, const struct pct_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->thread_count; i++) {
        const struct pct_snap_thread *thread = &snapshot->threads[i];
        if (thread->state != PCT_SNAP_BLOCKED || thread->id >= r->threads || thread->op == PCT_OP_COND_WAIT ||
            thread->op >= PCT_OP_COUNT)
            continue;
        struct pct_event event = make_event(r, thread->id, thread->op, thread->object, PCT_STEP_PENDING);
        add_use(r, &event, effect_of(event.op), event.object);
    }
}

/* The address of an object, by its first step with one; 0: not known. */
static uint64_t address_of(const struct pct_run_view *view, uint64_t step)
{
    const struct pct_site *site = pct_snapshot_site(view->snapshot, step);
    return site ? site->object : 0;
}

/* The object of the failing run that is at this address: its number. */
static uint32_t same_object(const struct pct_run_view *failing, unsigned class_, uint64_t address)
{
    const struct pct_trace *trace = failing->trace;
    for (uint64_t i = 0; address && i < trace->count; i++)
        if (pct_name_op_class(PCT_RECORD_OP(trace->records[i])) == class_ && address_of(failing, i) == address)
            return PCT_RECORD_OBJECT(trace->records[i]);
    return 0;
}

/* Whether this thread begins in the other run with all that it did in this one. */
static bool goes_the_same_way(const struct reader *r, const struct pct_trace *other, uint32_t thread)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < r->trace->count; i++) {
        if (PCT_RECORD_THREAD(r->trace->records[i]) != thread || !r->number[i])
            continue;
        while (at < other->count &&
               (PCT_RECORD_THREAD(other->records[at]) != thread || PCT_RECORD_OP(other->records[at]) == PCT_OP_OUTSIDE))
            at++;
        if (at == other->count || PCT_RECORD_OP(other->records[at]) != PCT_RECORD_OP(r->trace->records[i]))
            return false;
        at++;
    }
    return true;
}

/* What this thread would have done next. */
static void read_later(struct reader *r, const struct pct_run_view *failing, const struct pct_run_view *passing,
                       uint32_t thread)
{
    const struct pct_trace *trace = passing->trace;
    if (!goes_the_same_way(r, trace, thread))
        return;
    uint32_t passed = 0, made = r->made[thread];
    for (uint64_t i = 0; i < trace->count && passed < made + LATER; i++) {
        uint64_t record = trace->records[i];
        unsigned op = PCT_RECORD_OP(record), class_ = pct_name_op_class(op);
        if (PCT_RECORD_THREAD(record) != thread || op == PCT_OP_OUTSIDE || ++passed <= made)
            continue;
        uint32_t object = class_ == PCT_CLASS_THREAD || class_ == PCT_CLASS_FD
                              ? PCT_RECORD_OBJECT(record)
                              : same_object(failing, class_, address_of(passing, i));
        struct pct_event event = make_event(r, thread, op, object, PCT_STEP_LATER);
        /* What others will have done by the time that it joins them is not known here. */
        if (op == PCT_OP_THREAD_JOIN || op == PCT_OP_THREAD_CREATE)
            continue;
        add_event(r, &event);
    }
}

static void measure(struct reader *r, const struct pct_trace *trace)
{
    r->threads = trace->header.threads;
    for (uint64_t i = 0; i < trace->count; i++) {
        uint64_t record = trace->records[i];
        unsigned which = pct_name_op_class(PCT_RECORD_OP(record)) == PCT_CLASS_FD;
        if (PCT_RECORD_OBJECT(record) > r->objects[which] && !PCT_RECORD_HAS_TIME(record))
            r->objects[which] = PCT_RECORD_OBJECT(record);
        if (PCT_RECORD_THREAD(record) >= r->threads)
            r->threads = PCT_RECORD_THREAD(record) + 1;
    }
}

/* The release of what an operation acquires: the last one before `until`, for a section in which a condition is waited
 * for is left and entered again. */
static void find_end(const struct pct_trace *trace, struct pct_event *event, uint64_t until)
{
    unsigned op = event->op, end = PCT_OP_NONE;
    bool mutex = op == PCT_OP_MUTEX_LOCK || op == PCT_OP_MUTEX_TRYLOCK || op == PCT_OP_COND_WAKE;
    if (mutex)
        end = PCT_OP_MUTEX_UNLOCK;
    else if (op == PCT_OP_SPIN_LOCK || op == PCT_OP_SPIN_TRYLOCK)
        end = PCT_OP_SPIN_UNLOCK;
    else if (op >= PCT_OP_RWLOCK_RDLOCK && op <= PCT_OP_RWLOCK_TRYWRLOCK)
        end = PCT_OP_RWLOCK_UNLOCK;
    if (end == PCT_OP_NONE || event->step >= PCT_STEP_LATER ||
        PCT_RECORD_ARG(trace->records[event->step]) == PCT_ARG_BUSY)
        return;
    uint32_t ends = 0, waits = 0, held = event->object;
    for (uint64_t i = 0; i < trace->count && i < until; i++) {
        uint64_t record = trace->records[i];
        if (PCT_RECORD_THREAD(record) != event->thread)
            continue;
        ends += PCT_RECORD_OP(record) == end;
        waits += PCT_RECORD_OP(record) == PCT_OP_COND_WAIT;
        if (i <= event->step)
            continue;
        /* A condition wait gives up the mutex that was locked last; not one that was refused (EPERM). */
        if (PCT_RECORD_OP(record) == PCT_OP_MUTEX_LOCK)
            held = PCT_RECORD_OBJECT(record);
        if (PCT_RECORD_OP(record) == end && PCT_RECORD_OBJECT(record) == event->object) {
            event->end = end;
            event->end_count = ends;
            return;
        }
        if (mutex && PCT_RECORD_OP(record) == PCT_OP_COND_WAIT && PCT_RECORD_ARG(record) != PCT_ARG_ERROR &&
            held == event->object) {
            event->end = PCT_OP_COND_WAIT;
            event->end_count = waits;
        }
    }
}

/* The orders in the order of the trace, the wakes right behind them. */
static bool straighten(struct pct_orders *orders)
{
    size_t count = orders->count, from = orders->left_out % PCT_ORDERS_MOST;
    struct pct_order *item = calloc(count + orders->wakes + 1, sizeof *item);
    if (!item)
        return false;
    for (size_t i = 0; i < count; i++)
        item[i] = orders->item[(from + i) % PCT_ORDERS_MOST];
    memcpy(item + count, orders->item + PCT_ORDERS_MOST, orders->wakes * sizeof *item);
    free(orders->item);
    orders->item = item;
    return true;
}

int pct_orders_from_trace(struct pct_orders *orders, const struct pct_run_view *failing,
                          const struct pct_run_view *passing)
{
    const struct pct_trace *trace = failing->trace;
    struct reader r = { .orders = orders, .trace = trace };
    measure(&r, trace);
    size_t uses = 2 * trace->count + failing->snapshot->thread_count + (passing ? 2 * passing->trace->count : 0) + 1;
    size_t threads = r.threads;
    *orders = (struct pct_orders){ .item = calloc(2 * (size_t)PCT_ORDERS_MOST, sizeof *orders->item) };
    r.number = pct_switches_number(trace);
    r.made = calloc(threads, sizeof *r.made);
    r.counts = calloc(threads * PCT_OP_COUNT, sizeof *r.counts);
    r.uses = calloc(uses, sizeof *r.uses);
    r.clocks = calloc(threads * threads, sizeof *r.clocks);
    r.stamps = calloc(uses * threads, sizeof *r.stamps);
    r.held = calloc(threads, sizeof *r.held);
    r.ends = calloc(threads, sizeof *r.ends);
    for (unsigned which = 0; which < 2; which++)
        r.last[which] = calloc((size_t)r.objects[which] + 1, sizeof **r.last);
    bool fine = r.number && r.made && r.counts && orders->item && r.uses && r.clocks && r.stamps && r.held && r.ends &&
                r.last[0] && r.last[1] && !pct_alternative_wakes_from_trace(&r.wakes, trace);
    for (uint64_t i = 0; fine && i < trace->count; i++)
        read_record(&r, i);
    if (fine)
        read_pending(&r, failing->snapshot);
    for (uint32_t t = 0; fine && passing && t < threads; t++)
        if (t != trace->header.culprit)
            read_later(&r, failing, passing, t);
    fine = fine && straighten(orders);
    for (size_t i = 0; fine && i < orders->count; i++) {
        find_end(trace, &orders->item[i].first, orders->item[i].then.step);
        find_end(trace, &orders->item[i].then, trace->count);
    }
    free(r.number);
    free(r.made);
    free(r.counts);
    free(r.uses);
    free(r.clocks);
    free(r.stamps);
    free(r.held);
    free(r.ends);
    free(r.last[0]);
    free(r.last[1]);
    pct_alternative_wakes_free(&r.wakes);
    if (!fine)
        pct_orders_free(orders);
    return fine ? 0 : -ENOMEM;
}

void pct_orders_free(struct pct_orders *orders)
{
    free(orders->item);
    *orders = (struct pct_orders){ 0 };
}

char *pct_orders_format(const struct pct_orders *orders, const bool *keep, size_t negated)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    const char *between = "";
    for (size_t i = 0; i < orders->count; i++) {
        if (!keep[i])
            continue;
        const struct pct_event *first = &orders->item[i].first, *then = &orders->item[i].then;
        if (orders->item[i].wake) {
            fprintf(out, "%s%u.%ux%u.%c%u", between, first->thread, first->op, first->count, i == negated ? 'n' : 'w',
                    then->thread);
            between = "-";
            continue;
        }
        const struct pct_event *a = i == negated ? then : first, *b = i == negated ? first : then;
        fprintf(out, "%s%u.%ux%u.%u.%ux%u", between, a->thread, a->end ? a->end : a->op,
                a->end ? a->end_count : a->count, b->thread, b->op, b->count);
        between = "-";
    }
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

/* The index of the record that is this operation, or its end; trace->count: it never came. */
static uint64_t find(const struct pct_trace *trace, const struct pct_event *event, bool end)
{
    uint32_t op = end && event->end ? event->end : event->op;
    uint32_t left = end && event->end ? event->end_count : event->count;
    uint64_t i = 0;
    for (; i < trace->count; i++)
        if (PCT_RECORD_THREAD(trace->records[i]) == event->thread && PCT_RECORD_OP(trace->records[i]) == op && !--left)
            break;
    return i;
}

bool pct_orders_event(struct pct_event *event, const struct pct_trace *trace, uint32_t thread, uint32_t number)
{
    uint32_t made = 0, counts[PCT_OP_COUNT] = { 0 };
    for (uint64_t i = 0; i < trace->count; i++) {
        uint64_t record = trace->records[i];
        unsigned op = PCT_RECORD_OP(record);
        if (PCT_RECORD_THREAD(record) != thread || op == PCT_OP_OUTSIDE || op >= PCT_OP_COUNT)
            continue;
        counts[op]++;
        if (++made < number)
            continue;
        *event = (struct pct_event){ .thread = thread,
                                     .number = number,
                                     .op = op,
                                     .count = counts[op],
                                     .object = PCT_RECORD_OBJECT(record),
                                     .step = i };
        find_end(trace, event, trace->count);
        return number;
    }
    return false;
}

bool pct_orders_find(struct pct_event *event, const struct pct_trace *trace)
{
    uint64_t at = find(trace, event, false);
    uint32_t number = 0;
    if (at == trace->count)
        return false;
    for (uint64_t i = 0; i <= at; i++)
        number +=
            PCT_RECORD_THREAD(trace->records[i]) == event->thread && PCT_RECORD_OP(trace->records[i]) != PCT_OP_OUTSIDE;
    event->number = number;
    event->object = PCT_RECORD_OBJECT(trace->records[at]);
    event->step = at;
    return true;
}

/* Likewise, of the wakes. Where there is no memory to see it, it counts as broken: such a run says nothing. */
static bool breaks_wakes(const struct pct_orders *orders, const bool *keep, size_t negated,
                         const struct pct_trace *trace)
{
    struct pct_alternative_wakes wakes;
    if (pct_alternative_wakes_from_trace(&wakes, trace))
        return true;
    bool broken = false;
    for (size_t i = 0; i < orders->count && !broken; i++) {
        const struct pct_order *order = &orders->item[i];
        uint64_t signal = keep[i] && order->wake ? find(trace, &order->first, false) : trace->count;
        uint32_t woken = signal < trace->count ? pct_alternative_wakes_find(&wakes, signal) : PCT_NO_THREAD;
        broken = woken != PCT_NO_THREAD && (woken == order->then.thread) == (i == negated);
    }
    pct_alternative_wakes_free(&wakes);
    return broken;
}

bool pct_orders_broken(const struct pct_orders *orders, const bool *keep, size_t negated, const struct pct_trace *trace)
{
    bool wakes = false;
    for (size_t i = 0; i < orders->count; i++) {
        const struct pct_order *order = &orders->item[i];
        if (!keep[i])
            continue;
        if (order->wake) {
            wakes = true;
            continue;
        }
        uint64_t first = find(trace, i == negated ? &order->then : &order->first, true);
        uint64_t then = find(trace, i == negated ? &order->first : &order->then, false);
        if (then < first && first < trace->count)
            return true;
    }
    return wakes && breaks_wakes(orders, keep, negated, trace);
}

bool pct_orders_merge(struct pct_order *into, const struct pct_order *other, const struct pct_trace *trace)
{
    if (into->first.thread != other->first.thread || into->then.thread != other->then.thread || into->wake ||
        other->wake)
        return false;
    uint64_t one = find(trace, &into->first, true), two = find(trace, &other->first, true);
    const struct pct_event *first = one >= two ? &into->first : &other->first,
                           *then = into->then.number <= other->then.number ? &into->then : &other->then;
    if ((one >= two ? one : two) >= then->step)
        return false;
    *into = (struct pct_order){ *first, *then, false };
    return true;
}
