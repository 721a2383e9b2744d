/* Locks and the like that are destroyed or unlocked while others use them: see rules.h. One trace decides, and it does
 * so only where nothing else can have happened:
 *
 * - A thread that is not running stands before its next operation, on an object that it has already chosen. If another
 *   thread destroys that object then, its use comes behind the destruction, whatever stands at that address later: no
 *   other object can have taken its place, since the thread has not run in between. Here one that others have used by
 *   then is left out.
 * - A thread that waits, at the end, for an object that nobody has ever made, locked or posted under this number, at
 * the address of one that was destroyed, waits for what is left of that: zeros, which stand for an object that is not
 *   initialized by a call, would have let it go on.
 * - An object that somebody holds was not given back, wherever it was destroyed from.
 * - Who waits on a condition variable takes its mutex when it wakes, and no other one. */
#include "rules.h"
#include <stdlib.h>

static bool is_lockable(unsigned class_)
{
    return class_ == PCT_CLASS_MUTEX || class_ == PCT_CLASS_COND || class_ == PCT_CLASS_RWLOCK ||
           class_ == PCT_CLASS_BARRIER || class_ == PCT_CLASS_SPIN || class_ == PCT_CLASS_SEM;
}

static bool destroys(unsigned op)
{
    return op == PCT_OP_MUTEX_DESTROY || op == PCT_OP_COND_DESTROY || op == PCT_OP_RWLOCK_DESTROY ||
           op == PCT_OP_BARRIER_DESTROY || op == PCT_OP_SPIN_DESTROY || op == PCT_OP_SEM_DESTROY;
}

static bool makes(unsigned op)
{
    return op == PCT_OP_MUTEX_INIT || op == PCT_OP_COND_INIT || op == PCT_OP_RWLOCK_INIT || op == PCT_OP_BARRIER_INIT ||
           op == PCT_OP_SPIN_INIT || op == PCT_OP_SEM_INIT;
}

/* POSIX: who was woken, or has left a barrier, no longer needs the object. */
static bool is_over(unsigned op)
{
    return op == PCT_OP_COND_WAKE || op == PCT_OP_BARRIER_LEAVE;
}

/* How it came to that: the last lock that the user took before, and that the destroyer took after it. */
static void add_reason(const struct pct_history *h, uint32_t use, uint32_t destroy, uint32_t *reason, uint32_t *after)
{
    *reason = *after = PCT_NO_STEP;
    for (uint32_t p = h->steps[use].previous; p != PCT_NO_STEP && *reason == PCT_NO_STEP; p = h->steps[p].previous)
        if (pct_moment_locks(&h->steps[p]) && !pct_moment_same_object(&h->steps[p], &h->steps[destroy]))
            *reason = p;
    if (*reason == PCT_NO_STEP)
        return;
    for (uint32_t q = h->steps[destroy].previous; q != PCT_NO_STEP && q > *reason; q = h->steps[q].previous)
        if (pct_moment_locks(&h->steps[q]) && pct_moment_same_object(&h->steps[q], &h->steps[*reason]))
            *after = q;
}

static void use_after_destroy(struct pct_diagnoses *out, const struct pct_history *h, enum pct_rule rule, uint32_t use,
                              uint32_t destroy)
{
    uint32_t steps[4] = { destroy, use };
    add_reason(h, use, destroy, &steps[2], &steps[3]);
    unsigned count = steps[3] == PCT_NO_STEP ? 2 : 4;
    struct pct_diagnosis *d = pct_diagnoses_add(out, rule, 0, count, steps);
    if (d && count == 4) {
        d->note[2] = "it had got there by this,";
        d->note[3] = "before this";
    }
}

static void look_at_use(struct pct_diagnoses *out, const struct pct_history *h, uint32_t use, uint32_t destroy)
{
    const struct pct_moment *m = &h->steps[use];
    if (h->steps[destroy].thread == m->thread || h->steps[destroy].class_ != m->class_ || is_over(m->op) ||
        makes(m->op))
        return;
    /* A thread that lost the baton in its own code may have gone on meanwhile. */
    uint32_t before = m->previous;
    if (before != PCT_NO_STEP && before < destroy && h->steps[before].op != PCT_OP_STUCK)
        use_after_destroy(out, h, PCT_RULE_USE_AFTER_DESTROY, use, destroy);
}

/* What the next step at this address, of its class, comes behind: the step + 1 that destroyed what was there, or 0. A
 * condition variable that is used behind that has another number. NULL: none was destroyed there, or out of memory. */
static uint32_t *gone_at(struct pct_table *gone, const struct pct_moment *m, bool destroys)
{
    const uint64_t key = m->address ^ (uint64_t)m->class_ << 56;
    return destroys ? pct_table_add(gone, key) : pct_table_find(gone, key);
}

/* Whoever uses what stands there now, others may have made it: their uses tell nothing. */
static void look_at_place(struct pct_diagnoses *out, const struct pct_history *h, uint32_t use, struct pct_table *gone)
{
    const struct pct_moment *m = &h->steps[use];
    uint32_t *destroyed = m->address ? gone_at(gone, m, false) : NULL;
    if (!destroyed || !*destroyed)
        return;
    if (h->steps[*destroyed - 1].object != m->object)
        look_at_use(out, h, use, *destroyed - 1);
    if (!m->pending)
        *destroyed = 0;
}

/* destroyed: by object, of which there are this many. */
static void look_at_wait(struct pct_diagnoses *out, const struct pct_history *h, uint32_t wait,
                         const uint32_t *destroyed, uint32_t objects)
{
    const struct pct_moment *m = &h->steps[wait];
    uint32_t last = 0; /* the step + 1 that destroyed what was last at this address */
    if (!m->pending || !m->blocked || !m->address || m->class_ == PCT_CLASS_COND || m->class_ == PCT_CLASS_BARRIER)
        return;
    for (uint32_t i = 0; i < h->count; i++)
        if (pct_moment_same_object(&h->steps[i], m))
            return;
    for (uint32_t object = 1; object < objects; object++)
        if (destroyed[object] > last && h->steps[destroyed[object] - 1].address == m->address &&
            h->steps[destroyed[object] - 1].class_ == m->class_)
            last = destroyed[object];
    if (last && h->steps[last - 1].thread != m->thread)
        use_after_destroy(out, h, PCT_RULE_WAITS_FOR_DESTROYED, wait, last - 1);
}

static void look_at_unlock(struct pct_diagnoses *out, const struct pct_history *h, uint32_t unlock)
{
    const struct pct_moment *m = &h->steps[unlock];
    bool had = m->previous != PCT_NO_STEP && pct_history_holds(h, m->previous, m->class_, m->object);
    const struct pct_hold *hold = had ? NULL : pct_history_holder(h, unlock, m->class_, m->object, m->thread, false);
    if (hold)
        pct_diagnoses_add(out, PCT_RULE_FOREIGN_UNLOCK, 0, 2, (uint32_t[]){ hold->taken, unlock });
}

/* Whether the thread had ended by then: a robust mutex that it had is nobody's, and may be destroyed. */
static bool has_ended(const struct pct_history *h, uint32_t thread, uint32_t by)
{
    uint32_t last = h->last[thread];
    return last < by && h->steps[last].op == PCT_OP_THREAD_FINISH;
}

/* The mutex is destroyed by this step: who waits with it, or has been woken and has not come back yet, still needs it.
 * latest: by thread, its last step before this one. */
static void look_at_waiters(struct pct_diagnoses *out, const struct pct_history *h, uint32_t destroy,
                            const uint32_t *latest)
{
    const struct pct_moment *m = &h->steps[destroy];
    for (uint32_t thread = 0; thread < h->threads && m->class_ == PCT_CLASS_MUTEX; thread++) {
        const uint32_t last = thread == m->thread ? PCT_NO_STEP : latest[thread];
        if (last == PCT_NO_STEP || h->steps[last].op != PCT_OP_COND_WAIT || h->steps[last].mutex != m->object ||
            pct_moment_failed(&h->steps[last]) || h->steps[last].next == PCT_NO_STEP)
            continue;
        struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_USE_AFTER_DESTROY, 0, 3,
                                                    (uint32_t[]){ destroy, h->steps[last].next, last });
        if (d)
            d->note[2] = "with this mutex, which it takes when it wakes";
    }
}

void pct_rules_objects(struct pct_diagnoses *out, const struct pct_history *h)
{
    uint32_t objects = 0;
    for (uint32_t i = 0; i < h->all; i++)
        if (is_lockable(h->steps[i].class_) && h->steps[i].object >= objects)
            objects = h->steps[i].object + 1;
    uint32_t *destroyed = calloc(objects + (size_t)1, sizeof *destroyed); /* by object: the step + 1, or 0 */
    struct pct_table gone = PCT_TABLE(uint32_t);                          /* the same by place: gone_at() */
    uint32_t *latest = malloc((h->threads + (size_t)1) * sizeof *latest); /* by thread: its last step so far */
    for (uint32_t thread = 0; latest && thread < h->threads; thread++)
        latest[thread] = PCT_NO_STEP;
    for (uint32_t i = 0; destroyed && latest && i < h->all; i++) {
        const struct pct_moment *m = &h->steps[i];
        latest[m->thread] = i;
        if (!m->object || !is_lockable(m->class_))
            continue;
        if (destroyed[m->object])
            look_at_use(out, h, i, destroyed[m->object] - 1);
        look_at_place(out, h, i, &gone);
        look_at_wait(out, h, i, destroyed, objects);
        if (m->pending)
            continue;
        if (makes(m->op))
            destroyed[m->object] = 0;
        if (destroys(m->op)) {
            const struct pct_hold *hold = pct_history_holder(h, i, m->class_, m->object, m->thread, true);
            if (hold && !has_ended(h, hold->thread, i))
                pct_diagnoses_add(out, PCT_RULE_DESTROYED_WHILE_HELD, 0, 2, (uint32_t[]){ hold->taken, i });
            look_at_waiters(out, h, i, latest);
            uint32_t *there = pct_moment_failed(m) || !m->address ? NULL : gone_at(&gone, m, true);
            if (there)
                *there = i + 1;
            if (!pct_moment_failed(m))
                destroyed[m->object] = i + 1;
        }
        if (!pct_moment_failed(m) && (m->op == PCT_OP_MUTEX_UNLOCK || m->op == PCT_OP_SPIN_UNLOCK))
            look_at_unlock(out, h, i);
    }
    pct_table_free(&gone);
    free(latest);
    free(destroyed);
}

/* The next step of this thread behind the close that is on the same descriptor. PCT_NO_STEP: there is none. */
static uint32_t next_use(const struct pct_history *h, uint32_t close, uint32_t thread)
{
    enum { FAR = 4096 }; /* steps behind it that are looked at */
    for (uint32_t i = close + 1; i < h->count && i - close < FAR; i++)
        if (h->steps[i].thread == thread && pct_moment_same_object(&h->steps[i], &h->steps[close]))
            return i;
    return PCT_NO_STEP;
}

/* The base of what follows, if who uses the descriptor then finds it closed. */
#define FINDS_IT_CLOSED 12

/* A number is closed by two threads one behind the other, and the second has not used it since: if another one has,
 * it was another file's by then. Between them, where the number is closed once each time, nobody uses it. before: by
 * step, the last one on the same descriptor, + 1. */
static void look_at_second_close(struct pct_diagnoses *out, const struct pct_history *h, uint32_t close,
                                 const uint32_t *before)
{
    const uint32_t closer = h->steps[close].thread;
    uint32_t used = PCT_NO_STEP, first = before[close];
    while (first && h->steps[first - 1].op != PCT_OP_CLOSE && h->steps[first - 1].thread != closer) {
        used = first - 1;
        first = before[used];
    }
    if (!first || h->steps[first - 1].thread == closer || used == PCT_NO_STEP || pct_moment_failed(&h->steps[close]))
        return;
    const uint32_t next = next_use(h, close, h->steps[used].thread);
    const bool fails = next != PCT_NO_STEP && pct_moment_failed(&h->steps[next]);
    struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_CLOSED_TWICE, fails ? FINDS_IT_CLOSED : 0, fails ? 4 : 3,
                                                (uint32_t[]){ first - 1, used, close, next });
    if (!d)
        return;
    d->note[1] = "another file by now,";
    d->note[2] = "which this closes";
    d->note[3] = fails ? "and is gone" : NULL;
    d->shows = fails;
}

static void look_at_second_closes(struct pct_diagnoses *out, const struct pct_history *h)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < h->count; i++)
        if (h->steps[i].class_ == PCT_CLASS_FD && h->steps[i].object > most)
            most = h->steps[i].object;
    uint32_t *last = calloc(most + (size_t)1, sizeof *last), *before = calloc(h->count + (size_t)1, sizeof *before);
    for (uint32_t i = 0; last && before && i < h->count; i++) {
        if (h->steps[i].class_ != PCT_CLASS_FD || !h->steps[i].object)
            continue;
        before[i] = last[h->steps[i].object];
        last[h->steps[i].object] = i + 1;
        if (h->steps[i].op == PCT_OP_CLOSE)
            look_at_second_close(out, h, i, before);
    }
    free(last);
    free(before);
}

/* The base of what follows, if that operation fails: less than that it was closed for the second time. */
#define USE_FAILS 10

/* Who stands before an operation has chosen its descriptor: if another thread closes that, the number means nothing any
 * more, or another file. There are programs that end a wait so on purpose: other runs tell. */
void pct_rules_closed(struct pct_diagnoses *out, const struct pct_history *h)
{
    /* By thread: its first step behind the close that is looked at; of programs that close much, all steps are gone
     * through once. */
    uint32_t *behind = malloc((h->threads + (size_t)1) * sizeof *behind);
    look_at_second_closes(out, h);
    for (uint32_t thread = 0; behind && thread < h->threads; thread++)
        behind[thread] = PCT_NO_STEP;
    for (uint32_t i = h->all; behind && i-- > 0;)
        behind[h->steps[i].thread] = i;
    for (uint32_t close = 0; behind && close < h->count; close++) {
        const struct pct_moment *closed = &h->steps[close];
        if (closed->op != PCT_OP_CLOSE || closed->class_ != PCT_CLASS_FD)
            continue;
        for (uint32_t thread = 0; thread < h->threads; thread++) {
            while (behind[thread] != PCT_NO_STEP && behind[thread] <= close)
                behind[thread] = h->steps[behind[thread]].next;
            const uint32_t use = thread == closed->thread ? PCT_NO_STEP : behind[thread];
            if (use == PCT_NO_STEP || h->steps[use].previous == PCT_NO_STEP ||
                !pct_moment_same_object(&h->steps[use], closed))
                continue;
            uint32_t before = h->steps[use].previous;
            while (before != PCT_NO_STEP && !pct_moment_locks(&h->steps[before]))
                before = h->steps[before].previous;
            const bool fails = !h->steps[use].pending && pct_moment_failed(&h->steps[use]);
            struct pct_diagnosis *d =
                pct_diagnoses_add(out, PCT_RULE_USE_AFTER_CLOSE, fails ? USE_FAILS : 0, before == PCT_NO_STEP ? 2 : 3,
                                  (uint32_t[]){ close, use, before });
            if (!d)
                continue;
            d->shows = fails;
            d->note[2] = "it had got there by this,";
        }
    }
    free(behind);
}
