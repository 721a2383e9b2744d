/* A recorded run as the rules see it: see history.h. */
#include "history.h"
#include "places.h"
#include "words.h"
#include <cli/base/grow.h>
#include <cli/base/cli.h>
#include <cli/trace/events.h>
#include <cli/trace/frames.h>
#include <cli/trace/unwind.h>
#include <cli/trace/variable.h>
#include <pct/operations.h>
#include <pct/strategy.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool pct_moment_failed(const struct pct_moment *moment)
{
    switch (moment->argument) {
    case PCT_ARG_BUSY:
    case PCT_ARG_TIMEOUT:
    case PCT_ARG_ERROR:
    case PCT_ARG_CANCELLED:
        /* A signal's and a wake's is a number among the waiters. */
        return moment->op != PCT_OP_COND_SIGNAL && moment->op != PCT_OP_FUTEX_WAKE;
    default:
        return false;
    }
}

static bool gives(unsigned op)
{
    return op == PCT_OP_MUTEX_UNLOCK || op == PCT_OP_SPIN_UNLOCK || op == PCT_OP_RWLOCK_UNLOCK;
}

static bool reads_only(unsigned op)
{
    return op == PCT_OP_RWLOCK_RDLOCK || op == PCT_OP_RWLOCK_TRYRDLOCK;
}

bool pct_moment_locks(const struct pct_moment *moment)
{
    return pct_operation_locks(moment->op) || moment->word == PCT_WORD_TAKES || moment->word == PCT_WORD_SHARES;
}

bool pct_hold_ends_in_wait(const struct pct_history *h, const struct pct_hold *hold)
{
    const struct pct_moment *end = hold->released == PCT_NO_STEP ? NULL : &h->steps[hold->released];
    return end && (end->op == PCT_OP_COND_WAIT || (end->waits && end->thread == hold->thread));
}

bool pct_moment_same_object(const struct pct_moment *a, const struct pct_moment *b)
{
    return a->object && a->class_ == b->class_ && a->object == b->object &&
           (a->part == b->part || !a->part || !b->part);
}

enum pct_access pct_moment_access(const struct pct_moment *moment)
{
    if (!moment->object || (pct_moment_failed(moment) && moment->op != PCT_OP_COND_WAKE))
        return PCT_ACCESS_NONE;
    if (moment->aside && !moment->part)
        return PCT_ACCESS_NONE;
    if (moment->word)
        return pct_moment_locks(moment) ? PCT_ACCESS_UNKNOWN : PCT_ACCESS_NONE;
    switch (moment->op) {
    case PCT_OP_LOAD:
    case PCT_OP_ATOMIC_LOAD:
    case PCT_OP_RWLOCK_RDLOCK:
    case PCT_OP_RWLOCK_TRYRDLOCK:
        return PCT_ACCESS_READ;
    case PCT_OP_STORE:
    case PCT_OP_ATOMIC_STORE:
        return PCT_ACCESS_WRITE;
    case PCT_OP_ATOMIC_UPDATE:
    case PCT_OP_ATOMIC_TRY:
        return PCT_ACCESS_UPDATE;
    case PCT_OP_SEM_POST:
        return PCT_ACCESS_POST;
    case PCT_OP_SEM_WAIT:
    case PCT_OP_SEM_TRYWAIT:
        return PCT_ACCESS_UNKNOWN;
    case PCT_OP_READ:
    case PCT_OP_WRITE:
        /* What threads write for people to read comes in any order. */
        return moment->object > STDERR_FILENO ? PCT_ACCESS_UPDATE : PCT_ACCESS_NONE;
    default:
        return pct_operation_locks(moment->op) ? PCT_ACCESS_UNKNOWN : PCT_ACCESS_NONE;
    }
}

enum pct_access pct_moment_own_access(const struct pct_moment *moment)
{
    return moment->foreign ? PCT_ACCESS_NONE : pct_moment_access(moment);
}

bool pct_access_conflict(enum pct_access a, enum pct_access b)
{
    return a && b && !(a == b && (a == PCT_ACCESS_READ || a == PCT_ACCESS_POST));
}

/* --- What is held ------------------------------------------------------------------------------------------------- */

static const struct pct_hold *held_in(const struct pct_history *h, uint32_t held, unsigned class_, uint32_t object)
{
    for (; held; held = h->links[held].next) {
        const struct pct_hold *hold = &h->holds[h->links[held].hold];
        if (hold->object == object && hold->class_ == class_)
            return hold;
    }
    return NULL;
}

const struct pct_hold *pct_history_holds(const struct pct_history *h, uint32_t step, unsigned class_, uint32_t object)
{
    return object ? held_in(h, h->steps[step].held, class_, object) : NULL;
}

const struct pct_hold *pct_history_ended(const struct pct_history *h, uint32_t step)
{
    const uint32_t before = h->steps[step].previous;
    uint32_t latest = PCT_NO_HOLD;
    for (uint32_t i = before == PCT_NO_STEP ? 0 : h->steps[before].held; i; i = h->links[i].next) {
        const uint32_t hold = h->links[i].hold;
        if (h->holds[hold].released == step && (latest == PCT_NO_HOLD || hold > latest))
            latest = hold;
    }
    return latest == PCT_NO_HOLD ? NULL : &h->holds[latest];
}

/* The list with this hold in front. 0: out of memory, too. */
static uint32_t link_hold(struct pct_history *h, uint32_t hold, uint32_t next)
{
    if (!PCT_GROW(h->links, h->link_count + 1, h->link_room))
        return 0;
    h->links[++h->link_count] = (struct pct_held){ hold, next };
    return h->link_count;
}

/* The list without this hold: what stands before it is copied, since earlier steps keep theirs. */
static uint32_t unlink_hold(struct pct_history *h, uint32_t held, uint32_t hold)
{
    if (!held || h->links[held].hold == hold)
        return held ? h->links[held].next : 0;
    uint32_t rest = unlink_hold(h, h->links[held].next, hold);
    return link_hold(h, h->links[held].hold, rest);
}

static bool take(struct pct_history *h, uint32_t *held, uint32_t step, unsigned class_, uint32_t object, bool shared)
{
    const struct pct_hold *known = held_in(h, *held, class_, object);
    if (known) {
        h->holds[known - h->holds].depth++;
        return true;
    }
    if (!PCT_GROW(h->holds, h->hold_count, h->hold_room))
        return false;
    h->holds[h->hold_count] = (struct pct_hold){ .thread = h->steps[step].thread,
                                                 .class_ = class_,
                                                 .object = object,
                                                 .taken = step,
                                                 .released = PCT_NO_STEP,
                                                 .depth = 1,
                                                 .shared = shared };
    h->steps[step].hold = h->hold_count;
    *held = link_hold(h, h->hold_count++, *held);
    return *held;
}

/* whole: all levels of a recursive lock. */
static void give(struct pct_history *h, uint32_t *held, uint32_t step, unsigned class_, uint32_t object, bool whole)
{
    const struct pct_hold *known = held_in(h, *held, class_, object);
    if (!known)
        return;
    struct pct_hold *hold = &h->holds[known - h->holds];
    if (!whole && --hold->depth)
        return;
    hold->released = step;
    *held = unlink_hold(h, *held, (uint32_t)(hold - h->holds));
}

/* Whether another thread takes this mutex while the thread of this wait waits: then the wait has given it up. */
static bool taken_meanwhile(const struct pct_history *h, uint32_t wait, uint32_t mutex)
{
    const uint32_t end = h->steps[wait].next == PCT_NO_STEP ? h->count : h->steps[wait].next;
    for (uint32_t i = wait + 1; i < end; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (m->thread != h->steps[wait].thread && m->class_ == PCT_CLASS_MUTEX && m->object == mutex &&
            pct_operation_locks(m->op) && !pct_moment_failed(m))
            return true;
    }
    return false;
}

/* Whether the thread of this wait has the mutex still, at the end. */
static bool keeps(const struct pct_history *h, uint32_t wait, uint32_t mutex)
{
    const struct pct_snap_object *object =
        h->steps[wait].next == PCT_NO_STEP ? pct_snapshot_object(&h->snapshot, mutex) : NULL;
    return object && object->holder == h->steps[wait].thread;
}

/* Whether who waited on the same condition variable before did so with this mutex: all have to, at a time. */
static bool goes_with(const struct pct_history *h, uint32_t wait, uint32_t mutex)
{
    for (uint32_t i = wait; i-- > 0;)
        if (h->steps[i].op == PCT_OP_COND_WAIT && pct_moment_same_object(&h->steps[i], &h->steps[wait]))
            return h->steps[i].mutex == mutex;
    return false;
}

/* The mutex that a wait on a condition variable gives up, which its record does not say: of those that the thread has,
 * and does not keep, the one that another thread takes meanwhile; or the latest. Which one that is does not matter
 * where nobody takes one until the thread is woken. */
static uint32_t mutex_of(struct pct_history *h, uint32_t wait, uint32_t held)
{
    uint32_t latest = 0, count = 0;
    for (uint32_t i = held; i; i = h->links[i].next) {
        const struct pct_hold *hold = &h->holds[h->links[i].hold];
        if (hold->class_ != PCT_CLASS_MUTEX || keeps(h, wait, hold->object))
            continue;
        latest = count++ ? latest : hold->object;
    }
    for (uint32_t i = held; count > 1 && i; i = h->links[i].next) {
        const struct pct_hold *hold = &h->holds[h->links[i].hold];
        if (hold->class_ == PCT_CLASS_MUTEX && taken_meanwhile(h, wait, hold->object))
            return hold->object;
    }
    if (!count || (count > 1 && h->steps[wait].next == PCT_NO_STEP && !goes_with(h, wait, latest)))
        h->sure = false;
    return latest;
}

/* The lock that is made of this word: whoever still seems to have it has given it back, unseen. held: by thread. */
static bool follow_word(struct pct_history *h, uint32_t i, uint32_t *held)
{
    const struct pct_moment *m = &h->steps[i];
    const struct pct_hold *hold = held_in(h, held[m->thread], m->class_, m->object);
    if (m->word == PCT_WORD_GIVES)
        give(h, &held[m->thread], i, m->class_, m->object, !hold || !hold->shared);
    if (m->word == PCT_WORD_SHARES)
        return take(h, &held[m->thread], i, m->class_, m->object, true);
    if (m->word != PCT_WORD_TAKES)
        return true;
    for (uint32_t thread = 0; thread < h->threads; thread++)
        give(h, &held[thread], i, m->class_, m->object, true);
    return take(h, &held[m->thread], i, m->class_, m->object, false);
}

/* Who comes first to the guard of a static local makes it, and lets go of the guard when it is made: others wait until
 * then, and whoever comes behind that has nothing to make. */
static bool follow_guard(struct pct_history *h, uint32_t i, uint32_t *held)
{
    const struct pct_moment *m = &h->steps[i];
    if (m->op == PCT_OP_GUARD_RELEASE)
        give(h, held, i, m->class_, m->object, true);
    if (m->op != PCT_OP_GUARD_ACQUIRE || !m->object)
        return true;
    for (uint32_t j = 0; j < h->hold_count; j++)
        if (h->holds[j].class_ == m->class_ && h->holds[j].object == m->object)
            return true;
    return take(h, held, i, m->class_, m->object, false);
}

/* What the step does to what its thread holds. held: by thread. */
static bool follow(struct pct_history *h, uint32_t i, uint32_t *all, uint32_t *waits)
{
    struct pct_moment *m = &h->steps[i];
    uint32_t *held = &all[m->thread];
    if (m->op == PCT_OP_COND_WAIT && !pct_moment_failed(m)) {
        m->mutex = mutex_of(h, i, *held);
        *waits = m->mutex;
        give(h, held, i, PCT_CLASS_MUTEX, m->mutex, true);
    } else if (m->op == PCT_OP_COND_WAKE) {
        m->mutex = *waits;
        *waits = 0;
        if (m->mutex && !take(h, held, i, PCT_CLASS_MUTEX, m->mutex, false))
            return false;
    } else if (pct_operation_locks(m->op) && m->object && !pct_moment_failed(m)) {
        if (!take(h, held, i, m->class_, m->object, reads_only(m->op)))
            return false;
    } else if (gives(m->op) && !pct_moment_failed(m)) {
        give(h, held, i, m->class_, m->object, false);
    } else if (m->op == PCT_OP_MUTEX_INIT || m->op == PCT_OP_RWLOCK_INIT || m->op == PCT_OP_SPIN_INIT) {
        give(h, held, i, m->class_, m->object, true);
    }
    if (!follow_word(h, i, all) || !follow_guard(h, i, held))
        return false;
    m->held = *held;
    return true;
}

/* --- Steps -------------------------------------------------------------------------------------------------------- */

static void set_place(struct pct_moment *m, struct pct_code_place place)
{
    m->place = place.place;
    m->way = place.way;
    m->code = place.code;
}

static void fill(const struct pct_history *h, uint32_t i, const struct pct_event *event, struct pct_places *places)
{
    struct pct_moment *m = &h->steps[i];
    const struct pct_site *site = pct_snapshot_site(&h->snapshot, i);
    *m = (struct pct_moment){ .thread = event->thread,
                              .op = PCT_RECORD_OP(event->record),
                              .argument = PCT_RECORD_ARG(event->record),
                              .previous = PCT_NO_STEP,
                              .next = PCT_NO_STEP,
                              .woken = event->woken,
                              .cause = PCT_NO_STEP,
                              .hold = PCT_NO_HOLD };
    m->class_ = pct_name_op_class(m->op);
    m->object = m->class_ == PCT_CLASS_NONE ? 0 : PCT_RECORD_OBJECT(event->record);
    if ((m->op == PCT_OP_COND_WAKE || m->op == PCT_OP_FUTEX_WOKEN) && event->link == PCT_LINK_WAKE &&
        m->argument != PCT_ARG_TIMEOUT)
        m->cause = (uint32_t)event->from - 1;
    if (site) {
        m->address = site->object;
        set_place(m, pct_places_of(places, &h->snapshot, i));
    }
}

enum { RDI = 5 }; /* by DWARF number; of a system call, its first argument */

/* Whether the thread was in the middle of its operation at the end: nobody is left at the other end of what it wrote
 * to. */
static bool is_amid(const struct pct_history *h, const struct pct_snap_thread *thread)
{
    const struct pct_trace_header *header = &h->trace->header;
    return thread->state == PCT_SNAP_RUNNING && header->verdict == PCT_VERDICT_CRASH && header->signal == SIGPIPE &&
           header->culprit == thread->id && thread->op == PCT_OP_WRITE;
}

/* What the threads were about to do at the end. */
static void add_pending(struct pct_history *h, struct pct_places *places)
{
    static struct pct_stack stack;
    for (size_t i = 0; i < h->snapshot.thread_count; i++) {
        const struct pct_snap_thread *thread = &h->snapshot.threads[i];
        if (thread->id >= h->threads ||
            (thread->state != PCT_SNAP_BLOCKED && thread->state != PCT_SNAP_ENABLED && !is_amid(h, thread)))
            continue;
        struct pct_moment *m = &h->steps[h->all];
        bool amid = is_amid(h, thread);
        *m = (struct pct_moment){ .thread = thread->id,
                                  .op = thread->op,
                                  .class_ = amid ? PCT_CLASS_FD : pct_snapshot_wait_class(&h->snapshot, thread),
                                  .object = amid ? (uint32_t)thread->regs[RDI] : thread->object,
                                  .previous = h->last[thread->id],
                                  .next = PCT_NO_STEP,
                                  .woken = PCT_NO_THREAD,
                                  .cause = PCT_NO_STEP,
                                  .hold = PCT_NO_HOLD,
                                  .pending = true,
                                  .blocked = thread->state == PCT_SNAP_BLOCKED };
        const struct pct_moment *before = m->previous == PCT_NO_STEP ? NULL : &h->steps[m->previous];
        if (m->op == PCT_OP_COND_WAIT && before && before->op == PCT_OP_COND_WAIT) {
            m->op = PCT_OP_COND_WAKE;
            m->mutex = before->mutex;
        }
        /* Numbers of objects have that many bits; a damaged snapshot's may be anything. */
        if (m->class_ == PCT_CLASS_NONE || m->object != PCT_RECORD_OBJECT(m->object))
            m->object = 0;
        m->held = before ? before->held : 0;
        const struct pct_snap_object *object =
            m->object && m->class_ != PCT_CLASS_THREAD ? pct_snapshot_object(&h->snapshot, m->object) : NULL;
        m->address = object ? object->address : 0;
        for (uint32_t step = h->count; !m->address && m->object && step-- > 0;)
            if (pct_moment_same_object(&h->steps[step], m))
                m->address = h->steps[step].address;
        stack.count = 0;
        if (h->unwinder)
            pct_unwind_thread(h->unwinder, i, &stack);
        set_place(m, pct_places_of_stack(places, &stack));
        if (before)
            h->steps[m->previous].next = h->all;
        h->last[thread->id] = h->all++;
    }
}

/* What pct could not order may have locked, unlocked or signalled, too. */
static bool knows_all(const struct pct_trace *trace)
{
    static const unsigned blind[] = { PCT_UNCONTROLLED_FOREIGN, PCT_UNCONTROLLED_PSHARED, PCT_UNCONTROLLED_HANDLER,
                                      PCT_UNCONTROLLED_STRICT, PCT_UNCONTROLLED_HELD };
    for (size_t i = 0; i < sizeof blind / sizeof *blind; i++)
        if (trace->header.uncontrolled[blind[i]])
            return false;
    return true;
}

enum { WORD = 8, UNKNOWN = 0xff }; /* bytes with one number; of a byte there, that its variable was not looked up */

/* The variable at this address, by where it begins in its eight bytes, from 1. 0: it has no symbol. */
static uint8_t part_at(const struct pct_history *h, uint64_t address)
{
    struct pct_variable variable;
    uint64_t into = h->unwinder && pct_variable_find(h->unwinder, address, &variable) ? variable.into : UINT64_MAX;
    return into == UINT64_MAX ? 0 : into >= address % WORD ? 1 : (uint8_t)(1 + address % WORD - into);
}

static uint32_t memory_objects(const struct pct_history *h)
{
    uint32_t objects = 0;
    for (uint32_t i = 0; i < h->all; i++)
        if (h->steps[i].class_ == PCT_CLASS_MEMORY && h->steps[i].object >= objects)
            objects = h->steps[i].object + 1;
    return objects;
}

/* The scheduler has one number for an aligned eight bytes. Of those where several addresses were used, variables are
 * looked up: two of them are two objects. */
static int tell_neighbours_apart(struct pct_history *h)
{
    const uint32_t objects = memory_objects(h);
    uint64_t *first = calloc(objects + (size_t)1, sizeof *first);
    uint8_t(*parts)[WORD] = malloc((objects + (size_t)1) * sizeof *parts);
    bool *several = calloc(objects + (size_t)1, sizeof *several);
    for (uint32_t i = 0; first && parts && several && i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (m->class_ != PCT_CLASS_MEMORY || !m->object || !m->address)
            continue;
        first[m->object] = first[m->object] ? first[m->object] : m->address;
        several[m->object] |= m->address != first[m->object];
        memset(parts[m->object], UNKNOWN, WORD);
    }
    for (uint32_t i = 0; first && parts && several && i < h->count; i++) {
        struct pct_moment *m = &h->steps[i];
        if (m->class_ != PCT_CLASS_MEMORY || !m->object || !m->address || !several[m->object] || m->aside)
            continue;
        uint8_t *part = &parts[m->object][m->address % WORD];
        *part = *part == UNKNOWN ? part_at(h, m->address) : *part;
        m->part = *part;
    }
    bool failed = !first || !parts || !several;
    free(first);
    free(parts);
    free(several);
    return failed ? -ENOMEM : 0;
}

enum { UNKNOWN_YET, OWN, FOREIGN, PANICS };

/* By its symbol: a variable of the program that one of a library's types is made of has the program's name. */
static uint8_t whose(const struct pct_history *h, uint64_t address)
{
    static const char panics[] = "std::panicking::";
    char name[256];
    if (!pct_unwind_object(h->unwinder, address, name, sizeof name) || !pct_frame_is_library(name, "", ""))
        return OWN;
    return strncmp(name, panics, sizeof panics - 1) ? FOREIGN : PANICS;
}

/* Of a thread that panics: its own variables are seen to behind that, on its way out. main() may set what is to be
 * called then, before there are others. */
static void mark_unwinding(struct pct_history *h, uint32_t i)
{
    const uint32_t thread = h->steps[i].thread;
    if (thread && h->trace->header.verdict == PCT_VERDICT_EXIT && h->trace->header.exit_status && i < h->failed)
        h->failed = i;
    for (; thread && i != PCT_NO_STEP && !h->steps[i].unwinding; i = h->steps[i].next)
        h->steps[i].unwinding = true;
}

static int mark_foreign(struct pct_history *h)
{
    uint8_t *known = h->unwinder ? calloc(memory_objects(h) + (size_t)1, sizeof *known) : NULL;
    for (uint32_t i = 0; known && i < h->all; i++) {
        struct pct_moment *m = &h->steps[i];
        if (m->class_ != PCT_CLASS_MEMORY || !m->object || !m->address)
            continue;
        uint8_t *one = &known[m->object];
        if (*one == UNKNOWN_YET)
            *one = whose(h, m->address);
        m->foreign = *one != OWN;
        if (*one == PANICS && pct_moment_access(m) != PCT_ACCESS_READ)
            mark_unwinding(h, i);
    }
    bool failed = h->unwinder && !known;
    free(known);
    return failed ? -ENOMEM : 0;
}

static int read_steps(struct pct_history *h)
{
    struct pct_events *events = pct_events_open(h->trace, &h->snapshot);
    uint32_t *held = calloc(PCT_MAX_THREADS + 1, sizeof *held), *waits = calloc(PCT_MAX_THREADS + 1, sizeof *waits);
    struct pct_places places;
    struct pct_event event;
    int failed = events && held && waits ? 0 : -ENOMEM;
    pct_places_open(&places, &h->snapshot, h->unwinder);
    while (!failed && h->count < h->trace->count && pct_events_next(events, &event)) {
        uint32_t i = h->count++, thread = event.thread;
        fill(h, i, &event, &places);
        h->steps[i].previous = h->last[thread];
        if (h->last[thread] != PCT_NO_STEP)
            h->steps[h->last[thread]].next = i;
        h->last[thread] = i;
        h->threads = thread >= h->threads ? thread + 1 : h->threads;
    }
    h->all = h->failed = h->count;
    if (!failed)
        pct_words_find(h);
    for (uint32_t i = 0; !failed && i < h->count; i++)
        failed = follow(h, i, held, &waits[h->steps[i].thread]) ? 0 : -ENOMEM;
    failed = failed ? failed : tell_neighbours_apart(h);
    if (!failed)
        add_pending(h, &places);
    failed = failed ? failed : mark_foreign(h);
    for (uint32_t i = 0; i < h->count; i++) {
        h->steps[i].calls = h->calls;
        h->calls += h->steps[i].class_ != PCT_CLASS_MEMORY;
    }
    pct_places_close(&places);
    pct_events_close(events);
    free(held);
    free(waits);
    return failed ? failed : pct_index_make(h);
}

int pct_history_open(struct pct_history *h, const struct pct_trace *trace)
{
    *h = (struct pct_history){ .trace = trace };
    if (trace->first || !trace->complete)
        return -ENODATA;
    if (trace->count > PCT_HISTORY_MOST)
        return -E2BIG;
    if (pct_snapshot_read(&h->snapshot, trace))
        return -ENOMEM;
    h->unwinder = pct_unwind_open(&h->snapshot);
    h->sure = knows_all(trace);
    h->places = h->snapshot.site_count;
    h->steps = calloc(trace->count + h->snapshot.thread_count + 1, sizeof *h->steps);
    h->last = malloc((PCT_MAX_THREADS + 1) * sizeof *h->last);
    for (uint32_t i = 0; h->last && i <= PCT_MAX_THREADS; i++)
        h->last[i] = PCT_NO_STEP;
    int failed = h->steps && h->last ? read_steps(h) : -ENOMEM;
    if (failed)
        pct_history_close(h);
    return failed;
}

/* Whether a thread of this process ever did anything to the object. */
static bool is_touched(const struct pct_trace *trace, unsigned class_, uint32_t object)
{
    for (uint64_t i = 0; i < trace->count; i++)
        if (PCT_RECORD_OBJECT(trace->records[i]) == object &&
            pct_name_op_class(PCT_RECORD_OP(trace->records[i])) == class_)
            return true;
    return false;
}

void pct_history_add_child(struct pct_history *h, const struct pct_trace *child)
{
    struct pct_snapshot snapshot;
    /* What has become another program has inherited no locks. */
    if (child->header.verdict != PCT_VERDICT_DEADLOCK || child->header.images || child->first || !child->complete ||
        pct_snapshot_read(&snapshot, child))
        return;
    for (size_t i = 0; i < snapshot.thread_count && !h->inherited; i++) {
        const struct pct_snap_thread *thread = &snapshot.threads[i];
        unsigned class_ = pct_snapshot_wait_class(&snapshot, thread);
        const struct pct_snap_object *object =
            thread->state == PCT_SNAP_BLOCKED && pct_operation_locks(thread->op) && thread->object
                ? pct_snapshot_object(&snapshot, thread->object)
                : NULL;
        if (!object || object->holder != PCT_NO_THREAD || is_touched(child, class_, thread->object))
            continue;
        h->inherited_class = class_;
        h->inherited = object->address;
    }
    pct_snapshot_free(&snapshot);
}

void pct_history_close(struct pct_history *h)
{
    pct_unwind_close(h->unwinder);
    pct_snapshot_free(&h->snapshot);
    free(h->steps);
    free(h->holds);
    free(h->links);
    free(h->last);
    pct_index_free(&h->index);
    *h = (struct pct_history){ 0 };
}
