/* Which events depend on each other, and what operations do to their objects: see dependence.h. */
#include "dependence.h"
#include "rows.h"
#include <pct/operations.h>

bool pct_touch_is_memory(uint64_t key)
{
    return key >> 56 == PCT_CLASS_MEMORY;
}

/* Of locations the class stands above their addresses: those of memory follow each other. */
bool pct_touches_meet(const struct pct_touch *a, const struct pct_touch *b)
{
    return a->key <= b->key ? b->key - a->key <= UINT64_C(8) * a->more : a->key - b->key <= UINT64_C(8) * b->more;
}

const struct pct_touch *pct_event_find_touch(const struct pct_event *event, uint64_t key)
{
    for (unsigned i = 0; i < event->touches; i++)
        if (pct_touches_meet(&event->touch[i], &(struct pct_touch){ .key = key }))
            return &event->touch[i];
    return NULL;
}

bool pct_events_meet(const struct pct_event *a, const struct pct_event *b)
{
    for (unsigned i = 0; i < a->touches; i++)
        for (unsigned j = 0; j < b->touches; j++)
            if (pct_touches_meet(&a->touch[i], &b->touch[j]))
                return true;
    return false;
}

static bool depend(const struct pct_event *a, const struct pct_event *b, bool frees)
{
    if (a->thread == b->thread || a->global || b->global)
        return true;
    for (unsigned i = 0; i < a->touches; i++)
        for (unsigned j = 0; j < b->touches; j++)
            if (pct_touches_meet(&a->touch[i], &b->touch[j]) &&
                (frees || (a->touch[i].use != PCT_USE_FREES && b->touch[j].use != PCT_USE_FREES)) &&
                !pct_uses_commute((enum pct_use)a->touch[i].use, (enum pct_use)b->touch[j].use))
                return true;
    return false;
}

bool pct_events_depend(const struct pct_event *a, const struct pct_event *b)
{
    return depend(a, b, true);
}

bool pct_operations_depend(const struct pct_event *a, const struct pct_event *b)
{
    return depend(a, b, false);
}

/* At a barrier: it may have become the last one to arrive. */
static bool arrives_later(struct pct_touch *mine, const struct pct_touch *made)
{
    if (mine->key != made->key || mine->use != PCT_USE_ARRIVES || made->use != PCT_USE_ARRIVES)
        return true;
    if (!mine->counted || mine->before < 2)
        return false;
    mine->before--;
    return true;
}

bool pct_event_passes(struct pct_event *event, const struct pct_event *made)
{
    if (pct_events_depend(event, made))
        return false;
    for (unsigned i = 0; i < event->touches; i++)
        for (unsigned j = 0; j < made->touches; j++)
            if (!arrives_later(&event->touch[i], &made->touch[j]))
                return false;
    return true;
}

uint64_t pct_op_key(enum pct_op op)
{
    uint8_t use = pct_row_of(op).use;
    return use == PCT_ROW_KERNEL ? PCT_KEY_KERNEL : use == PCT_ROW_END ? PCT_KEY_END : 0;
}

uint64_t pct_wait_key(enum pct_op op, uint64_t key)
{
    return pct_op_key(op) ? pct_op_key(op) : key;
}

bool pct_touch_is_hidden(const struct pct_event *event, const struct pct_touch *touch)
{
    bool of_operation = touch->key == pct_op_key((enum pct_op)event->op) ||
                        (touch->key == PCT_KEY_THREADS && event->op == PCT_OP_THREAD_CREATE) ||
                        (touch->use == PCT_USE_ENDS && event->op == PCT_OP_THREAD_FINISH) ||
                        event->op == PCT_OP_DEADLINE; /* the program does nothing behind it */
    return touch->key >= PCT_KEY_HIDDEN && !of_operation;
}

bool pct_use_of(enum pct_op op, uint32_t arg, enum pct_use *use, bool *none)
{
    struct pct_row row = pct_row_of(op);
    *none = false;
    *use = PCT_USE_ANY;
    if (row.use == PCT_ROW_UNKNOWN)
        return false;
    if (pct_op_key(op))
        return true;
    bool failed = arg == PCT_ARG_BUSY || arg == PCT_ARG_TIMEOUT;
    *none = row.use == PCT_ROW_NOTHING;
    *use = *none ? PCT_USE_ANY : (enum pct_use)(failed ? row.failed : row.use);
    if (arg == PCT_ARG_ERROR || arg == PCT_ARG_CANCELLED)
        *use = PCT_USE_ANY;
    if ((op == PCT_OP_COND_SIGNAL || op == PCT_OP_COND_BROADCAST) && arg == PCT_ARG_NOBODY)
        *use = PCT_USE_NOBODY;
    if ((op == PCT_OP_ONCE || op == PCT_OP_GUARD_ACQUIRE) && arg != PCT_ARG_RUN)
        *use = PCT_USE_BUSY; /* it was done already */
    return true;
}

bool pct_op_waits(enum pct_op op)
{
    return pct_row_of(op).waits;
}

void pct_event_suppose(struct pct_event *event, uint64_t key)
{
    struct pct_row row = pct_row_of((enum pct_op)event->op);
    event->waits = row.waits;
    event->touches = 0;
    if (event->op == PCT_OP_DEADLINE) {
        key = pct_wait_key((enum pct_op)event->wait_op, key);
        event->touch[event->touches++] = (struct pct_touch){ .key = PCT_KEY_TIME, .use = PCT_USE_ANY };
        if (key)
            event->touch[event->touches++] = (struct pct_touch){ .key = key, .use = PCT_USE_ANY };
        event->own = event->touches;
        return;
    }
    if (event->op == PCT_OP_COND_WAKE) /* what is pending is the mutex */
        row.use = PCT_USE_TAKES;
    if (event->op == PCT_OP_THREAD_FINISH || event->op == PCT_OP_THREAD_START)
        key = (uint64_t)PCT_CLASS_THREAD << 56 | event->thread;
    if (pct_op_key((enum pct_op)event->op)) {
        row.use = PCT_USE_ANY;
        key = pct_op_key((enum pct_op)event->op);
    }
    if (row.use == PCT_ROW_UNKNOWN || event->op == PCT_OP_COND_WAIT || (row.use != PCT_ROW_NOTHING && !key))
        event->global = true;
    else if (row.use != PCT_ROW_NOTHING)
        event->touch[event->touches++] = (struct pct_touch){ .key = key, .use = row.use };
    if (event->op == PCT_OP_THREAD_FINISH) /* as take_record() */
        event->touch[event->touches++] =
            (struct pct_touch){ .key = PCT_KEY_ENDED | event->thread, .use = PCT_USE_ENDS };
    event->own = event->touches;
}

/* Whether the result depends on who came first. */
static bool result_is_open(enum pct_op op)
{
    switch (op) {
    case PCT_OP_COND_SIGNAL:
    case PCT_OP_COND_BROADCAST:
    case PCT_OP_FUTEX_WAKE:
    case PCT_OP_BARRIER_ARRIVE:
    case PCT_OP_ONCE:
    case PCT_OP_GUARD_ACQUIRE:
    case PCT_OP_MUTEX_LOCK: /* with a deadline */
    case PCT_OP_SPIN_LOCK:
    case PCT_OP_RWLOCK_RDLOCK:
    case PCT_OP_RWLOCK_WRLOCK:
    case PCT_OP_SEM_WAIT:
        return true;
    default:
        return pct_operation_tries(op);
    }
}

struct pct_event pct_event_open(const struct pct_event *event)
{
    struct pct_event open = *event;
    if (!result_is_open((enum pct_op)event->op))
        return open;
    for (unsigned i = 0; i < open.own; i++)
        if (open.touch[i].use != PCT_USE_SHARES || event->op == PCT_OP_RWLOCK_TRYRDLOCK || pct_event_over(event))
            open.touch[i].use = PCT_USE_ANY;
    open.choices = open.chosen = 0;
    return open;
}

bool pct_event_crashes_behind(const struct pct_event *crash, const struct pct_event *event)
{
    struct pct_event operation = *crash;
    operation.global = operation.crashed = false;
    return crash->crashed && !event->global && !pct_events_depend(&operation, event);
}
