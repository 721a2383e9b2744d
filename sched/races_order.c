/* The race detector: what orders accesses. Happens-before edges of the operations in the trace, and of atomic accesses.
 *
 * Where one clock stands for several objects (all that goes through the kernel), there may be an edge too many, and a
 * race that is not seen; never one too few, and a false report. rule_of() is the table. */
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

static void forget(struct pct_races *r, struct race_thread *t)
{
    pct_clock_clear(&r->memory, &t->now);
    pct_clock_clear(&r->memory, &t->fence);
    pct_clock_clear(&r->memory, &t->pending);
}

/* A new thread knows what its creator knew. If its id has been another thread's, what that one did is its own past, as
 * far as the creator knew of it. */
static void create(struct pct_races *r, uint32_t thread, uint32_t child)
{
    struct race_thread *t = &r->threads[child];
    uint32_t own = pct_clock_get(&t->now, child);
    if (own < t->last)
        own = t->last;
    forget(r, t);
    if (own) /* else its first calls may have been seen before this */
        t->call = t->depth = 0;
    t->held_count = t->last = 0;
    t->locks_known = false;
    t->seen = pct_clock_get(&r->threads[thread].now, child);
    if (pct_races_know(r, thread))
        pct_clock_join(&r->memory, &t->now, &r->threads[thread].now);
    t->born = own ? own + 1 : 0;
    if (pct_races_know(r, child) && own)
        t->now.at[child] = own + 1;
    tick(r, thread);
}

/* Nobody will ask any more what it knew, unless it left a lock behind: the clocks of 30,000 threads that came and went
 * would take gigabytes. */
static void join(struct pct_races *r, uint32_t thread, uint32_t other)
{
    struct race_thread *t = &r->threads[other];
    acquire(r, thread, &t->now);
    if (t->held_count)
        return;
    t->last = pct_clock_get(&t->now, other);
    forget(r, t);
}

/* --- What a step orders ------------------------------------------------------------------------------------------- */

/* Whose clock a step acquires (reads) or releases to (writes). */
enum {
    OBJECT = 1, /* the object's */
    READS = 2, /* of a lock: what its readers have left; of a barrier: what all have left who arrived in rounds that are
                  over */
    WORLD = 4, /* one for all that goes through the kernel and for signals: what comes from there may be due to whatever
                  went there */
    ROOM = 8,  /* one for all that was taken out of the kernel: there is room for more, for which somebody may wait */
};

struct rule {
    uint8_t acquires, releases;
    bool always; /* also where the argument is that of a failure: it is something else, or not even a failure is for
                    nothing */
    enum { ORDERS, LOCKS, LOCKS_TO_READ, UNLOCKS, CREATES, JOINS } how; /* ORDERS: as the clocks say, and that is all */
};

/* The table: for each kind of step, what it acquires and what it releases. Steps that failed (busy, too late, an error)
 * order nothing. No edge may be missing where one thread can know by the step what another has done, or a correct
 * program would be called wrong; an edge too many hides races in those runs in which it lies between.
 *
 * What the trace does not say the detector is told when it happens (races.h): a done once routine, a static's guard
 * that was tested inline, the mutex of a condition variable, the end of a barrier's round, a dead thread's robust
 * mutex, atomic accesses, helpers of libc's, and all that waits outside the schedule. */
// NOLINTBEGIN(bugprone-branch-clone): a kind of step stands with its like, whatever the others order
static struct rule rule_of(enum pct_op op)
{
    switch (op) {
    /* Threads. A cancellation is told when it takes effect. */
    case PCT_OP_THREAD_CREATE:
        return (struct rule){ .how = CREATES };
    case PCT_OP_THREAD_JOIN:
    case PCT_OP_THREAD_TRYJOIN:
        return (struct rule){ .how = JOINS };
    case PCT_OP_THREAD_START:
    case PCT_OP_THREAD_FINISH:
    case PCT_OP_THREAD_DETACH:
    case PCT_OP_THREAD_EXIT:
    case PCT_OP_THREAD_CANCEL:
    case PCT_OP_TESTCANCEL:
        break;

    /* Locks. A reader is ordered with writers, not with other readers. */
    case PCT_OP_MUTEX_LOCK:
    case PCT_OP_MUTEX_TRYLOCK:
    case PCT_OP_SPIN_LOCK:
    case PCT_OP_SPIN_TRYLOCK:
    case PCT_OP_RWLOCK_WRLOCK:
    case PCT_OP_RWLOCK_TRYWRLOCK:
        return (struct rule){ .how = LOCKS, .acquires = OBJECT | READS };
    case PCT_OP_RWLOCK_RDLOCK:
    case PCT_OP_RWLOCK_TRYRDLOCK:
        return (struct rule){ .how = LOCKS_TO_READ, .acquires = OBJECT };
    case PCT_OP_MUTEX_UNLOCK:
    case PCT_OP_SPIN_UNLOCK:
    case PCT_OP_RWLOCK_UNLOCK:
        return (struct rule){ .how = UNLOCKS }; /* releases OBJECT, who only read READS */
    case PCT_OP_STREAM:                         /* takes it, and gives it back */
        return (struct rule){ .acquires = OBJECT | READS, .releases = OBJECT };
    case PCT_OP_MUTEX_INIT: /* the object is a new one */
    case PCT_OP_MUTEX_DESTROY:
    case PCT_OP_MUTEX_CONSISTENT:
    case PCT_OP_RWLOCK_INIT:
    case PCT_OP_RWLOCK_DESTROY:
    case PCT_OP_SPIN_INIT:
    case PCT_OP_SPIN_DESTROY:
        break;

    /* Condition variables order by their mutex alone, and so for libtsan: a wait may end though nobody has signalled.
     */
    case PCT_OP_COND_WAIT:
    case PCT_OP_COND_WAKE:
    case PCT_OP_COND_SIGNAL:
    case PCT_OP_COND_BROADCAST:
    case PCT_OP_COND_INIT:
    case PCT_OP_COND_DESTROY:
        break;

    /* A barrier. Who arrives last goes on without a step: pct_races_round(). */
    case PCT_OP_BARRIER_ARRIVE:
        return (struct rule){ .releases = OBJECT };
    case PCT_OP_BARRIER_LEAVE:
        return (struct rule){ .acquires = READS };
    case PCT_OP_BARRIER_INIT:
    case PCT_OP_BARRIER_DESTROY:
        break;

    case PCT_OP_SEM_POST:
        return (struct rule){ .releases = OBJECT };
    case PCT_OP_SEM_WAIT:
    case PCT_OP_SEM_TRYWAIT:
        return (struct rule){ .acquires = OBJECT };
    case PCT_OP_SEM_INIT:
    case PCT_OP_SEM_DESTROY:
        break;

    /* Also of a routine that has thrown: the next thread to run it goes on from there. */
    case PCT_OP_ONCE:
    case PCT_OP_GUARD_ACQUIRE:
        return (struct rule){ .acquires = OBJECT, .always = true };
    case PCT_OP_ONCE_DONE:
    case PCT_OP_GUARD_RELEASE:
        return (struct rule){ .releases = OBJECT };

    /* For libtsan a futex orders nothing. But the code around it may not be compiled for us, and then its atomic
     * accesses are not seen. */
    case PCT_OP_FUTEX_WAKE:
        return (struct rule){ .releases = OBJECT, .always = true };
    case PCT_OP_FUTEX_WOKEN:
        return (struct rule){ .acquires = OBJECT };
    case PCT_OP_FUTEX_WAIT: /* begins to wait */
        break;

    /* Through the kernel. Errors, too, may tell what another thread did (EPIPE, ECONNRESET). */
    case PCT_OP_WRITE:
        return (struct rule){ .acquires = ROOM, .releases = WORLD };
    case PCT_OP_READ:
        return (struct rule){ .acquires = WORLD, .releases = ROOM };
    case PCT_OP_POLL: /* also io_uring, whose submissions are told */
    case PCT_OP_CHILD_WAIT:
        return (struct rule){ .acquires = WORLD | ROOM };
    case PCT_OP_ACCEPT:
        return (struct rule){ .acquires = WORLD, .releases = ROOM };
    case PCT_OP_CONNECT: /* also one that has begun: the other side may accept it */
        return (struct rule){ .acquires = ROOM, .releases = WORLD, .always = true };
    case PCT_OP_CLOSE:
    case PCT_OP_SHUTDOWN:
        return (struct rule){ .releases = WORLD | ROOM };
    case PCT_OP_FORK:
    case PCT_OP_TIMER_SET:
    case PCT_OP_SIGNAL_SEND:
    case PCT_OP_FILE_UNLOCK:
        return (struct rule){ .releases = WORLD };
    case PCT_OP_SIGNAL_WAIT: /* the argument is the signal */
    case PCT_OP_SIGNAL_HANDLE:
        return (struct rule){ .acquires = WORLD, .always = true };
    case PCT_OP_FILE_LOCK:
        return (struct rule){ .acquires = WORLD };
    case PCT_OP_MESSAGE: /* to send and to receive, also the semaphores of System V */
        return (struct rule){ .acquires = WORLD, .releases = WORLD };
    case PCT_OP_OPEN: /* of a named pipe: both ends wait for each other; that it is busy is news to the other one */
        return (struct rule){ .acquires = WORLD, .releases = WORLD, .always = true };

    /* Who performs a request is told, and who held the loader's lock before. */
    case PCT_OP_LOADER:
    case PCT_OP_REQUEST:
    case PCT_OP_REQUEST_DONE:
    case PCT_OP_REQUEST_WAIT:
        break;

    /* The program's own code and words order nothing. */
    case PCT_OP_POINT:
    case PCT_OP_CHOICE:
    case PCT_OP_FUNCTION_ENTER:
    case PCT_OP_FUNCTION_RETURN:
        break;

    /* Time orders nothing. */
    case PCT_OP_YIELD:
    case PCT_OP_SLEEP:
    case PCT_OP_AWAKE:
    case PCT_OP_CLOCK:
    case PCT_OP_OUTSIDE:
    case PCT_OP_DEADLINE:
    case PCT_OP_STUCK:
        break;

    /* The end of the process waits for no thread. */
    case PCT_OP_EXIT:
    case PCT_OP_EXIT_NOW:
        break;

    /* Accesses are told. */
    case PCT_OP_LOAD:
    case PCT_OP_STORE:
    case PCT_OP_ATOMIC_LOAD:
    case PCT_OP_ATOMIC_STORE:
    case PCT_OP_ATOMIC_UPDATE:
    case PCT_OP_ATOMIC_TRY:
        break;

    case PCT_OP_NONE:
    case PCT_OP_COUNT:
        break;
    }
    return (struct rule){ 0 };
}
// NOLINTEND(bugprone-branch-clone)

static void acquire_of(struct pct_races *r, uint32_t thread, uint32_t number, unsigned clocks)
{
    if (clocks & OBJECT)
        acquire(r, thread, &object_of(r, number)->clock);
    if (clocks & READS)
        acquire(r, thread, &object_of(r, number)->readers);
    if (clocks & WORLD)
        acquire(r, thread, &r->world);
    if (clocks & ROOM)
        acquire(r, thread, &r->room);
}

static void release_to(struct pct_races *r, uint32_t thread, uint32_t number, unsigned clocks)
{
    if (clocks & OBJECT)
        release(r, thread, &object_of(r, number)->clock);
    if (clocks & READS)
        release(r, thread, &object_of(r, number)->readers);
    if (clocks & WORLD)
        release(r, thread, &r->world);
    if (clocks & ROOM)
        release(r, thread, &r->room);
}

/* Whether the step brought nothing about. An error of a descriptor's is news of its other end. */
static bool failed_try(enum pct_op op, uint32_t arg)
{
    return arg == PCT_ARG_TIMEOUT || arg == PCT_ARG_BUSY ||
           (arg == PCT_ARG_ERROR && (op < PCT_OP_READ || op > PCT_OP_CHILD_WAIT));
}

static void follow(struct pct_races *r, uint64_t record)
{
    uint32_t thread = PCT_RECORD_THREAD(record), number = PCT_RECORD_OBJECT(record), arg = PCT_RECORD_ARG(record);
    enum pct_op op = (enum pct_op)PCT_RECORD_OP(record);
    const struct rule rule = rule_of(op);
    if (!rule.always && failed_try(op, arg))
        return;
    acquire_of(r, thread, number, rule.acquires);
    switch (rule.how) {
    case ORDERS:
        break;
    case LOCKS:
    case LOCKS_TO_READ:
        hold(&r->threads[thread], number, rule.how == LOCKS_TO_READ);
        break;
    case UNLOCKS:
        release_to(r, thread, number, let_go(&r->threads[thread], number) ? READS : OBJECT);
        break;
    case CREATES:
        create(r, thread, number);
        break;
    case JOINS:
        if (arg != PCT_ARG_CANCELLED && number < PCT_MAX_THREADS)
            join(r, thread, number);
        break;
    }
    release_to(r, thread, number, rule.releases);
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

void pct_races_object(struct pct_races *r, uint32_t thread, uint32_t number, unsigned what)
{
    pct_races_follow(r->sched);
    if (what & PCT_RACES_ACQUIRE)
        acquire_of(r, thread, number, OBJECT | READS);
    if (what & PCT_RACES_RELEASE)
        release_to(r, thread, number, OBJECT);
}

void pct_races_world(struct pct_races *r, uint32_t thread, unsigned what)
{
    pct_races_follow(r->sched);
    if (what & PCT_RACES_ACQUIRE)
        acquire_of(r, thread, 0, WORLD | ROOM);
    if (what & PCT_RACES_RELEASE)
        release_to(r, thread, 0, WORLD | ROOM);
}

void pct_races_as(struct pct_races *r, uint32_t thread, enum pct_op op)
{
    const struct rule rule = rule_of(op);
    pct_races_follow(r->sched);
    acquire_of(r, thread, 0, rule.acquires);
    release_to(r, thread, 0, rule.releases);
}

void pct_races_all(struct pct_races *r, uint32_t thread)
{
    struct pct_clock *now = &r->threads[thread].now;
    pct_races_follow(r->sched);
    if (!r->sched->threads || !pct_races_know(r, thread) || !pct_clock_reach(&r->memory, now, r->sched->threads - 1))
        return;
    for (uint32_t other = 0; other < r->sched->threads; other++) {
        const struct race_thread *t = &r->threads[other];
        const uint32_t own = pct_clock_get(&t->now, other), all = own > t->last ? own : t->last;
        if (all > now->at[other])
            now->at[other] = all;
        if (own && other != thread)
            tick(r, other); /* what it does from now on is not part of that */
    }
}

void pct_races_round(struct pct_races *r, uint32_t thread, uint32_t number)
{
    struct race_object *barrier = object_of(r, number);
    pct_races_follow(r->sched);
    /* Some of an earlier round may not have left: theirs stays. */
    pct_clock_join(&r->memory, &barrier->readers, &barrier->clock);
    pct_clock_clear(&r->memory, &barrier->clock);
    acquire(r, thread, &barrier->readers);
}

/* --- Atomic accesses ---------------------------------------------------------------------------------------------- */

bool pct_races_synchronises(struct pct_races *r, uintptr_t address)
{
    const uint32_t *chunk = (const uint32_t *)pct_memory_chunk(r->syncs_at, address);
    for (uint32_t i = chunk ? chunk[pct_memory_index(address)] : 0; i; i = r->syncs[i].next)
        if (r->syncs[i].offset == (address & 7))
            return true;
    return false;
}

/* Places that there is no room for share the one of number 0: edges too many. */
static struct race_sync *sync_of(struct pct_races *r, uintptr_t address)
{
    uint32_t *head = pct_memory_entry(r->syncs_at, address, sizeof *head, r->memory.map);
    for (uint32_t i = head ? *head : 0; i; i = r->syncs[i].next)
        if (r->syncs[i].offset == (address & 7))
            return &r->syncs[i];
    uint32_t index = r->syncs_free;
    if (!head || (!index && r->syncs_used == RACES_SYNCS))
        return &r->syncs[0];
    if (index)
        r->syncs_free = r->syncs[index].next;
    else
        index = r->syncs_used++;
    r->syncs[index] = (struct race_sync){ .next = *head, .offset = address & 7 };
    *head = index;
    return &r->syncs[index];
}

void pct_races_drop_syncs(struct pct_races *r, uintptr_t from, uintptr_t to)
{
    const uintptr_t reach = (uintptr_t)1 << PCT_CHUNK_LOG;
    for (uintptr_t at = from & ~(uintptr_t)7, end; at < to; at = end) {
        uint32_t *chunk = pct_memory_chunk(r->syncs_at, at);
        end = (at & ~(reach - 1)) + reach;
        for (end = end < to ? end : to; chunk && at < end; at += 8) {
            uint32_t *head = &chunk[pct_memory_index(at)];
            for (uint32_t gone; (gone = *head);) {
                *head = r->syncs[gone].next;
                pct_clock_clear(&r->memory, &r->syncs[gone].clock);
                r->syncs[gone].next = r->syncs_free;
                r->syncs_free = gone;
            }
        }
    }
}

/* What the kernel has written may be due to whatever went there. */
static void read_kernels(struct pct_races *r, uint32_t thread, unsigned what)
{
    if (what & PCT_RACES_ACQUIRE) {
        acquire_of(r, thread, 0, WORLD | ROOM);
    } else if (what & PCT_RACES_READ) {
        pct_clock_join(&r->memory, &r->threads[thread].pending, &r->world);
        pct_clock_join(&r->memory, &r->threads[thread].pending, &r->room);
    }
}

void pct_races_kernels(struct pct_races *r, uintptr_t address)
{
    sync_of(r, address)->kernels = true;
}

void pct_races_atomic(struct pct_races *r, uint32_t thread, uintptr_t address, unsigned what)
{
    struct race_thread *t = &r->threads[thread];
    struct race_sync *sync = sync_of(r, address);
    pct_races_follow(r->sched);
    if (sync->kernels)
        read_kernels(r, thread, what);
    if (what & PCT_RACES_ACQUIRE)
        acquire(r, thread, &sync->clock);
    else if (what & PCT_RACES_READ)
        pct_clock_join(&r->memory, &t->pending, &sync->clock);
    if (!(what & PCT_RACES_WRITE))
        return;
    /* A store begins anew, unless the thread goes on with its own release; what reads and writes at once goes on with
     * what it found (a release sequence: C11, 5.1.2.4; in C++20, only the latter does). */
    const bool store = !(what & PCT_RACES_READ), release_store = store && what & PCT_RACES_RELEASE;
    if (sync != &r->syncs[0] && (release_store || (store && sync->head != thread + 1))) {
        pct_clock_clear(&r->memory, &sync->clock);
        sync->head = release_store ? thread + 1 : 0;
    }
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
