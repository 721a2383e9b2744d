/* The race detector: what orders accesses. Happens-before edges of the operations in the trace, and of atomic accesses.
 *
 * Where one clock stands for several objects (all that goes through the kernel), there may be an edge too many, and a race that is
 * not seen; never one too few, and a false report. */
#include "races_state.h"

bool pct_races_know(struct pct_races *r, uint32_t thread)
{
    struct pct_clock *now = &r->threads[thread].now;
    if (pct_clock_get(now, thread))
        return true;
    if (!pct_clock_reach(&r->memory, now, thread))
        return false;
    now->at[thread] = 1;
    return true;
}

/* A new epoch: what the thread does from now on is not part of what it has released. */
static void tick(struct pct_races *r, uint32_t thread)
{
    if (pct_races_know(r, thread))
        r->threads[thread].now.at[thread]++;
}

static void acquire(struct pct_races *r, uint32_t thread, const struct pct_clock *from)
{
    pct_clock_join(&r->memory, &r->threads[thread].now, from);
}

static void release(struct pct_races *r, uint32_t thread, struct pct_clock *to)
{
    if (pct_races_know(r, thread))
        pct_clock_join(&r->memory, to, &r->threads[thread].now);
    tick(r, thread);
}

static struct race_object *object_of(struct pct_races *r, uint32_t number)
{
    static struct race_object lost; /* for all that there is no memory for: edges too many */
    struct race_object **chunk = &r->objects[number >> RACES_OBJECT_LOG];
    if (!*chunk)
        *chunk = r->memory.map(sizeof **chunk << RACES_OBJECT_LOG);
    return *chunk ? &(*chunk)[number & ((1u << RACES_OBJECT_LOG) - 1)] : &lost;
}

static void hold(struct race_thread *t, uint32_t number, bool reads)
{
    t->locks_known = false;
    if (t->held_count < RACES_HELD) {
        t->held[t->held_count].number = number;
        t->held[t->held_count++].reads = reads;
    }
}

/* Lets go of what it took last of it. Returns whether that was to read. */
static bool let_go(struct race_thread *t, uint32_t number)
{
    for (uint32_t i = t->held_count; i-- > 0;) {
        if (t->held[i].number != number)
            continue;
        bool reads = t->held[i].reads;
        t->locks_known = false;
        for (t->held_count--; i < t->held_count; i++)
            t->held[i] = t->held[i + 1];
        return reads;
    }
    return false;
}

uint32_t pct_races_locks(struct pct_races *r, struct race_thread *t)
{
    const uint32_t mask = (1u << RACES_SETS_LOG) - 1;
    struct race_locks set = { .count = t->held_count < PCT_RACE_LOCKS ? t->held_count : PCT_RACE_LOCKS };
    uint64_t hash = set.count;
    if (t->locks_known)
        return t->locks;
    for (uint32_t i = 0; i < set.count; i++) {
        set.lock[i] = t->held[t->held_count - set.count + i].number;
        hash = (hash ^ set.lock[i]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    uint32_t at = set.count ? (uint32_t)(hash >> (64 - RACES_SETS_LOG)) : 0;
    while (set.count && (!at || (r->sets[at].count && __builtin_memcmp(&r->sets[at], &set, sizeof set) != 0)))
        at = (at + 1) & mask;
    if (set.count && !r->sets[at].count) {
        if (r->sets_used < mask / 2) {
            r->sets[at] = set;
            r->sets_used++;
        } else {
            at = 0;
        }
    }
    t->locks = at;
    t->locks_known = true;
    return at;
}

/* A condition variable's mutex is not in the record of the wait. It is one of those that the thread holds; to release or acquire
 * the others as well adds nothing, because nobody else can have them meanwhile. */
static void each_held(struct pct_races *r, uint32_t thread, bool acquires)
{
    struct race_thread *t = &r->threads[thread];
    for (uint32_t i = 0; i < t->held_count; i++) {
        struct race_object *object = object_of(r, t->held[i].number);
        if (acquires)
            acquire(r, thread, &object->clock);
        else
            release(r, thread, &object->clock);
    }
}

static void lock(struct pct_races *r, uint32_t thread, uint32_t number, bool reads)
{
    struct race_object *object = object_of(r, number);
    acquire(r, thread, &object->clock);
    if (!reads)
        acquire(r, thread, &object->readers);
    hold(&r->threads[thread], number, reads);
}

static void unlock(struct pct_races *r, uint32_t thread, uint32_t number)
{
    struct race_object *object = object_of(r, number);
    release(r, thread, let_go(&r->threads[thread], number) ? &object->readers : &object->clock);
}

/* A new thread knows what its creator knew. */
static void create(struct pct_races *r, uint32_t thread, uint32_t child)
{
    if (pct_races_know(r, thread))
        pct_clock_join(&r->memory, &r->threads[child].now, &r->threads[thread].now);
    pct_races_know(r, child);
    tick(r, thread);
}

static void follow(struct pct_races *r, uint64_t record)
{
    uint32_t thread = PCT_RECORD_THREAD(record), number = PCT_RECORD_OBJECT(record), arg = PCT_RECORD_ARG(record);
    bool failed = arg == PCT_ARG_ERROR || arg == PCT_ARG_TIMEOUT || arg == PCT_ARG_BUSY;
    switch (PCT_RECORD_OP(record)) {
    case PCT_OP_THREAD_CREATE:
        if (!failed)
            create(r, thread, number);
        break;
    case PCT_OP_THREAD_JOIN:
    case PCT_OP_THREAD_TRYJOIN:
        if (!arg && number < PCT_MAX_THREADS)
            acquire(r, thread, &r->threads[number].now);
        break;
    case PCT_OP_MUTEX_LOCK:
    case PCT_OP_MUTEX_TRYLOCK:
    case PCT_OP_SPIN_LOCK:
    case PCT_OP_SPIN_TRYLOCK:
    case PCT_OP_RWLOCK_WRLOCK:
    case PCT_OP_RWLOCK_TRYWRLOCK:
        if (!failed)
            lock(r, thread, number, false);
        break;
    case PCT_OP_RWLOCK_RDLOCK:
    case PCT_OP_RWLOCK_TRYRDLOCK:
        if (!failed)
            lock(r, thread, number, true);
        break;
    case PCT_OP_MUTEX_UNLOCK:
    case PCT_OP_SPIN_UNLOCK:
    case PCT_OP_RWLOCK_UNLOCK:
        if (!failed)
            unlock(r, thread, number);
        break;
    case PCT_OP_THREAD_FINISH: /* robust mutexes pass on */
    case PCT_OP_COND_WAIT:
        each_held(r, thread, false);
        break;
    case PCT_OP_COND_WAKE:
        each_held(r, thread, true);
        break;
    case PCT_OP_BARRIER_ARRIVE:
    case PCT_OP_SEM_POST:
    case PCT_OP_ONCE_DONE:
    case PCT_OP_GUARD_RELEASE:
    case PCT_OP_FUTEX_WAKE:
        release(r, thread, &object_of(r, number)->clock);
        break;
    case PCT_OP_BARRIER_LEAVE:
    case PCT_OP_SEM_WAIT:
    case PCT_OP_SEM_TRYWAIT:
    case PCT_OP_ONCE:
    case PCT_OP_GUARD_ACQUIRE:
    case PCT_OP_FUTEX_WOKEN:
        acquire(r, thread, &object_of(r, number)->clock);
        break;
    case PCT_OP_MESSAGE:
    case PCT_OP_OPEN:
        acquire(r, thread, &r->io);
        release(r, thread, &r->io);
        break;
    case PCT_OP_WRITE:
    case PCT_OP_CLOSE:
    case PCT_OP_CONNECT:
    case PCT_OP_SHUTDOWN:
    case PCT_OP_FILE_UNLOCK:
    case PCT_OP_SIGNAL_SEND:
    case PCT_OP_TIMER_SET:
        release(r, thread, &r->io);
        break;
    case PCT_OP_READ:
    case PCT_OP_POLL:
    case PCT_OP_ACCEPT:
    case PCT_OP_FILE_LOCK:
    case PCT_OP_SIGNAL_WAIT:
    case PCT_OP_SIGNAL_HANDLE:
        acquire(r, thread, &r->io);
        break;
    default: /* orders nothing, or is an access */
        break;
    }
}

void pct_races_follow(struct pct_sched *s)
{
    struct pct_races *r = s->races;
    for (; r->seen < s->record; r->seen++)
        follow(r, *r->seen);
}

void pct_races_turned(struct pct_sched *s)
{
    s->races->seen = s->record;
}

void pct_races_succeed(struct pct_races *r, uint32_t thread, uint32_t other)
{
    pct_races_follow(r->sched);
    acquire(r, thread, &r->threads[other].now);
    tick(r, other); /* what it does from now on is not part of that */
}

/* --- Atomic accesses -------------------------------------------------------------------------------------------------- */

static struct race_sync *sync_of(struct pct_races *r, uintptr_t address)
{
    uint32_t *head = pct_memory_entry(r->syncs_at, address, sizeof *head, r->memory.map);
    if (!head)
        return NULL;
    for (uint32_t i = *head; i; i = r->syncs[i].next)
        if (r->syncs[i].offset == (address & 7))
            return &r->syncs[i];
    if (r->syncs_used == RACES_SYNCS)
        return NULL;
    uint32_t index = r->syncs_used++;
    r->syncs[index] = (struct race_sync){ .next = *head, .offset = address & 7 };
    *head = index;
    return &r->syncs[index];
}

void pct_races_atomic(struct pct_races *r, uint32_t thread, uintptr_t address, unsigned what)
{
    struct race_thread *t = &r->threads[thread];
    struct race_sync *sync = sync_of(r, address);
    if (!sync)
        return;
    pct_races_follow(r->sched);
    if (what & PCT_RACES_ACQUIRE)
        acquire(r, thread, &sync->clock);
    else if (what & PCT_RACES_READ)
        pct_clock_join(&r->memory, &t->pending, &sync->clock);
    if (!(what & PCT_RACES_WRITE))
        return;
    /* A store begins anew; what reads and writes at once goes on with what it found (a release sequence). */
    if (!(what & PCT_RACES_READ))
        pct_clock_clear(&r->memory, &sync->clock);
    if (what & PCT_RACES_RELEASE)
        release(r, thread, &sync->clock);
    else
        pct_clock_join(&r->memory, &sync->clock, &t->fence);
}

void pct_races_fence(struct pct_races *r, uint32_t thread, unsigned what)
{
    struct race_thread *t = &r->threads[thread];
    pct_races_follow(r->sched);
    if (what & PCT_RACES_ACQUIRE)
        acquire(r, thread, &t->pending);
    if (what & PCT_RACES_RELEASE)
        release(r, thread, &t->fence);
}
