/* What the steps of a trace mean: see events.h. */
#include "events.h"
#include <cli/base/cli.h>
#include <pct/strategy.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { UNRECORDED_MAX = 1 << 16, HELD_MAX = 8 };

/* What the trace tells about an object. */
struct object {
    uint16_t writer; /* who holds it: thread + 1, 0 for nobody */
    uint16_t readers;
    uint32_t depth;       /* of a recursive mutex */
    uint16_t left_by;     /* who made the last step that let others go on: thread + 1 */
    uint16_t first, last; /* who waits for a condition variable, in order of arrival: thread + 1 */
    uint32_t waiters;     /* and how many */
    uint64_t left_at;     /* and the number of that step */
};

struct thread {
    uint32_t held[HELD_MAX]; /* mutexes, in order; the last one is what a condition wait gives up */
    uint32_t held_count;
    uint32_t given; /* the mutex that its condition wait gave up */
    uint32_t waits; /* the condition variable in whose queue it stands, 0 for none */
    uint16_t prev, next;
    uint16_t woken_by; /* thread + 1 */
    uint16_t created_by;
    bool seen, finished;
    uint64_t woken_at, created_at, finished_at;
    uint64_t upcoming; /* the index of its next record + 1 after the current step, 0 for none */
};

struct pct_events {
    const struct pct_trace *trace;
    const struct pct_snapshot *snapshot;
    uint64_t index;         /* of the next record */
    uint64_t *after;        /* by record: the index + 1 of the same thread's next record, 0 for none */
    struct object *objects; /* by number */
    uint32_t object_count;
    uint32_t thread_count; /* the greatest one seen + 1 */
    struct thread threads[PCT_MAX_THREADS + 1];
};

const char *pct_reason_text(enum pct_reason reason)
{
    static const char *const texts[] = {
#define TEXT(id, text) text,
        PCT_REASONS(TEXT)
#undef TEXT
    };
    return texts[reason];
}

const char *pct_link_text(enum pct_link link)
{
    static const char *const texts[] = {
#define TEXT(id, text) text,
        PCT_LINKS(TEXT)
#undef TEXT
    };
    return texts[link];
}

/* The number of the object that this step was made on; 0 for none, and for threads and descriptors, which have their
 * own. */
static uint32_t number_of(uint64_t record)
{
    unsigned class_ = pct_name_op_class(PCT_RECORD_OP(record));
    return class_ == PCT_CLASS_NONE || class_ == PCT_CLASS_THREAD || class_ == PCT_CLASS_FD ? 0
                                                                                            : PCT_RECORD_OBJECT(record);
}

static void see(struct pct_events *e, uint32_t thread)
{
    e->threads[thread].seen = true;
    if (thread >= e->thread_count)
        e->thread_count = thread + 1;
}

struct pct_events *pct_events_open(const struct pct_trace *trace, const struct pct_snapshot *snapshot)
{
    /* Not from calloc(): that may clear it all, of which few pages are used, and campaigns read thousands of runs. */
    struct pct_events *e = mmap(NULL, sizeof *e, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (e == MAP_FAILED)
        return NULL;
    e->trace = trace;
    e->snapshot = snapshot;
    for (uint64_t i = 0; i < trace->count; i++)
        if (number_of(trace->records[i]) > e->object_count)
            e->object_count = number_of(trace->records[i]);
    /* Numbers are given in order, almost all with a step; only a damaged trace has greater ones. */
    if (e->object_count > trace->first + trace->count + UNRECORDED_MAX)
        e->object_count = (uint32_t)(trace->first + trace->count + UNRECORDED_MAX);
    e->objects = calloc((size_t)e->object_count + 1, sizeof *e->objects);
    e->after = malloc((trace->count + 1) * sizeof *e->after);
    if (!e->objects || !e->after) {
        pct_events_close(e);
        return NULL;
    }
    for (uint64_t i = trace->count; i-- > 0;) {
        struct thread *thread = &e->threads[PCT_RECORD_THREAD(trace->records[i])];
        e->after[i] = thread->upcoming;
        thread->upcoming = i + 1;
    }
    see(e, 0);
    return e;
}

void pct_events_close(struct pct_events *e)
{
    if (!e)
        return;
    free(e->objects);
    free(e->after);
    munmap(e, sizeof *e);
}

/* Those that have no number, or an impossible one, share the first. */
static uint32_t known(const struct pct_events *e, uint32_t number)
{
    return number <= e->object_count ? number : 0;
}

static bool failed(uint64_t record)
{
    unsigned argument = PCT_RECORD_ARG(record);
    return argument == PCT_ARG_BUSY || argument == PCT_ARG_TIMEOUT || argument == PCT_ARG_ERROR ||
           argument == PCT_ARG_CANCELLED;
}

/* The step lets others go on that wait for this object. */
static void leave(struct object *object, const struct pct_event *event)
{
    object->left_by = (uint16_t)(event->thread + 1);
    object->left_at = event->step;
}

/* The step had to wait for the one that left the object. */
static void link_to(struct pct_event *event, enum pct_link link, uint32_t thread, uint64_t step)
{
    if (!thread || thread - 1 == event->thread)
        return;
    event->link = link;
    event->from = step;
    event->from_thread = thread - 1;
}

static void take(struct object *object, struct pct_event *event)
{
    object->depth = object->writer == event->thread + 1 ? object->depth + 1 : 1;
    object->writer = (uint16_t)(event->thread + 1);
    link_to(event, PCT_LINK_RELEASE, object->left_by, object->left_at);
}

static void give(struct object *object, const struct pct_event *event)
{
    if (object->writer && (!object->depth || !--object->depth)) {
        object->writer = 0;
        leave(object, event);
    } else if (!object->writer && object->readers) {
        object->readers--;
        leave(object, event);
    }
}

/* The mutexes of a thread. Of more than there is room for, the oldest is forgotten. */
static void hold(struct thread *thread, uint32_t mutex)
{
    if (thread->held_count == HELD_MAX)
        memmove(&thread->held[0], &thread->held[1], --thread->held_count * sizeof thread->held[0]);
    thread->held[thread->held_count++] = mutex;
}

static void drop(struct thread *thread, uint32_t mutex)
{
    uint32_t i = thread->held_count;
    while (i && thread->held[i - 1] != mutex)
        i--;
    if (!i)
        return;
    memmove(&thread->held[i - 1], &thread->held[i], (thread->held_count - i) * sizeof thread->held[0]);
    thread->held_count--;
}

/* Queues of condition variables */

static void enqueue(struct pct_events *e, uint32_t thread, uint32_t object)
{
    struct thread *t = &e->threads[thread];
    struct object *o = &e->objects[object];
    t->waits = object;
    t->woken_by = 0;
    t->next = 0;
    t->prev = o->last;
    *(o->last ? &e->threads[o->last - 1].next : &o->first) = (uint16_t)(thread + 1);
    o->last = (uint16_t)(thread + 1);
    o->waiters++;
}

static void dequeue(struct pct_events *e, uint32_t thread)
{
    struct thread *t = &e->threads[thread];
    struct object *o = &e->objects[t->waits];
    if (!t->waits)
        return;
    *(t->prev ? &e->threads[t->prev - 1].next : &o->first) = t->next;
    *(t->next ? &e->threads[t->next - 1].prev : &o->last) = t->prev;
    t->waits = 0;
    o->waiters--;
}

static void wake(struct pct_events *e, uint32_t thread, const struct pct_event *event)
{
    dequeue(e, thread);
    e->threads[thread].woken_by = (uint16_t)(event->thread + 1);
    e->threads[thread].woken_at = event->step;
}

/* Its wait runs out of time or is cancelled; when, the trace does not say. */
static bool gives_up(const struct pct_events *e, uint32_t thread)
{
    uint64_t next = e->threads[thread].upcoming;
    return next && failed(e->trace->records[next - 1]);
}

static void signal_one(struct pct_events *e, const struct object *object, struct pct_event *event)
{
    uint32_t thread = object->first;
    event->waiters = object->waiters;
    bool sure = thread && !gives_up(e, thread - 1);
    for (unsigned skip = PCT_RECORD_ARG(event->record); thread && skip; skip--) {
        thread = e->threads[thread - 1].next;
        sure = sure && thread && !gives_up(e, thread - 1);
    }
    if (!thread)
        return;
    if (sure)
        event->woken = thread - 1;
    wake(e, thread - 1, event);
}

/* The effect of a step on condition variables and their mutexes. */
static void follow_cond(struct pct_events *e, struct pct_event *event)
{
    struct thread *self = &e->threads[event->thread];
    uint32_t number = known(e, number_of(event->record));
    struct object *object = &e->objects[number];
    switch (PCT_RECORD_OP(event->record)) {
    case PCT_OP_COND_WAIT:
        if (failed(event->record)) /* the mutex was not its own: nothing is given up, and nobody waits */
            break;
        dequeue(e, event->thread);
        self->given = self->held_count ? self->held[self->held_count - 1] : 0;
        drop(self, self->given);
        give(&e->objects[self->given], event);
        enqueue(e, event->thread, number);
        break;
    case PCT_OP_COND_WAKE:
        dequeue(e, event->thread);
        hold(self, self->given);
        take(&e->objects[self->given], event);
        if (!failed(event->record))
            link_to(event, PCT_LINK_WAKE, self->woken_by, self->woken_at);
        break;
    case PCT_OP_COND_SIGNAL:
        if (PCT_RECORD_ARG(event->record) != PCT_ARG_NOBODY)
            signal_one(e, object, event);
        break;
    case PCT_OP_COND_BROADCAST:
        while (object->first)
            wake(e, object->first - 1u, event);
        break;
    }
}

/* The effect of a step on threads. */
static void follow_thread(struct pct_events *e, struct pct_event *event)
{
    struct thread *self = &e->threads[event->thread];
    uint32_t number = PCT_RECORD_OBJECT(event->record);
    struct thread *other = &e->threads[number <= PCT_MAX_THREADS ? number : 0];
    switch (PCT_RECORD_OP(event->record)) {
    case PCT_OP_THREAD_CREATE:
        see(e, number <= PCT_MAX_THREADS ? number : 0);
        other->finished = false; /* the id may have been another thread's */
        other->created_by = (uint16_t)(event->thread + 1);
        other->created_at = event->step;
        break;
    case PCT_OP_THREAD_START:
        link_to(event, PCT_LINK_CREATE, self->created_by, self->created_at);
        break;
    case PCT_OP_THREAD_FINISH:
        self->finished = true;
        self->finished_at = event->step;
        break;
    case PCT_OP_THREAD_JOIN:
    case PCT_OP_THREAD_TRYJOIN:
        if (!failed(event->record) && other->finished)
            link_to(event, PCT_LINK_FINISH, number + 1, other->finished_at);
        break;
    case PCT_OP_SIGNAL_SEND:
        other->woken_by = (uint16_t)(event->thread + 1);
        other->woken_at = event->step;
        break;
    case PCT_OP_SIGNAL_HANDLE:
        link_to(event, PCT_LINK_SEND, self->woken_by, self->woken_at);
        self->woken_by = 0;
        break;
    }
}

/* The effect of a step on who holds what, and what it had to wait for. */
static void follow(struct pct_events *e, struct pct_event *event)
{
    struct thread *self = &e->threads[event->thread];
    uint32_t number = known(e, number_of(event->record));
    struct object *object = &e->objects[number];
    bool ok = !failed(event->record);
    see(e, event->thread);
    switch (PCT_RECORD_OP(event->record)) {
    case PCT_OP_MUTEX_LOCK:
    case PCT_OP_MUTEX_TRYLOCK:
        if (!ok)
            break;
        hold(self, number);
        take(object, event);
        break;
    case PCT_OP_SPIN_LOCK:
    case PCT_OP_SPIN_TRYLOCK:
    case PCT_OP_RWLOCK_WRLOCK:
    case PCT_OP_RWLOCK_TRYWRLOCK:
        if (ok)
            take(object, event);
        break;
    case PCT_OP_RWLOCK_RDLOCK:
    case PCT_OP_RWLOCK_TRYRDLOCK:
        if (!ok)
            break;
        object->readers++;
        link_to(event, PCT_LINK_RELEASE, object->left_by, object->left_at);
        break;
    case PCT_OP_MUTEX_UNLOCK:
        if (ok)
            drop(self, number);
        __attribute__((fallthrough));
    case PCT_OP_SPIN_UNLOCK:
    case PCT_OP_RWLOCK_UNLOCK:
        if (ok)
            give(object, event);
        break;
    case PCT_OP_SEM_WAIT:
    case PCT_OP_SEM_TRYWAIT:
        if (ok)
            link_to(event, PCT_LINK_POST, object->left_by, object->left_at);
        break;
    case PCT_OP_FUTEX_WOKEN:
        if (ok)
            link_to(event, PCT_LINK_WAKE, object->left_by, object->left_at);
        break;
    case PCT_OP_BARRIER_LEAVE:
        link_to(event, PCT_LINK_ARRIVE, object->left_by, object->left_at);
        break;
    case PCT_OP_ONCE:
    case PCT_OP_GUARD_ACQUIRE:
        link_to(event, PCT_LINK_ONCE, object->left_by, object->left_at);
        break;
    case PCT_OP_SEM_POST:
    case PCT_OP_FUTEX_WAKE:
    case PCT_OP_BARRIER_ARRIVE:
    case PCT_OP_ONCE_DONE:
    case PCT_OP_GUARD_RELEASE:
        leave(object, event);
        break;
    default:
        follow_cond(e, event);
        follow_thread(e, event);
    }
}

/* Why this thread does not run on, given its next operation. */
static enum pct_reason reason(const struct pct_events *e, uint32_t thread, unsigned op, uint32_t number)
{
    const struct object *object = &e->objects[known(e, number)];
    bool taken = object->writer && object->writer != thread + 1;
    switch (op) {
    case PCT_OP_MUTEX_LOCK:
    case PCT_OP_STREAM:
    case PCT_OP_SPIN_LOCK:
    case PCT_OP_RWLOCK_RDLOCK:
        return taken ? PCT_REASON_BLOCKED : PCT_REASON_PREEMPTED;
    case PCT_OP_RWLOCK_WRLOCK:
        return taken || object->readers ? PCT_REASON_BLOCKED : PCT_REASON_PREEMPTED;
    case PCT_OP_THREAD_JOIN:
        return number <= PCT_MAX_THREADS && !e->threads[number].finished ? PCT_REASON_BLOCKED : PCT_REASON_PREEMPTED;
    case PCT_OP_COND_WAKE:
    case PCT_OP_BARRIER_LEAVE:
    case PCT_OP_FUTEX_WOKEN:
    case PCT_OP_SIGNAL_WAIT:
    case PCT_OP_DEADLINE:
    case PCT_OP_REQUEST_WAIT:
    case PCT_OP_LOADER:
        return PCT_REASON_WAITS;
    case PCT_OP_AWAKE:
        return PCT_REASON_SLEEPS;
    case PCT_OP_OUTSIDE:
        return PCT_REASON_OUTSIDE;
    case PCT_OP_EXIT:
        return PCT_REASON_EXIT;
    case PCT_OP_SEM_WAIT:
        return PCT_REASON_SEM;
    case PCT_OP_READ:
    case PCT_OP_WRITE:
    case PCT_OP_POLL:
    case PCT_OP_ACCEPT:
    case PCT_OP_CONNECT:
    case PCT_OP_OPEN:
    case PCT_OP_FILE_LOCK:
    case PCT_OP_MESSAGE:
    case PCT_OP_CHILD_WAIT:
        return PCT_REASON_IO;
    }
    return PCT_REASON_PREEMPTED;
}

/* Whether the thread waits behind this step, which begins a wait: not if that was refused, as a futex whose word has
 * another value is. A lock with priority inheritance that is taken is tried, and then waited for: the next step of the
 * thread, or what it is about to do at the end, is the same again. */
static bool has_waited(const struct pct_events *e, const struct pct_event *event)
{
    uint64_t record = event->record, next = e->threads[event->thread].upcoming;
    const struct pct_snap_thread *end = next ? NULL : pct_snapshot_thread(e->snapshot, event->thread);
    if (!PCT_RECORD_ARG(record))
        return true;
    if (PCT_RECORD_OP(record) == PCT_OP_COND_WAIT)
        return false;
    if (next)
        return PCT_RECORD_OP(e->trace->records[next - 1]) == PCT_OP_FUTEX_WAIT &&
               PCT_RECORD_OBJECT(e->trace->records[next - 1]) == PCT_RECORD_OBJECT(record);
    return end && end->state == PCT_SNAP_BLOCKED && end->op == PCT_OP_FUTEX_WAIT;
}

/* Why the thread of this step was left after it. */
static enum pct_reason switch_reason(const struct pct_events *e, const struct pct_event *event)
{
    switch (PCT_RECORD_OP(event->record)) {
    case PCT_OP_THREAD_FINISH:
        return PCT_REASON_FINISHED;
    case PCT_OP_COND_WAIT:
    case PCT_OP_FUTEX_WAIT:
        if (has_waited(e, event))
            return PCT_REASON_WAITS;
        break;
    case PCT_OP_SLEEP:
        return PCT_REASON_SLEEPS;
    case PCT_OP_YIELD:
        return PCT_REASON_YIELDS;
    case PCT_OP_STUCK:
        switch (PCT_RECORD_ARG(event->record)) {
        case PCT_ARG_SPINS:
            return PCT_REASON_SPINS;
        case PCT_ARG_SLEEPS:
            return PCT_REASON_CALL;
        default:
            return PCT_REASON_LONG;
        }
    }
    uint64_t next = e->threads[event->thread].upcoming;
    if (next) {
        uint64_t record = e->trace->records[next - 1];
        return reason(e, event->thread, PCT_RECORD_OP(record), PCT_RECORD_OBJECT(record));
    }
    const struct pct_snap_thread *end = pct_snapshot_thread(e->snapshot, event->thread);
    if (!end)
        return PCT_REASON_NONE;
    if (end->state == PCT_SNAP_OUTSIDE)
        return PCT_REASON_OUTSIDE;
    return reason(e, event->thread, end->op, end->object);
}

bool pct_events_next(struct pct_events *e, struct pct_event *event)
{
    uint64_t i = e->index;
    if (i >= e->trace->count)
        return false;
    e->index++;
    uint64_t record = e->trace->records[i];
    uint32_t thread = PCT_RECORD_THREAD(record);
    *event = (struct pct_event){ .step = e->trace->first + i + 1,
                                 .index = i,
                                 .record = record,
                                 .thread = thread,
                                 .next = thread,
                                 .woken = PCT_NO_THREAD };
    e->threads[thread].upcoming = e->after[i];
    follow(e, event);
    if (i + 1 < e->trace->count)
        event->next = PCT_RECORD_THREAD(e->trace->records[i + 1]);
    if (event->next != thread)
        event->reason = switch_reason(e, event);
    return true;
}

struct pct_pending pct_events_pending(const struct pct_events *e, uint32_t thread)
{
    struct pct_pending pending = { .holder = PCT_NO_THREAD };
    const struct pct_snap_thread *end = pct_snapshot_thread(e->snapshot, thread);
    if (thread > PCT_MAX_THREADS)
        return pending;
    uint64_t next = e->threads[thread].upcoming;
    if (next) {
        uint64_t record = e->trace->records[next - 1];
        enum pct_reason why = reason(e, thread, PCT_RECORD_OP(record), PCT_RECORD_OBJECT(record));
        pending.op = PCT_RECORD_OP(record);
        pending.class_ = pct_name_op_class(pending.op);
        pending.object = PCT_RECORD_OBJECT(record);
        pending.blocked = why == PCT_REASON_BLOCKED || why == PCT_REASON_WAITS;
        pending.known = true;
    } else if (end) {
        pending.op = end->op;
        pending.class_ = pct_snapshot_wait_class(e->snapshot, end);
        pending.object = end->object;
        pending.blocked = end->state == PCT_SNAP_BLOCKED;
        pending.holder = end->holder;
        pending.known = true;
    }
    if (pending.blocked && pending.op == PCT_OP_THREAD_JOIN)
        pending.holder = pending.object;
    else if (pending.blocked && pending.holder == PCT_NO_THREAD) /* nobody holds a descriptor, whatever its number */
        pending.holder = pct_events_holder(e, number_of(PCT_RECORD(thread, pending.op, 0, pending.object)));
    return pending;
}

uint32_t pct_events_holder(const struct pct_events *e, uint32_t object)
{
    return object && object <= e->object_count && e->objects[object].writer ? e->objects[object].writer - 1u
                                                                            : PCT_NO_THREAD;
}

uint32_t pct_events_threads(const struct pct_events *e)
{
    return e->thread_count;
}

bool pct_events_seen(const struct pct_events *e, uint32_t thread)
{
    return thread <= PCT_MAX_THREADS && e->threads[thread].seen;
}

bool pct_events_lives(const struct pct_events *e, uint32_t thread)
{
    return pct_events_seen(e, thread) && !e->threads[thread].finished;
}
