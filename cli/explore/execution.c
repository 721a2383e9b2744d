/* A finished run as events: see execution.h. */
#include "execution.h"
#include "dependence.h"
#include "pieces.h"
#include "touches.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a thread while the log is read. */
struct thread {
    uint32_t made; /* events */
    uint32_t place;
    uint8_t op;   /* what it is about to do, */
    uint64_t key; /* on this object */
    uint8_t wait_op;
    bool near; /* its deadline could come early, if not for what it waits for */
    bool due;  /* and has, by choice */
    uint8_t again;
    uint32_t began; /* its last event, plus 1; 0: none */
    uint32_t timed; /* its last wait whose deadline could come early, in pct_execution.timed, plus 1; 0: none */
    bool lives, enabled;
    uint32_t causes, after, over;
    uint32_t cause[PCT_EVENT_CAUSES];
    uint32_t helds; /* robust mutexes that its end gives up, to which it has come */
    uint64_t held[PCT_EVENT_TOUCHES];
};

enum { MOST_GIVEN = 4 };

struct reader {
    struct pct_execution *x;
    struct thread *thread;
    uint32_t threads;
    uint64_t *name; /* by number: the key */
    uint32_t names;
    const uint64_t *records;
    uint64_t record_count;
    uint32_t misses_room, timed_room;
    uint64_t enabled, early, ends; /* of the threads, now: PCT_EXECUTION_SETS */
    uint32_t step;                 /* the first record of the last event */
    uint32_t ender;                /* plus 1: who runs the handlers of exit; 0: nobody */
    bool jumped;                   /* since the last event began */
    bool woke, leaves;
    uint32_t choices, value;
    uint32_t given;             /* what the last event's thread has given up behind that: once flags, whose */
    uint64_t gives[MOST_GIVEN]; /* routines have ended, and the loader's lock */
    uint32_t loader;            /* who has that, plus 1; 0: nobody */
    uint64_t value_key;         /* of a semaphore that counts `value` after the last event; 0: none */
};

static bool grow(void **array, uint32_t *have, uint32_t want, size_t size)
{
    if (want < *have)
        return true;
    uint32_t more = want + 64;
    char *larger = realloc(*array, more * size);
    if (!larger)
        return false;
    memset(larger + *have * size, 0, (more - *have) * size);
    *array = larger;
    *have = more;
    return true;
}

static struct thread *thread_of(struct reader *r, uint32_t id)
{
    return grow((void **)&r->thread, &r->threads, id, sizeof *r->thread) ? &r->thread[id] : NULL;
}

static struct pct_event *last_event(struct reader *r)
{
    return r->x->count ? &r->x->event[r->x->count - 1] : NULL;
}

static void touch_thread(struct pct_event *event, uint32_t thread, enum pct_use use)
{
    pct_event_touch(event, (uint64_t)PCT_CLASS_THREAD << 56 | thread, use);
}

/* Whoever waits for a robust mutex gets it when the thread that has it ends. */
static void give_up_held(const struct thread *t, struct pct_event *end)
{
    end->global |= t->helds > PCT_EVENT_TOUCHES;
    for (uint32_t i = 0; i < t->helds && i < PCT_EVENT_TOUCHES; i++)
        pct_event_touch(end, t->held[i], PCT_USE_GIVES);
}

/* What the event did to the object of this record. */
static void take_record(struct reader *r, struct pct_event *event, uint64_t record)
{
    enum pct_op op = (enum pct_op)PCT_RECORD_OP(record);
    uint32_t object = PCT_RECORD_OBJECT(record), arg = PCT_RECORD_ARG(record);
    enum pct_use use;
    bool none;
    if (op == PCT_OP_THREAD_CANCEL) { /* what it ends is none of what enables a wait in other places: order.h */
        r->x->doubts |= 1u << PCT_DOUBT_CANCEL;
        event->global = true;
        return;
    }
    if (PCT_RECORD_THREAD(record) != event->thread || !pct_use_of(op, arg, &use, &none)) {
        event->global = true;
        r->x->unknown = op + 1;
        return;
    }
    event->timed_out |= arg == PCT_ARG_TIMEOUT && op != PCT_OP_CHOICE;
    if (none)
        return;
    if (pct_op_key(op)) {
        pct_event_touch(event, pct_op_key(op), PCT_USE_ANY);
    } else if (op == PCT_OP_THREAD_CREATE || op == PCT_OP_THREAD_JOIN || op == PCT_OP_THREAD_TRYJOIN ||
               op == PCT_OP_THREAD_DETACH || op == PCT_OP_THREAD_FINISH) {
        touch_thread(event, object, use);
        if (op == PCT_OP_THREAD_CREATE)
            pct_event_touch(event, PCT_KEY_THREADS, PCT_USE_ANY);
        if (op == PCT_OP_THREAD_FINISH) {
            pct_event_touch(event, PCT_KEY_ENDED | object, use);
            give_up_held(&r->thread[event->thread], event);
        }
    } else if (!object || object >= r->names || !r->name[object]) {
        event->global = true;
    } else {
        if (op == PCT_OP_COND_BROADCAST && !r->woke)
            use = PCT_USE_NOBODY;
        if (op == PCT_OP_BARRIER_ARRIVE && r->leaves)
            use = PCT_USE_ARRIVES;
        if (op == PCT_OP_LOADER) {
            use = r->loader == event->thread + UINT32_C(1) ? PCT_USE_BUSY : use;
            r->loader = event->thread + UINT32_C(1);
        }
        pct_event_touch(event, r->name[object], use);
        if (op == PCT_OP_FUTEX_WAIT) { /* it looks at the word, and nothing keeps it from that */
            pct_event_touch(event, (uint64_t)PCT_CLASS_MEMORY << 56 | (r->name[object] & ((UINT64_C(1) << 56) - 8)),
                            PCT_USE_READS);
            event->waits = false;
        }
    }
}

/* A read-write lock is given back as it was taken. */
static void settle_shares(struct pct_execution *x, struct pct_event *event)
{
    if (event->op != PCT_OP_RWLOCK_UNLOCK || !event->own)
        return;
    for (uint32_t i = x->count - 1; i--;) {
        const struct pct_event *before = &x->event[i];
        if (before->thread != event->thread || !before->own || before->touch[0].key != event->touch[0].key)
            continue;
        if (before->touch[0].use == PCT_USE_SHARES)
            event->touch[0].use = PCT_USE_PARTS;
        if (before->touch[0].use == PCT_USE_SHARES || before->touch[0].use == PCT_USE_TAKES)
            return;
    }
}

/* From here on some order of posts may bring a semaphore to its maximum. Which of them fails then depends on who came
 * first. */
#define SEM_NEARLY_FULL (UINT32_C(1) << 30)

/* What the semaphore counted before the event: it was counted behind it. How many are still to come to a barrier,
 * behind it. */
static void settle_value(const struct reader *r, struct pct_event *event)
{
    for (unsigned i = 0; r->value_key && i < event->touches; i++) {
        struct pct_touch *t = &event->touch[i];
        if (t->key != r->value_key)
            continue;
        t->counted =
            t->use == PCT_USE_DOWN || t->use == PCT_USE_UP || t->use == PCT_USE_EMPTY || t->use == PCT_USE_ARRIVES;
        t->before = t->use == PCT_USE_DOWN ? r->value + 1 : t->use == PCT_USE_UP ? r->value - 1 : r->value;
        if (t->use == PCT_USE_UP && r->value >= SEM_NEARLY_FULL) {
            t->use = PCT_USE_ANY;
            t->counted = false;
        }
    }
}

/* The last event is over: what it did stands in the records up to this step. */
static int end_event(struct reader *r, uint32_t step)
{
    struct pct_event *event = last_event(r);
    if (!event)
        return 0;
    if (step > r->record_count)
        return -EINVAL;
    for (uint32_t i = r->step; i < step; i++)
        take_record(r, event, r->records[i]);
    /* It made no step: it does what it was about to do later. */
    if (r->step == step && event->op != PCT_OP_NONE) {
        struct pct_event supposed = { .op = event->op, .thread = event->thread };
        pct_event_suppose(&supposed, r->thread[event->thread].key);
        event->global |= supposed.global;
        for (unsigned i = 0; i < supposed.touches; i++)
            pct_event_touch(event, supposed.touch[i].key, PCT_USE_ANY);
    }
    if (r->ender == event->thread + UINT32_C(1))
        pct_event_touch(event, PCT_KEY_END, PCT_USE_ANY); /* it takes handlers from their list */
    if (event->op == PCT_OP_EXIT)
        r->ender = event->thread + UINT32_C(1);
    pct_event_sort_touches(event);
    event->global |= r->given > MOST_GIVEN;
    for (uint32_t i = 0; i < r->given && i < MOST_GIVEN; i++) {
        pct_event_touch(event, r->gives[i], PCT_USE_GIVES);
        r->loader = r->gives[i] >> 56 == PCT_CLASS_LOADER ? 0 : r->loader;
    }
    settle_shares(r->x, event);
    settle_value(r, event);
    r->value_key = r->given = 0;
    r->woke = r->leaves = false;
    if (r->choices > 1)
        r->x->doubts |= 1u << PCT_DOUBT_CHOICES;
    r->choices = 0;
    return 0;
}

/* From now on its deadline may come early. */
static int come_near(struct reader *r, struct thread *t, uint32_t id)
{
    struct pct_execution *x = r->x;
    if (!grow((void **)&x->timed, &r->timed_room, x->timeds, sizeof *x->timed))
        return -ENOMEM;
    x->timed[x->timeds++] = (struct pct_timed){
        .key = pct_wait_key((enum pct_op)t->op, t->key), .thread = id, .began = t->began, .near = x->count
    };
    t->timed = x->timeds;
    t->near = true;
    return 0;
}

/* Time has gone on to its deadline, or beyond. */
static void pass_timed(const struct reader *r, const struct thread *t)
{
    struct pct_timed *timed = t->timed ? &r->x->timed[t->timed - 1] : NULL;
    if (timed && !timed->over)
        timed->over = r->x->count;
}

/* A deadline takes along those that are not later, and whether another thread still waits by then depends on who ended
 * its wait: so it uses what others have last waited for with a deadline, whether it takes them along or not. */
static void touch_timed(const struct reader *r, struct pct_event *deadline)
{
    deadline->alone = deadline->touches;
    for (uint32_t id = 0; id < r->threads; id++) {
        const struct pct_timed *timed = r->thread[id].timed ? &r->x->timed[r->thread[id].timed - 1] : NULL;
        if (timed && id != deadline->thread && !timed->over && timed->key)
            pct_event_touch(deadline, timed->key, PCT_USE_ANY);
    }
    deadline->own = deadline->touches;
}

/* The deadline of this thread, which waits for this, could have come early behind what was made so far. */
static int miss(struct reader *r, const struct thread *t, uint32_t id, uint8_t wait_op)
{
    struct pct_execution *x = r->x;
    if (!grow((void **)&x->missed, &r->misses_room, x->misses, sizeof *x->missed))
        return -ENOMEM;
    struct pct_missed *missed = &x->missed[x->misses++];
    *missed = (struct pct_missed){
        .at = x->count,
        .event = { .thread = (uint16_t)id, .op = PCT_OP_DEADLINE, .wait_op = wait_op, .number = t->made + 1 }
    };
    pct_event_suppose(&missed->event, t->key);
    touch_timed(r, &missed->event);
    return 0;
}

static int begin_event(struct reader *r, const struct pct_log_entry *entry)
{
    struct thread *t = thread_of(r, entry->thread);
    int failed = t ? end_event(r, entry->value) : -ENOMEM;
    if (!failed && t->near && t->op != PCT_OP_DEADLINE)
        failed = miss(r, t, entry->thread, t->op); /* it had not to wait any more */
    if (failed)
        return failed;
    t->near = false;
    /* Who ends the process goes last. */
    r->x->enabled[r->x->count] = r->enabled & ~r->ends ? r->enabled & ~r->ends : r->enabled;
    r->x->ready[r->x->count] = r->x->enabled[r->x->count] & ~r->early;
    struct pct_event *event = &r->x->event[r->x->count++];
    bool ends = t->op == PCT_OP_EXIT_NOW;
    *event = (struct pct_event){ .thread = entry->thread,
                                 .op = t->op,
                                 .number = ++t->made,
                                 .place = t->place,
                                 .waits = pct_op_waits((enum pct_op)t->op),
                                 .again = t->again,
                                 .jumped = r->jumped || ends,
                                 .global = ends,
                                 .late = t->op == PCT_OP_COND_WAKE ? t->after : t->over, /* which waits for the mutex */
                                 .causes = (uint8_t)(t->causes < PCT_EVENT_CAUSES ? t->causes : PCT_EVENT_CAUSES) };
    memcpy(event->cause, t->cause, sizeof t->cause);
    if (t->causes > PCT_EVENT_CAUSES)
        event->global = true;
    if (t->op == PCT_OP_COND_WAKE) {
        pct_event_touch(event, t->key, PCT_USE_TAKES);
    }
    if (t->op == PCT_OP_DEADLINE) {
        event->wait_op = t->wait_op;
        pct_event_suppose(event, t->key);
        touch_timed(r, event);
        t->due = true;
        pass_timed(r, t);
    }
    t->after = 0;
    t->over = 0;
    t->again = PCT_AGAIN_NOT;
    t->began = r->x->count;
    r->step = entry->value;
    r->jumped = false;
    t->causes = 0;
    return 0;
}

/* The running thread has ended this one's wait. */
static void cause(struct reader *r, struct thread *t)
{
    uint32_t event = r->x->count;
    if (!event)
        return;
    event--;
    r->woke = true;
    for (uint32_t i = 0; i < t->causes && i < PCT_EVENT_CAUSES; i++)
        if (t->cause[i] == event)
            return;
    if (t->causes < PCT_EVENT_CAUSES)
        t->cause[t->causes] = event;
    t->causes++;
}

static void give(struct reader *r, uint64_t key)
{
    if (r->given++ < MOST_GIVEN)
        r->gives[r->given - 1] = key;
}

static int announce(struct reader *r, struct thread *t, const struct pct_log_entry *entry)
{
    const struct pct_event *event = last_event(r);
    if (event && event->thread == entry->thread && entry->op == PCT_OP_BARRIER_LEAVE)
        r->leaves = true;
    /* Others find it done already, and may go on before that point. */
    if (event && event->thread == entry->thread && entry->op == PCT_OP_ONCE_DONE)
        give(r, entry->key);
    int failed =
        t->op == PCT_OP_DEADLINE && entry->op != PCT_OP_DEADLINE && !t->due ? miss(r, t, entry->thread, t->wait_op) : 0;
    t->due = false;
    if (entry->op == PCT_OP_COND_WAKE)
        t->near = false; /* woken, it waits for the mutex, and that has no deadline */
    if (entry->op == PCT_OP_DEADLINE)
        t->wait_op = t->op;
    t->op = entry->op;
    t->key = entry->key;
    if (entry->op != PCT_OP_DEADLINE)
        t->place = entry->value;
    return failed;
}

/* Its deadline has ended this one's wait. */
static void time_out(struct reader *r, struct thread *t, uint32_t id)
{
    struct pct_event *event = last_event(r);
    pass_timed(r, t);
    t->over = r->x->count + 1;
    if (t->near && t->op != PCT_OP_DEADLINE)
        return; /* what it waits for is there: it gets that all the same, unless another one does */
    t->near = false;
    if (r->jumped || !event) {
        t->after = r->x->count;
        return;
    }
    /* The wait begins behind its deadline: it is a try, whatever others have done before. */
    if (event->thread == id && event->op != PCT_OP_DEADLINE)
        t->over = 1;
    cause(r, t);
    uint64_t key = pct_wait_key((enum pct_op)(t->op == PCT_OP_DEADLINE ? t->wait_op : t->op), t->key);
    if (event->thread != id && key)
        pct_event_touch(event, key, PCT_USE_ANY);
}

static int take_name(struct reader *r, const struct pct_log_entry *entry)
{
    if (!grow((void **)&r->name, &r->names, entry->value, sizeof *r->name))
        return -ENOMEM;
    r->name[entry->value] = entry->key;
    return 0;
}

/* Which threads could be chosen. */
static void follow_sets(struct reader *r, const struct pct_log_entry *entry)
{
    uint64_t bit = entry->thread < PCT_EXECUTION_SETS ? UINT64_C(1) << entry->thread : 0;
    switch ((enum pct_log_kind)entry->kind) {
    case PCT_LOG_ENABLE:
        r->enabled |= bit;
        break;
    case PCT_LOG_DISABLE:
        r->enabled &= ~bit;
        break;
    case PCT_LOG_ANNOUNCE:
        r->early = entry->op == PCT_OP_DEADLINE ? r->early | bit : r->early & ~bit;
        r->ends = entry->op == PCT_OP_EXIT_NOW ? r->ends | bit : r->ends & ~bit;
        break;
    default:
        break;
    }
}

/* This location on the thread's stack is to be its own. */
static void take_own(struct pct_execution *x, const struct pct_log_entry *entry)
{
    const struct pct_event own = { .touches = 1, .touch[0] = { .key = entry->key } };
    uint32_t i = 0;
    while (i < x->count && x->event[i].thread != entry->thread)
        i++;
    for (; i < x->count; i++)
        if (x->event[i].thread != entry->thread && pct_events_meet(&x->event[i], &own))
            x->doubts |= 1u << PCT_DOUBT_OWN;
}

static int take(struct reader *r, const struct pct_log_entry *entry)
{
    follow_sets(r, entry);
    struct thread *t = thread_of(r, entry->thread);
    struct pct_event *event = last_event(r);
    if (!t)
        return -ENOMEM;
    switch ((enum pct_log_kind)entry->kind) {
    case PCT_LOG_PICK:
        return begin_event(r, entry);
    case PCT_LOG_ANNOUNCE:
        return announce(r, t, entry);
    case PCT_LOG_ENABLE:
        t->lives = t->enabled = true;
        return 0;
    case PCT_LOG_DISABLE:
        t->enabled = false;
        return 0;
    case PCT_LOG_CAUSED:
        if (entry->value)
            time_out(r, t, entry->thread);
        else
            cause(r, t);
        return 0;
    case PCT_LOG_TOUCH: {
        enum pct_use use;
        bool none;
        if (!event || !pct_use_of((enum pct_op)entry->op, 0, &use, &none))
            return 0;
        if (entry->key >> 56 == PCT_CLASS_LOADER || entry->key >> 56 == PCT_CLASS_ONCE)
            give(r, entry->key);
        else if (pct_touch_is_memory(entry->key))
            pct_event_touch_range(event, entry->key, entry->value, use);
        else
            pct_event_touch(event, entry->key, use);
        return 0;
    }
    case PCT_LOG_VALUE:
        r->value_key = entry->key;
        r->value = entry->value;
        return 0;
    case PCT_LOG_NAME:
        return take_name(r, entry);
    case PCT_LOG_CHOICE:
        if (event) {
            event->choices = (uint16_t)(entry->value >> 16);
            event->chosen = (uint16_t)entry->value;
        }
        r->choices++;
        return 0;
    case PCT_LOG_JUMP:
        r->jumped = true;
        return 0;
    case PCT_LOG_NEAR:
        return come_near(r, t, entry->thread);
    case PCT_LOG_HIDDEN:
        r->x->outside |= entry->key == PCT_KEY_KERNEL && !entry->value;
        if (event) {
            pct_event_count_hidden(event, entry->key);
            pct_event_touch(event, entry->key, entry->value ? PCT_USE_READS : PCT_USE_ANY);
        }
        return 0;
    case PCT_LOG_AGAIN:
        t->again = entry->value ? PCT_AGAIN_ENDLESS : PCT_AGAIN_PERHAPS;
        r->x->again = true;
        return 0;
    case PCT_LOG_OWN: /* when all events are known */
        return 0;
    case PCT_LOG_FREED:
        if (event)
            pct_event_touch_range(event, entry->key, entry->value, PCT_USE_FREES);
        r->x->frees = true;
        r->x->frees_told |= entry->op != 0;
        return 0;
    case PCT_LOG_HELD:
        if (t->helds++ < PCT_EVENT_TOUCHES)
            t->held[t->helds - 1] = entry->key;
        return 0;
    case PCT_LOG_DOUBT:
        if (entry->op < PCT_DOUBT_COUNT)
            r->x->place[entry->op] = entry->value;
        return 0;
    case PCT_LOG_NONE:
        break;
    }
    return -EINVAL;
}

static int finish(struct reader *r, bool ended)
{
    struct pct_execution *x = r->x;
    int failed = end_event(r, (uint32_t)r->record_count);
    x->pending = calloc(r->threads + 1, sizeof *x->pending);
    if (failed || !x->pending)
        return failed ? failed : -ENOMEM;
    struct pct_event *last = last_event(r);
    failed = pct_pieces_find(x, r->threads, &x->pieces);
    if (failed)
        return failed;
    x->cut = !ended && last;
    if (x->cut) {
        last->crashed = !last->global;
        last->global = true;
    }
    for (uint32_t id = 0; id < r->threads; id++) {
        const struct thread *t = &r->thread[id];
        struct pct_pending *pending = &x->pending[id];
        if (t->made || t->lives)
            x->threads = id + 1;
        bool finished = t->op == PCT_OP_THREAD_FINISH && !t->enabled && t->made;
        pending->lives = t->lives && !finished && !(last && x->cut && last->thread == id);
        pending->enabled = t->enabled;
        pending->event =
            (struct pct_event){ .thread = (uint16_t)id,
                                .op = t->op,
                                .number = t->made + 1,
                                .place = t->place,
                                .again = t->again,
                                .global = t->causes > PCT_EVENT_CAUSES || t->op == PCT_OP_EXIT_NOW,
                                .causes = (uint8_t)(t->causes < PCT_EVENT_CAUSES ? t->causes : PCT_EVENT_CAUSES) };
        memcpy(pending->event.cause, t->cause, sizeof t->cause);
        pending->event.wait_op = t->wait_op;
        pct_event_suppose(&pending->event, t->key);
        if (t->op == PCT_OP_DEADLINE)
            touch_timed(r, &pending->event);
        if (t->op == PCT_OP_COND_WAKE)
            pending->event.late = t->after;
        if (t->op == PCT_OP_THREAD_FINISH) {
            give_up_held(t, &pending->event);
            pending->event.own = pending->event.touches;
        }
    }
    return 0;
}

int pct_execution_read(struct pct_execution *x, const struct pct_log_entry *log, uint32_t log_count,
                       const uint64_t *records, uint64_t record_count, bool ended)
{
    *x = (struct pct_execution){ 0 };
    struct reader r = { .x = x, .records = records, .record_count = record_count };
    uint32_t picks = 0;
    for (uint32_t i = 0; i < log_count; i++)
        picks += log[i].kind == PCT_LOG_PICK;
    x->event = malloc((picks + 1) * sizeof *x->event);
    x->enabled = malloc((picks + 1) * sizeof *x->enabled);
    x->ready = malloc((picks + 1) * sizeof *x->ready);
    int failed = x->event && x->enabled && x->ready ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < log_count && !failed; i++)
        failed = take(&r, &log[i]);
    if (!failed)
        failed = finish(&r, ended);
    for (uint32_t i = 0; i < log_count && !failed; i++)
        if (log[i].kind == PCT_LOG_OWN)
            take_own(x, &log[i]);
    free(r.thread);
    free(r.name);
    if (failed)
        pct_execution_free(x);
    return failed;
}

void pct_execution_cut(struct pct_execution *x, uint32_t cut)
{
    for (uint32_t t = 0; t < x->threads; t++) {
        struct pct_pending *pending = &x->pending[t];
        uint32_t i = cut;
        while (i < x->count && x->event[i].thread != t)
            i++;
        const struct pct_event *event = i < x->count ? &x->event[i] : &pending->event;
        bool lives = i < x->count || pending->lives;
        for (unsigned c = 0; c < event->causes; c++)
            lives &= event->cause[c] < cut;
        pending->lives = lives && !(x->enabled[cut] >> t & 1);
        pending->enabled = false;
        if (i == x->count)
            continue;
        struct pct_event supposed = *event;
        supposed.touches = supposed.own = supposed.hidden = 0;
        supposed.global = supposed.crashed = supposed.jumped = supposed.timed_out = false;
        pct_event_suppose(&supposed, event->own ? event->touch[0].key : 0);
        for (unsigned n = supposed.touches; event->op == PCT_OP_THREAD_FINISH && n < event->own; n++)
            pct_event_touch(&supposed, event->touch[n].key, (enum pct_use)event->touch[n].use);
        supposed.own = supposed.touches;
        pending->event = supposed;
    }
    x->count = cut;
}

void pct_execution_free(struct pct_execution *x)
{
    free(x->event);
    free(x->pending);
    free(x->missed);
    free(x->timed);
    free(x->enabled);
    free(x->ready);
    *x = (struct pct_execution){ 0 };
}
