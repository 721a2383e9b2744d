/* Which events of a run could have come the other way round: see order.h.
 *
 * Two events are in a race if they do not commute, and nothing else orders them: then there is a run in which the
 * second comes without the first. Exceptions:
 *
 *  - Who waits for a lock or a semaphore races not with who gave it back, which enabled it, but with who took it
 *    before. So events that the second could not have come before are passed over, and what happens before them is
 *    looked at as well.
 *  - What a thread waited for at the end (a deadlock), or had not come to (a crash), is as good as an event behind the
 *    last.
 *  - Whose deadline has come before it, and who gets all the same what it waited for, no longer waits: it is as a try,
 *    and in a race with who gave that back.
 *  - A deadline that could have come early and did not, because something else ended the wait, counts as an event in
 *    the place where it last could have; but it cannot come where what it waits for is there anyway.
 *  - If another thread holds the lock by then, too, having taken it among the events that are kept, that one goes as
 *    well. */
#include "arrivals.h"
#include "clocks.h"
#include "dependence.h"
#include "touches.h"
#include <pct/operations.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct finder {
    const struct pct_order *o;
    struct pct_event *sequence; /* the events that are kept, and the last */
    uint32_t *kept;             /* which these are; from the end on, those that were dropped */
    uint32_t count, dropped;
    uint32_t *clock; /* what the second of a race had to come behind */
    bool *waits;     /* by thread: for somebody_waits() */
    pct_take_reversal *take;
    void *context;
    uint32_t ended;      /* plus 1: what this event happens before is not kept; 0: none */
    uint64_t timed;      /* uses_of() what any thread waits for with a deadline that may come early */
    enum pct_rest known; /* behind the second event of a race */
    const bool *again;   /* by event */
    bool at_end;
};

static bool is_kept(const struct finder *f, uint32_t i, uint32_t k)
{
    const uint32_t *clock = clock_of(f->o, k), *dropped = &f->kept[f->o->x->count];
    bool kept = !knows(clock, &f->o->x->event[i]) && (!f->ended || !knows(clock, &f->o->x->event[f->ended - 1]));
    for (uint32_t n = 0; n < f->dropped && kept; n++)
        kept = !knows(clock, &f->o->x->event[dropped[-(int)n]]);
    return kept;
}

/* The events behind i, up to j, that it does not happen before, nor one of those that were dropped. */
static void keep_events(struct finder *f, uint32_t i, uint32_t j)
{
    f->count = 0;
    for (uint32_t k = i + 1; k < j; k++)
        if (is_kept(f, i, k))
            f->kept[f->count++] = k;
}

/* Of these, that event and what it happens before go, too. */
static void drop_events(struct finder *f, uint32_t i, uint32_t j, uint32_t other)
{
    f->kept[f->o->x->count - f->dropped++] = other;
    keep_events(f, i, j);
}

/* A lock or a semaphore, as other threads than this one leave it, and as this one does. */
struct holding {
    uint64_t key;
    uint32_t thread;
    int32_t taken, shared, own_taken, own_shared;
    uint32_t holder; /* the event of another thread that took it last, plus 1 */
};

static void follow(struct holding *h, const struct pct_execution *x, uint32_t index)
{
    const struct pct_event *event = &x->event[index];
    const struct pct_touch *t = pct_event_find_touch(event, h->key);
    if (!t)
        return;
    bool own = event->thread == h->thread;
    *(own ? &h->own_taken : &h->taken) += (t->use == PCT_USE_TAKES) - (t->use == PCT_USE_GIVES);
    *(own ? &h->own_shared : &h->shared) += (t->use == PCT_USE_SHARES) - (t->use == PCT_USE_PARTS);
    if (event->op == PCT_OP_THREAD_FINISH) /* however often it had a robust mutex */
        *(own ? &h->own_taken : &h->taken) = 0;
    if (own)
        return;
    if (t->use == PCT_USE_TAKES || t->use == PCT_USE_SHARES || t->use == PCT_USE_DOWN)
        h->holder = index + 1;
}

/* Whether the touch tells how the semaphore's count goes on: *change. A deadline leaves it. */
static bool counts_on(const struct pct_event *event, const struct pct_touch *t, int64_t *change)
{
    *change = (t->use == PCT_USE_UP) - (t->use == PCT_USE_DOWN);
    return t->use == PCT_USE_UP || t->use == PCT_USE_DOWN || t->use == PCT_USE_EMPTY || event->op == PCT_OP_DEADLINE;
}

/* What the semaphore counts before event i: events before it tell, or those behind it. False: it is not known. */
static bool count_before(const struct pct_execution *x, uint64_t key, uint32_t i, int64_t *count)
{
    bool known = false;
    int64_t change, since = 0;
    for (uint32_t k = 0; k < i; k++) {
        const struct pct_touch *t = pct_event_find_touch(&x->event[k], key);
        if (!t)
            continue;
        if (t->counted)
            *count = t->before;
        known = counts_on(&x->event[k], t, &change) && (known || t->counted);
        *count += change;
    }
    for (uint32_t k = i; k < x->count && !known; k++) {
        const struct pct_touch *t = pct_event_find_touch(&x->event[k], key);
        if (!t)
            continue;
        if (t->counted)
            *count = (int64_t)t->before - since;
        known = t->counted;
        if (!counts_on(&x->event[k], t, &change))
            break;
        since += change;
    }
    return known;
}

/* The same behind the kept ones. */
static bool count_there(const struct finder *f, uint64_t key, uint32_t i, int64_t *count)
{
    bool known = count_before(f->o->x, key, i, count);
    for (uint32_t k = 0; k < f->count && known; k++) {
        const struct pct_event *event = &f->o->x->event[f->kept[k]];
        const struct pct_touch *t = pct_event_find_touch(event, key);
        int64_t change = 0;
        known = !t || counts_on(event, t, &change);
        *count += change;
    }
    return known;
}

/* Who has a lock already waits for itself, unless it is one that may be taken again: then the run shows that. */
static bool is_in_own_way(const struct pct_execution *x, const struct pct_event *event, const struct holding *h,
                          bool shares)
{
    if (h->own_taken <= 0 && (shares || h->own_shared <= 0))
        return false;
    for (uint32_t k = 0; k < x->count; k++) {
        const struct pct_touch *t = pct_event_find_touch(&x->event[k], h->key);
        if (x->event[k].thread == event->thread && x->event[k].number == event->number)
            return !t || (t->use != PCT_USE_TAKES && t->use != PCT_USE_SHARES && t->use != PCT_USE_PASSES);
    }
    return true;
}

/* Whether the event could be made in the place of event i, behind the kept ones, if it takes what its touch says.
 * *holder: who is in the way, among the kept ones; i: none. */
static bool could_take(const struct finder *f, const struct pct_event *event, const struct pct_touch *wanted,
                       uint32_t i, uint32_t *holder)
{
    const struct pct_execution *x = f->o->x;
    struct holding h = { .key = wanted->key, .thread = event->thread };
    bool sem = wanted->use == PCT_USE_DOWN;
    int64_t count = 0;
    for (uint32_t k = 0; k < i && !sem; k++)
        follow(&h, x, k);
    h.holder = 0;
    for (uint32_t k = 0; k < f->count; k++)
        follow(&h, x, f->kept[k]);
    *holder = h.holder ? h.holder - 1 : i;
    if (sem)
        return !count_there(f, wanted->key, i, &count) || count > 0;
    bool shares = wanted->use == PCT_USE_SHARES;
    if (is_in_own_way(x, event, &h, shares)) {
        *holder = i;
        return false;
    }
    return h.taken <= 0 && (shares || h.shared <= 0);
}

/* What the event waits for: a lock or a semaphore. NULL: nothing like that. */
static const struct pct_touch *waits_for(const struct pct_event *event, const struct pct_event *open)
{
    if (!event->waits)
        return NULL;
    for (unsigned i = 0; i < open->own; i++)
        if (open->touch[i].use == PCT_USE_TAKES || open->touch[i].use == PCT_USE_SHARES ||
            open->touch[i].use == PCT_USE_PASSES || open->touch[i].use == PCT_USE_DOWN)
            return &open->touch[i];
    return NULL;
}

/* What it wanted, whatever became of it. */
static struct pct_event as_wanted(const struct pct_event *event)
{
    struct pct_event wanted = *event;
    struct pct_event supposed = { .op = event->op, .thread = event->thread };
    if (!event->waits || !event->own || event->global)
        return wanted;
    for (unsigned i = 0; i < event->own; i++) {
        pct_event_suppose(&supposed, event->touch[i].key);
        if (supposed.touches && !supposed.global)
            wanted.touch[i].use = supposed.touch[0].use;
    }
    return wanted;
}

/* Whether another thread waits for a signal of this condition variable in the place of event i, behind the kept events.
 */
static bool somebody_waits(const struct finder *f, uint64_t key, uint32_t i)
{
    const struct pct_execution *x = f->o->x;
    bool *waits = f->waits;
    memset(waits, 0, f->o->threads * sizeof *waits);
    for (uint32_t k = 0; k < i + f->count; k++) {
        const struct pct_event *event = &x->event[k < i ? k : f->kept[k - i]];
        uint32_t index = k < i ? k : f->kept[k - i];
        waits[event->thread] = event->op == PCT_OP_COND_WAIT && pct_event_find_touch(event, key);
        /* Whoever woke others: their next event says so. */
        for (uint32_t n = index + 1; n < x->count; n++)
            for (unsigned c = 0; c < x->event[n].causes; c++)
                if (x->event[n].cause[c] == index)
                    waits[x->event[n].thread] = false;
        for (uint32_t t = 0; t < x->threads; t++)
            for (unsigned c = 0; c < x->pending[t].event.causes; c++)
                if (x->pending[t].event.cause[c] == index)
                    waits[t] = false;
    }
    for (uint32_t t = 0; t < f->o->threads; t++)
        if (waits[t])
            return true;
    return false;
}

/* A deadline in the place of event i, behind the kept events: where what the thread waits for can be had by then, it
 * gets that. */
static struct pct_event deadline_reversed(const struct finder *f, uint32_t i, const struct pct_event *event)
{
    const struct pct_event *first = &f->o->x->event[i];
    struct pct_event wanted = { .thread = event->thread, .op = event->wait_op, .number = event->number };
    uint32_t other;
    pct_event_suppose(&wanted, event->touches > 1 ? event->touch[1].key : 0);
    if (wanted.global || wanted.touches != 1 || first->global || first->op == PCT_OP_DEADLINE ||
        !pct_event_find_touch(first, wanted.touch[0].key))
        return *event;
    uint8_t use = wanted.touch[0].use;
    bool taken = use == PCT_USE_TAKES || use == PCT_USE_SHARES || use == PCT_USE_DOWN;
    return taken && could_take(f, &wanted, &wanted.touch[0], i, &other) ? wanted : *event;
}

/* The event as it would be in the place of event i, behind the kept ones, as far as its result follows from them. A
 * crash may come of what i did; if it comes without i as well, that shows in the run. */
static struct pct_event as_reversed(const struct finder *f, uint32_t i, const struct pct_event *event)
{
    struct pct_event open = pct_event_open(event);
    if (event->crashed) {
        open.global = open.crashed = false;
        open.global = !pct_events_depend(&f->o->x->event[i], &open);
    }
    const struct pct_event *first = &f->o->x->event[i];
    uint32_t other;
    int64_t count = 0;
    if (event->op == PCT_OP_DEADLINE)
        return deadline_reversed(f, i, event);
    if (event->global || first->global || event->own != 1 || open.touch[0].use != PCT_USE_ANY)
        return open;
    struct pct_touch *t = &open.touch[0];
    struct pct_touch wanted = *t;
    pct_arrivals_place(f->o->x, f->kept, f->count, i, (enum pct_op)event->op, t);
    switch (event->op) {
    case PCT_OP_MUTEX_TRYLOCK:
    case PCT_OP_SPIN_TRYLOCK:
    case PCT_OP_RWLOCK_TRYWRLOCK:
    case PCT_OP_MUTEX_LOCK:
    case PCT_OP_SPIN_LOCK:
    case PCT_OP_RWLOCK_WRLOCK:
        if (event->touch[0].use == PCT_USE_ANY)
            break; /* an error, and not for what others do */
        wanted.use = PCT_USE_TAKES;
        t->use = could_take(f, event, &wanted, i, &other) ? PCT_USE_TAKES : PCT_USE_BUSY;
        break;
    case PCT_OP_RWLOCK_TRYRDLOCK:
    case PCT_OP_RWLOCK_RDLOCK:
        if (event->touch[0].use == PCT_USE_ANY)
            break;
        wanted.use = PCT_USE_SHARES;
        t->use = could_take(f, event, &wanted, i, &other) ? PCT_USE_SHARES : PCT_USE_BUSY;
        break;
    case PCT_OP_SEM_TRYWAIT:
    case PCT_OP_SEM_WAIT:
        wanted.use = PCT_USE_DOWN;
        if (count_there(f, t->key, i, &count))
            t->use = could_take(f, event, &wanted, i, &other) ? PCT_USE_DOWN : PCT_USE_EMPTY;
        break;
    case PCT_OP_COND_SIGNAL:
    case PCT_OP_COND_BROADCAST:
        if (!somebody_waits(f, t->key, i))
            t->use = PCT_USE_NOBODY;
        break;
    default:
        break;
    }
    return open;
}

static bool has_ended(const struct finder *f, uint64_t thread, uint32_t i)
{
    for (uint32_t k = 0; k < i + f->count; k++) {
        const struct pct_touch *t = pct_event_find_touch(&f->o->x->event[k < i ? k : f->kept[k - i]], thread);
        if (t && t->use == PCT_USE_ENDS)
            return true;
    }
    return false;
}

/* Whether a deadline cannot come in the place of event i, behind the kept events: what its thread waits for can be had
 * there, and what i did commutes with that. */
static bool has_no_deadline(const struct finder *f, uint32_t i, const struct pct_event *event)
{
    const struct pct_event *first = &f->o->x->event[i];
    struct pct_event wanted = { .thread = event->thread, .op = event->wait_op, .number = event->number };
    int64_t count = 0;
    uint32_t other;
    pct_event_suppose(&wanted, event->touches > 1 ? event->touch[1].key : 0);
    if (event->op != PCT_OP_DEADLINE || wanted.global || wanted.touches != 1 || first->global ||
        (first->op != PCT_OP_DEADLINE && pct_events_depend(first, &wanted)))
        return false;
    const struct pct_touch *t = &wanted.touch[0];
    if (t->use == PCT_USE_DOWN)
        return count_there(f, t->key, i, &count) && count > 0;
    if (wanted.op == PCT_OP_THREAD_JOIN)
        return has_ended(f, t->key, i);
    return (t->use == PCT_USE_TAKES || t->use == PCT_USE_SHARES) && could_take(f, &wanted, t, i, &other);
}

/* Whether event k is made before the place of event i, or is one of the kept ones. */
static bool is_there(const struct finder *f, uint32_t k, uint32_t i)
{
    uint32_t n = 0;
    while (n < f->count && f->kept[n] != k)
        n++;
    return k < i || n < f->count;
}

/* Whom a deadline may take along in the place of event i, behind the kept ones: see touch_timed(), execution.c. */
static void take_along(const struct finder *f, uint32_t i, struct pct_event *deadline)
{
    const struct pct_execution *x = f->o->x;
    deadline->touches = deadline->alone;
    for (uint32_t t = 0; t < x->threads; t++) {
        uint64_t key = 0;
        for (uint32_t n = 0; n < x->timeds; n++) {
            const struct pct_timed *timed = &x->timed[n];
            bool there = timed->thread == t && (!timed->began || is_there(f, timed->began - 1, i)) &&
                         (!timed->near || is_there(f, timed->near - 1, i));
            if (there)
                key = timed->over && is_there(f, timed->over - 1, i) ? 0 : timed->key;
        }
        if (key && t != deadline->thread)
            pct_event_touch(deadline, key, PCT_USE_ANY);
    }
    deadline->own = deadline->touches;
}

/* In the place of a crash comes what has nothing to do with it, and then the crash all the same. Without it, the
 * sequence would seem to be known where somebody sleeps whom nothing but the crash depends on. */
static int give(struct finder *f, uint32_t i, uint32_t j, const struct pct_event *event)
{
    const struct pct_execution *x = f->o->x;
    pct_arrivals_reorder(x, f->kept, f->count, i, f->sequence);
    f->sequence[f->count] = as_reversed(f, i, event);
    if (f->sequence[f->count].op == PCT_OP_DEADLINE)
        take_along(f, i, &f->sequence[f->count]);
    bool both = !f->count && pct_event_crashes_behind(&x->event[i], &f->sequence[0]);
    if (both)
        f->sequence[1] = x->event[i];
    const bool own = j < x->count && event == &x->event[j];
    struct pct_reversal reversal = { i, own ? j : PCT_NO_EVENT, f->count + 1 + both, 0, f->known, f->sequence };
    int result = f->take(f->context, &reversal);
    for (uint32_t k = j + 1; result == PCT_REVERSAL_REST && own && k < x->count && !x->event[k].jumped; k++)
        if (!never_races(&x->event[k]) && is_kept(f, i, k))
            f->sequence[reversal.count + reversal.rest++] = x->event[k];
    reversal.known = PCT_REST_WHOLE;
    return result == PCT_REVERSAL_REST ? f->take(f->context, &reversal) : result;
}

/* It was refused at once, as its thread has the lock already (EDEADLK): it waits for nobody. */
static bool is_refused(const struct pct_execution *x, uint32_t j, const struct pct_event *event, uint64_t key)
{
    struct holding h = { .key = key, .thread = event->thread };
    const struct pct_touch *made = j < x->count && event == &x->event[j] ? pct_event_find_touch(event, key) : NULL;
    for (uint32_t k = 0; k < j && made; k++)
        follow(&h, x, k);
    return made && made->use == PCT_USE_ANY && (h.own_taken > 0 || h.own_shared > 0);
}

/* What it waits for at the end was not there before the crash either. */
static bool waited_before(const struct finder *f, const struct pct_event *crash, uint32_t j,
                          const struct pct_event *event)
{
    const struct pct_execution *x = f->o->x;
    return crash->crashed && j == x->count && event->op != PCT_OP_DEADLINE && !x->pending[event->thread].enabled &&
           event->touches && !pct_event_find_touch(crash, event->touch[0].key);
}

/* The thread stood before the event in the place of event i, and what it waited for in the kernel was not there, as the
 * run shows; none of the kept events has changed that, since each that uses the kernel comes behind event i. */
static bool kernel_keeps(const struct finder *f, uint32_t i, const struct pct_event *event)
{
    const struct pct_execution *x = f->o->x;
    const uint64_t key = pct_op_key((enum pct_op)event->op);
    bool stood = event->thread < PCT_EXECUTION_SETS && !x->event[i].global && pct_event_find_touch(&x->event[i], key);
    for (uint32_t k = 0; k < f->count && stood; k++)
        stood = x->event[f->kept[k]].thread != event->thread;
    return stood && event->waits && key == PCT_KEY_KERNEL && !(x->enabled[i] >> event->thread & 1);
}

/* Event i and one behind it, which j is or would be, do not commute, and nothing else orders them. *joins: what happens
 * before i cannot be in a race with it. */
static int reverse(struct finder *f, uint32_t i, uint32_t j, const struct pct_event *event, bool *joins)
{
    const struct pct_event *first = &f->o->x->event[i];
    *joins = false;
    if (never_races(first) || waited_before(f, first, j, event))
        return 0;
    uint32_t over_at = pct_event_over(event);
    bool late = over_at && i + 1 >= over_at && pct_events_depend(first, event);
    if (event->op == PCT_OP_THREAD_JOIN && first->op == PCT_OP_THREAD_FINISH && !late) {
        *joins = pct_event_find_touch(
            event, first->touch[0].key); /* behind the join, the program may use what that thread used */
        return 0;
    }
    struct pct_event wanted = as_wanted(event);
    const bool unknown = first->global && !first->crashed; /* what first did */
    const struct pct_touch *waits = unknown ? NULL : waits_for(event, &wanted);
    bool over =
        (late && (waits || event->op == PCT_OP_THREAD_JOIN)) || (waits && is_refused(f->o->x, j, event, waits->key));
    if (over)
        waits = NULL;
    f->dropped = 0;
    keep_events(f, i, j);
    if (waits) {
        const struct pct_touch *t = pct_event_find_touch(first, waits->key);
        /* Who finds a lock busy says nothing: others may share it, or have it themselves. */
        const bool lock = pct_operation_locks(event->op) || event->op == PCT_OP_COND_WAKE;
        if (t && (t->use == PCT_USE_GIVES || t->use == PCT_USE_EMPTY || (t->use == PCT_USE_BUSY && !lock)))
            return 0;
        uint32_t other;
        while (!could_take(f, event, waits, i, &other)) {
            if (other == i)
                return 0;
            drop_events(f, i, j, other);
        }
    }
    /* An earlier event may keep it from what it waits for. */
    if (has_no_deadline(f, i, event) || kernel_keeps(f, i, event))
        return 0;
    /* Of other waits it is not known what enables them. */
    *joins = waits || over || !event->waits;
    return give(f, i, j, event);
}

/* Of the first `end` events with this one, which comes before event j. */
static int races_among(struct finder *f, uint32_t end, uint32_t j, const struct pct_event *event)
{
    const struct pct_execution *x = f->o->x;
    struct pct_event wanted = as_wanted(event);
    const uint64_t uses = uses_of(event) | uses_of(&wanted);
    struct pct_users_left left = pct_users_before(&f->o->users, end, event->thread, uses, f->clock);
    for (uint32_t next; (next = pct_users_next(&left));) {
        const uint32_t i = next - 1;
        const struct pct_event *first = &x->event[i];
        if (knows(f->clock, first) || (!pct_events_depend(first, event) && !pct_events_depend(first, &wanted)))
            continue;
        bool joins;
        int result = reverse(f, i, j, event, &joins);
        if (result)
            return result;
        if (joins) {
            join(f->o, f->clock, clock_of(f->o, i));
            pct_users_pass(&left, f->clock);
        }
    }
    return 0;
}

/* What only another thread ends, whatever the order. */
static bool is_woken(enum pct_op op)
{
    return op == PCT_OP_COND_WAIT || op == PCT_OP_BARRIER_LEAVE || op == PCT_OP_FUTEX_WAIT || op == PCT_OP_AWAKE ||
           op == PCT_OP_THREAD_JOIN;
}

static uint32_t previous_of(const struct pct_execution *x, uint32_t thread, uint32_t before)
{
    while (before && x->event[before - 1].thread != thread)
        before--;
    return before;
}

/* Deadlines that could have come before the events behind the first `at`: those that were missed there. */
static int missed_races(struct finder *f, uint32_t *next, uint32_t at, const uint32_t *jump)
{
    const struct pct_execution *x = f->o->x;
    int result = 0;
    for (; *next < x->misses && x->missed[*next].at <= at && !result; ++*next) {
        const struct pct_missed *missed = &x->missed[*next];
        begin_clock(f->o, f->clock, &missed->event, previous_of(x, missed->event.thread, missed->at), jump);
        result = races_among(f, missed->at, missed->at, &missed->event);
    }
    return result;
}

/* What ended the wait, or came of that, need not depend on event j, which the deadline depends on: then they commute,
 * and the deadline could have come behind that one as well. */
static int later_races(struct finder *f, uint32_t j, const uint32_t *jump)
{
    const struct pct_execution *x = f->o->x;
    int result = 0;
    for (uint32_t m = 0; m < x->misses && x->missed[m].at <= j && !result; m++) {
        const struct pct_missed *missed = &x->missed[m];
        bool own = missed->at < x->count && x->event[missed->at].thread == missed->event.thread;
        if (!own && !missed->at)
            continue;
        f->ended = missed->at + own;
        if (f->ended > j || knows(clock_of(f->o, j), &x->event[f->ended - 1]) ||
            x->event[j].thread == missed->event.thread ||
            !may_depend(f->o->uses[j], uses_of(&missed->event) | f->timed))
            continue;
        struct pct_event deadline = missed->event;
        f->count = 0;
        take_along(f, j + 1, &deadline); /* others may have begun to wait since */
        if (pct_events_depend(&x->event[j], &deadline)) {
            begin_clock(f->o, f->clock, &deadline, previous_of(x, deadline.thread, missed->at), jump);
            result = races_among(f, missed->at, j + 1, &deadline);
        }
    }
    f->ended = 0;
    return result;
}

/* What a thread would have done next. */
static int pending_races(struct finder *f, uint32_t thread, const uint32_t *jump)
{
    const struct pct_execution *x = f->o->x;
    const struct pct_pending *pending = &x->pending[thread];
    if (!pending->lives || never_races(&pending->event))
        return 0;
    /* Who cannot access memory has made a round of a loop without progress, whatever the others do. */
    if (!pending->enabled && (is_woken((enum pct_op)pending->event.op) || pct_operation_accesses(pending->event.op)))
        return 0;
    begin_clock(f->o, f->clock, &pending->event, previous_of(x, thread, x->count), jump);
    return races_among(f, x->count, x->count, &pending->event);
}

/* Who ends the process goes last; where several are about to, each of them first gives it another exit status, or
 * crashes. */
static int end_races(struct finder *f)
{
    const struct pct_execution *x = f->o->x;
    int result = 0;
    if (!x->count || !never_races(&x->event[x->count - 1]))
        return 0;
    f->count = f->dropped = 0;
    for (uint32_t t = 0; t < x->threads && !result; t++)
        if (t != x->event[x->count - 1].thread && x->pending[t].lives && x->pending[t].enabled &&
            never_races(&x->pending[t].event))
            result = give(f, x->count - 1, x->count, &x->pending[t].event);
    return result;
}

static int all_races(struct finder *f, uint32_t from, uint32_t *jump)
{
    const struct pct_execution *x = f->o->x;
    int result = 0;
    uint32_t missed = 0;
    while (from && missed < x->misses && x->missed[missed].at <= from)
        missed++; /* looked at in an earlier run */
    for (uint32_t j = 0; j < x->count && !result; j++) {
        result = missed_races(f, &missed, j, jump);
        if (x->event[j].jumped)
            for (uint32_t i = 0; i < j; i++)
                jump[x->event[i].thread] = x->event[i].number;
        if (result || (j < from && !f->again[j]) || never_races(&x->event[j]))
            continue;
        memcpy(f->clock, before_of(f->o, j), f->o->threads * sizeof *f->clock);
        f->known = j < from ? PCT_REST_AGAIN : PCT_REST_UNKNOWN;
        result = races_among(f, j, j, &x->event[j]);
        f->known = PCT_REST_UNKNOWN;
        if (!result && j >= from)
            result = later_races(f, j, jump);
    }
    if (!result)
        result = missed_races(f, &missed, x->count, jump);
    for (uint32_t t = 0; f->at_end && t < x->threads && !result; t++)
        result = pending_races(f, t, jump);
    if (f->at_end && !result)
        result = end_races(f);
    return result;
}

int pct_order_reversals(const struct pct_order *o, uint32_t from, const bool *again, bool at_end,
                        pct_take_reversal *take, void *context)
{
    struct finder f = { .o = o, .again = again, .at_end = at_end, .take = take, .context = context };
    for (uint32_t n = 0; n < o->x->timeds; n++)
        f.timed |=
            o->x->timed[n].key ? uses_of(&(struct pct_event){ .touches = 1, .touch[0].key = o->x->timed[n].key }) : 0;
    f.sequence = malloc((o->x->count + 1) * sizeof *f.sequence);
    f.kept = malloc((o->x->count + 1) * sizeof *f.kept);
    f.clock = calloc(2 * (size_t)o->threads + 1, sizeof *f.clock);
    f.waits = calloc(o->threads + 1, sizeof *f.waits);
    int result = f.sequence && f.kept && f.clock && f.waits ? all_races(&f, from, f.clock + o->threads) : -ENOMEM;
    free(f.sequence);
    free(f.kept);
    free(f.waits);
    free(f.clock);
    return result;
}
