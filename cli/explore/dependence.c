/* Which events depend on each other, and what operations do to their objects: see dependence.h. */
#include "dependence.h"

bool pct_events_depend(const struct pct_event *a, const struct pct_event *b)
{
    if (a->thread == b->thread || a->global || b->global)
        return true;
    for (unsigned i = 0; i < a->touches; i++)
        for (unsigned j = 0; j < b->touches; j++)
            if (a->touch[i].key == b->touch[j].key &&
                !pct_uses_commute((enum pct_use)a->touch[i].use, (enum pct_use)b->touch[j].use))
                return true;
    return false;
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

/* Operations by what they do, when they succeed and when they do not. NOTHING: no object. KERNEL: what the kernel
 * keeps, all of it one object. END: how the process ends. */
enum { NOTHING = 255, UNKNOWN = 254, KERNEL = 253, END = 252 };
struct row {
    uint8_t use, failed;
    bool waits;
};

static struct row row_of(enum pct_op op)
{
#define ROW(use_, failed_, waits_)                                                                                     \
    (struct row)                                                                                                       \
    {                                                                                                                  \
        .use = use_, .failed = failed_, .waits = waits_                                                                \
    }
    switch (op) {
    case PCT_OP_MUTEX_LOCK:
    case PCT_OP_SPIN_LOCK:
    case PCT_OP_RWLOCK_WRLOCK:
    case PCT_OP_ONCE:
        return ROW(PCT_USE_TAKES, PCT_USE_BUSY, true);
    case PCT_OP_COND_WAKE: /* its mutex is another touch; to the condition variable it was woken from, it does nothing
                            */
        return ROW(NOTHING, NOTHING, true);
    case PCT_OP_MUTEX_TRYLOCK:
    case PCT_OP_SPIN_TRYLOCK:
    case PCT_OP_RWLOCK_TRYWRLOCK:
        return ROW(PCT_USE_TAKES, PCT_USE_BUSY, false);
    case PCT_OP_MUTEX_UNLOCK:
    case PCT_OP_SPIN_UNLOCK:
    case PCT_OP_RWLOCK_UNLOCK:
    case PCT_OP_ONCE_DONE:
        return ROW(PCT_USE_GIVES, PCT_USE_ANY, false);
    case PCT_OP_RWLOCK_RDLOCK:
        return ROW(PCT_USE_SHARES, PCT_USE_BUSY, true);
    case PCT_OP_RWLOCK_TRYRDLOCK:
        return ROW(PCT_USE_SHARES, PCT_USE_BUSY, false);
    case PCT_OP_SEM_WAIT:
        return ROW(PCT_USE_DOWN, PCT_USE_EMPTY, true);
    case PCT_OP_SEM_TRYWAIT:
        return ROW(PCT_USE_DOWN, PCT_USE_EMPTY, false);
    case PCT_OP_SEM_POST:
        return ROW(PCT_USE_UP, PCT_USE_ANY, false);
    case PCT_OP_LOAD:
    case PCT_OP_ATOMIC_LOAD:
        return ROW(PCT_USE_READS, PCT_USE_READS, false);
    case PCT_OP_THREAD_FINISH:
        return ROW(PCT_USE_ENDS, PCT_USE_ENDS, false);
    case PCT_OP_THREAD_DETACH:
        return ROW(PCT_USE_DETACHES, PCT_USE_ANY, false);
    case PCT_OP_THREAD_JOIN:
    case PCT_OP_COND_DESTROY:
    case PCT_OP_FUTEX_WAIT:
    case PCT_OP_LOADER:
        return ROW(PCT_USE_ANY, PCT_USE_ANY, true);
    case PCT_OP_THREAD_CREATE:
    case PCT_OP_THREAD_TRYJOIN:
    case PCT_OP_MUTEX_INIT:
    case PCT_OP_MUTEX_DESTROY:
    case PCT_OP_COND_WAIT:
    case PCT_OP_COND_SIGNAL:
    case PCT_OP_COND_BROADCAST:
    case PCT_OP_COND_INIT:
    case PCT_OP_RWLOCK_INIT:
    case PCT_OP_RWLOCK_DESTROY:
    case PCT_OP_BARRIER_ARRIVE:
    case PCT_OP_BARRIER_INIT:
    case PCT_OP_BARRIER_DESTROY:
    case PCT_OP_SPIN_INIT:
    case PCT_OP_SPIN_DESTROY:
    case PCT_OP_SEM_INIT:
    case PCT_OP_SEM_DESTROY:
    case PCT_OP_FUTEX_WAKE:
    case PCT_OP_STORE:
    case PCT_OP_ATOMIC_STORE:
    case PCT_OP_ATOMIC_UPDATE:
    case PCT_OP_ATOMIC_TRY:
        return ROW(PCT_USE_ANY, PCT_USE_ANY, false);
    case PCT_OP_THREAD_START:
    case PCT_OP_BARRIER_LEAVE:
    case PCT_OP_FUTEX_WOKEN:
    case PCT_OP_AWAKE:
        return ROW(NOTHING, NOTHING, true);
    case PCT_OP_THREAD_EXIT:
    case PCT_OP_TESTCANCEL:
    case PCT_OP_YIELD:
    case PCT_OP_SLEEP:
    case PCT_OP_CLOCK:
    case PCT_OP_EXIT_NOW:
    case PCT_OP_DEADLINE: /* what it is for, and time, are no object of its record: pct_event_suppose() */
        return ROW(NOTHING, NOTHING, false);
    case PCT_OP_EXIT:
        return ROW(END, END, false);
    case PCT_OP_READ:
    case PCT_OP_WRITE:
    case PCT_OP_POLL:
    case PCT_OP_CLOSE:
    case PCT_OP_ACCEPT:
    case PCT_OP_CONNECT:
    case PCT_OP_SHUTDOWN:
    case PCT_OP_FILE_LOCK:
    case PCT_OP_FILE_UNLOCK:
    case PCT_OP_OPEN:
    case PCT_OP_MESSAGE:
        return ROW(KERNEL, KERNEL, true);
    default:
        return ROW(UNKNOWN, UNKNOWN, true);
    }
#undef ROW
}

uint64_t pct_op_key(enum pct_op op)
{
    uint8_t use = row_of(op).use;
    return use == KERNEL ? PCT_KEY_KERNEL : use == END ? PCT_KEY_END : 0;
}

bool pct_touch_is_hidden(const struct pct_event *event, const struct pct_touch *touch)
{
    bool of_operation = touch->key == pct_op_key((enum pct_op)event->op) ||
                        (touch->key == PCT_KEY_THREADS && event->op == PCT_OP_THREAD_CREATE) ||
                        (touch->key == PCT_KEY_TIME && event->op == PCT_OP_DEADLINE);
    return touch->key >= PCT_KEY_HIDDEN && !of_operation;
}

bool pct_use_of(enum pct_op op, uint32_t arg, enum pct_use *use, bool *none)
{
    struct row row = row_of(op);
    *none = false;
    *use = PCT_USE_ANY;
    if (row.use == UNKNOWN)
        return false;
    if (pct_op_key(op))
        return true;
    bool failed = arg == PCT_ARG_BUSY || arg == PCT_ARG_TIMEOUT;
    *none = row.use == NOTHING;
    *use = *none ? PCT_USE_ANY : (enum pct_use)(failed ? row.failed : row.use);
    if (arg == PCT_ARG_ERROR || arg == PCT_ARG_CANCELLED)
        *use = PCT_USE_ANY;
    if ((op == PCT_OP_COND_SIGNAL || op == PCT_OP_COND_BROADCAST) && arg == PCT_ARG_NOBODY)
        *use = PCT_USE_NOBODY;
    if (op == PCT_OP_ONCE && arg != PCT_ARG_RUN)
        *use = PCT_USE_BUSY; /* it was done already */
    return true;
}

bool pct_op_waits(enum pct_op op)
{
    return row_of(op).waits;
}

void pct_event_suppose(struct pct_event *event, uint64_t key)
{
    struct row row = row_of((enum pct_op)event->op);
    event->waits = row.waits;
    event->touches = 0;
    if (event->op == PCT_OP_DEADLINE) {
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
    if (row.use == UNKNOWN || event->op == PCT_OP_COND_WAIT || (row.use != NOTHING && !key))
        event->global = true;
    else if (row.use != NOTHING)
        event->touch[event->touches++] = (struct pct_touch){ .key = key, .use = row.use };
    event->own = event->touches;
}

/* Whether the result depends on who came first. */
static bool result_is_open(enum pct_op op)
{
    switch (op) {
    case PCT_OP_MUTEX_TRYLOCK:
    case PCT_OP_SPIN_TRYLOCK:
    case PCT_OP_RWLOCK_TRYRDLOCK:
    case PCT_OP_RWLOCK_TRYWRLOCK:
    case PCT_OP_SEM_TRYWAIT:
    case PCT_OP_COND_SIGNAL:
    case PCT_OP_COND_BROADCAST:
    case PCT_OP_BARRIER_ARRIVE:
    case PCT_OP_ONCE:
    case PCT_OP_MUTEX_LOCK: /* with a deadline */
    case PCT_OP_SPIN_LOCK:
    case PCT_OP_RWLOCK_RDLOCK:
    case PCT_OP_RWLOCK_WRLOCK:
    case PCT_OP_SEM_WAIT:
        return true;
    default:
        return false;
    }
}

struct pct_event pct_event_open(const struct pct_event *event)
{
    struct pct_event open = *event;
    if (!result_is_open((enum pct_op)event->op))
        return open;
    for (unsigned i = 0; i < open.own; i++)
        if (open.touch[i].use != PCT_USE_SHARES || event->op == PCT_OP_RWLOCK_TRYRDLOCK)
            open.touch[i].use = PCT_USE_ANY;
    open.choices = open.chosen = 0;
    return open;
}
