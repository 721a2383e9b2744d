/* What one thread does to an object in two steps, and another one comes between: see rules.h. The unserializable
 * interleavings of AVIO (Lu, Tucek, Qin and Zhou, "AVIO: detecting atomicity violations via access interleaving
 * invariants", 2006). Good runs have such patterns, too: only other runs tell which one matters. */
#include "rules.h"
#include <pct/operations.h>
#include <stdlib.h>

enum { REMOTE = 64 }; /* accesses of others between two of a thread that are looked at */

/* By step, the accesses around it, on whatever object; PCT_NO_STEP: there is none. */
struct accesses {
    const struct pct_history *history;
    uint32_t *before, *behind; /* of the same thread */
    uint32_t *any;             /* behind it, of any thread */
};

/* Who is woken from a wait takes its mutex again: that begins a section, too. */
static bool retakes(const struct pct_moment *m)
{
    return m->op == PCT_OP_COND_WAKE && m->mutex && !m->pending;
}

/* The same, or so it is with a lock that is made of a word. */
static bool takes_back(const struct pct_moment *m)
{
    return retakes(m) || (m->word == PCT_WORD_TAKES && m->waits);
}

static enum pct_access access_of(const struct pct_moment *m)
{
    return retakes(m) ? PCT_ACCESS_UNKNOWN : pct_moment_own_access(m);
}

/* The object of the access as a number of its own: descriptors are counted by themselves, and variables that share
 * eight bytes. */
static uint32_t object_of(const struct pct_moment *m)
{
    enum { PARTS = 9 };
    return 2 * (PARTS * (retakes(m) ? m->mutex : m->object) + m->part) + (m->class_ == PCT_CLASS_FD);
}

/* A semaphore's count, or what is done in a section, which nobody knows. */
static bool is_more(enum pct_access access)
{
    return access == PCT_ACCESS_POST || access == PCT_ACCESS_UNKNOWN;
}

static bool reads(enum pct_access access)
{
    return access == PCT_ACCESS_READ || access == PCT_ACCESS_UPDATE || is_more(access);
}

static bool writes(enum pct_access access)
{
    return access == PCT_ACCESS_WRITE || access == PCT_ACCESS_UPDATE || is_more(access);
}

static bool unserializable(enum pct_access p, enum pct_access r, enum pct_access q)
{
    if (!pct_access_conflict(p, r) || !pct_access_conflict(r, q))
        return false;
    return (writes(r) && reads(q)) || (writes(p) && reads(r) && writes(q)) || (reads(p) && writes(r) && writes(q));
}

static bool has_hold(const struct pct_history *h, const struct pct_moment *m, uint32_t hold)
{
    for (uint32_t i = m->held; i; i = h->links[i].next)
        if (h->links[i].hold == hold)
            return true;
    return false;
}

/* Whether the thread has a lock from p to q, other than what a library has for itself. */
static bool has_common(const struct pct_history *h, const struct pct_moment *p, const struct pct_moment *q)
{
    for (uint32_t i = p->held; i; i = h->links[i].next) {
        const uint32_t hold = h->links[i].hold;
        if (hold != p->hold && !h->steps[h->holds[hold].taken].foreign && has_hold(h, q, hold))
            return true;
    }
    return false;
}

static bool has_lock(const struct pct_history *h, const struct pct_moment *m, uint32_t object)
{
    for (uint32_t i = m->held; i; i = h->links[i].next)
        if (h->holds[h->links[i].hold].object == object)
            return true;
    return false;
}

/* A word that nobody waits for may be a count, which keeps nobody out. */
static bool is_lock(const struct pct_history *h, uint32_t hold)
{
    return h->holds[hold].class_ != PCT_CLASS_MEMORY || h->steps[h->holds[hold].taken].awaited;
}

/* Whether the thread of p and q has a lock from one to the other that the thread of r lacks, which has another one. Two
 * readers of one lock have the same. */
static bool other_lock(const struct pct_history *h, const struct pct_moment *p, const struct pct_moment *q,
                       const struct pct_moment *r)
{
    bool lacks = false, another = false;
    for (uint32_t i = p->held; i; i = h->links[i].next) {
        const uint32_t hold = h->links[i].hold;
        lacks |= hold != p->hold && is_lock(h, hold) && has_hold(h, q, hold) && !has_lock(h, r, h->holds[hold].object);
    }
    for (uint32_t i = r->held; i; i = h->links[i].next)
        another |= is_lock(h, h->links[i].hold) && !has_lock(h, p, h->holds[h->links[i].hold].object);
    return lacks && another;
}

/* Whether no more than a look is meant: who finds nothing, and waits, changes nothing. What else that wait needs is for
 * the rules of waits. */
static bool only_waits(const struct pct_history *h, const struct pct_moment *m)
{
    return h->trace->header.verdict == PCT_VERDICT_DEADLOCK && m->hold != PCT_NO_HOLD &&
           pct_hold_ends_in_wait(h, &h->holds[m->hold]);
}

/* Whether the thread of p has given a lock up between, by a wait for a condition: what it looks at behind that is to be
 * another one's, for which it has waited. */
static bool waits_between(const struct pct_history *h, const struct pct_moment *p, uint32_t q)
{
    for (uint32_t i = p->held; i; i = h->links[i].next) {
        const struct pct_hold *hold = &h->holds[h->links[i].hold];
        if (hold->released < q && pct_hold_ends_in_wait(h, hold))
            return true;
    }
    return false;
}

/* What comes between behind the failure is none of its cause, nor is what its thread does on its way out. */
static bool is_behind(const struct pct_history *h, uint32_t between, uint32_t then)
{
    return between >= h->failed || h->steps[then].unwinding;
}

static void look_between(struct pct_diagnoses *out, const struct pct_history *h, const uint32_t *steps)
{
    const struct pct_moment *p = &h->steps[steps[0]], *r = &h->steps[steps[1]], *q = &h->steps[steps[2]];
    enum pct_access a = access_of(p), b = access_of(r), c = access_of(q);
    /* Who waits has given its mutex up: what it does behind that stands for itself. What is not made yet has not come
     * between. */
    if (!unserializable(a, b, c) || takes_back(q) || is_behind(h, steps[1], steps[2]) || r->pending || only_waits(h, r))
        return;
    if (!writes(a) && !writes(c) && waits_between(h, p, steps[2]))
        return;
    bool unknown = is_more(a) || is_more(b) || is_more(c);
    /* Two rounds of a loop, with a section in each, seldom do. */
    bool rounds = p->way && p->way == q->way;
    bool updates = a == PCT_ACCESS_UPDATE && b == PCT_ACCESS_UPDATE && c == PCT_ACCESS_UPDATE;
    bool other = !unknown && other_lock(h, p, q, r);
    struct pct_diagnosis *d = pct_diagnoses_add(out, other ? PCT_RULE_NOT_THE_SAME_LOCK : PCT_RULE_ATOMICITY,
                                                unknown   ? (rounds ? 4 : 5.5)
                                                : updates ? 3
                                                          : 0,
                                                3, steps);
    if (d)
        d->note[1] = "comes between";
}

/* --- Two objects -------------------------------------------------------------------------------------------------- */

static bool conflicts(const struct pct_moment *a, const struct pct_moment *b)
{
    return object_of(a) == object_of(b) && pct_access_conflict(access_of(a), access_of(b));
}

/* The next access of the same thread behind this one, before this step, that conflicts. PCT_NO_STEP: there is none. */
static uint32_t conflicting(const struct accesses *a, uint32_t from, uint32_t to, const struct pct_moment *with)
{
    const uint32_t other = a->behind[from];
    return other < to && conflicts(&a->history->steps[other], with) ? other : PCT_NO_STEP;
}

/* Of the accesses that this thread makes at the same place one behind the other, to the same object and before this
 * step, the last: where all of them could see one half, that one has seen it. */
static uint32_t last_alike(const struct accesses *a, uint32_t from, uint32_t to)
{
    const struct pct_history *h = a->history;
    const struct pct_moment *m = &h->steps[from];
    uint32_t last = from;
    for (uint32_t i = a->behind[from]; m->way && i < to; i = a->behind[i]) {
        if (h->steps[i].pending || h->steps[i].way != m->way || !pct_moment_same_object(&h->steps[i], m))
            break;
        last = i;
    }
    return last;
}

/* p and q are neighbours of one thread, on two objects: another one that comes to both between them sees one half; one
 * that comes to the first between them perhaps. */
static void look_at_two(struct pct_diagnoses *out, const struct accesses *a, uint32_t p, uint32_t q)
{
    const struct pct_history *h = a->history;
    const struct pct_moment *first = &h->steps[p], *then = &h->steps[q];
    unsigned looked = 0;
    for (uint32_t r = a->any[p]; r < q && r < h->failed && looked < REMOTE; r = a->any[r]) {
        const struct pct_moment *m = &h->steps[r];
        looked++;
        if (m->pending || only_waits(h, m) || (!conflicts(m, first) && !conflicts(m, then)))
            continue;
        uint32_t other = conflicting(a, r, q, conflicts(m, first) ? then : first);
        bool half = other != PCT_NO_STEP;
        other = half ? last_alike(a, other, q) : other;
        if (!half && !conflicts(m, first))
            continue;
        /* Of two updates, such as of a count of users, each is whole by itself. */
        bool updates = !half && access_of(m) == PCT_ACCESS_UPDATE && access_of(first) == PCT_ACCESS_UPDATE;
        struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_ATOMICITY,
                                                    half      ? 5.5
                                                    : updates ? 2
                                                              : 4.5,
                                                    half ? 4 : 3, (uint32_t[]){ p, r, q, other });
        if (!d)
            continue;
        d->note[1] = "comes between";
        d->note[3] = half ? "and here" : NULL;
    }
}

static void look_at_neighbours(struct pct_diagnoses *out, const struct accesses *a)
{
    const struct pct_history *h = a->history;
    for (uint32_t p = 0; p < h->count; p++) {
        const uint32_t q = access_of(&h->steps[p]) ? a->behind[p] : PCT_NO_STEP;
        /* What is done under a lock that is held throughout does not come apart by others that take it. */
        if (q != PCT_NO_STEP && !takes_back(&h->steps[q]) && !h->steps[q].unwinding &&
            object_of(&h->steps[p]) != object_of(&h->steps[q]) && !has_common(h, &h->steps[p], &h->steps[q]))
            look_at_two(out, a, p, q);
    }
}

/* --- Who finds a lock taken --------------------------------------------------------------------------------------- */

static bool finds_taken(const struct pct_moment *m)
{
    return m->argument == PCT_ARG_BUSY && !m->pending && pct_operation_locks(m->op);
}

/* Who holds the lock looks a last time before it gives it back; who finds it taken meanwhile leaves to it what it has
 * done before, which has come behind that look. */
static void look_at_taken(struct pct_diagnoses *out, const struct accesses *a, uint32_t busy)
{
    const struct pct_history *h = a->history;
    const struct pct_moment *m = &h->steps[busy];
    const struct pct_hold *hold = pct_history_holder(h, busy, m->class_, m->object, m->thread, true);
    const uint32_t back = hold ? hold->released : PCT_NO_STEP, did = a->before[busy];
    const uint32_t look = back == PCT_NO_STEP ? PCT_NO_STEP : a->before[back];
    if (look == PCT_NO_STEP || look <= hold->taken || did == PCT_NO_STEP || did < look ||
        !conflicts(&h->steps[did], &h->steps[look]))
        return;
    struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_ATOMICITY, 5.5, 4, (uint32_t[]){ look, did, back, busy });
    if (d) {
        d->note[0] = "looks a last time,";
        d->note[1] = "comes between";
        d->note[2] = "and gives the lock back";
        d->note[3] = "and finds it taken";
    }
}

/* False: there is no memory. */
static bool find_accesses(struct accesses *a, const struct pct_history *h)
{
    const size_t size = (h->all + (size_t)1) * sizeof(uint32_t);
    *a = (struct accesses){ .history = h, .before = malloc(size), .behind = malloc(size), .any = malloc(size) };
    if (!a->before || !a->behind || !a->any)
        return false;
    for (uint32_t i = 0; i < h->all; i++) {
        const uint32_t one = h->steps[i].previous;
        a->before[i] = one == PCT_NO_STEP || access_of(&h->steps[one]) ? one : a->before[one];
    }
    for (uint32_t i = h->all, any = PCT_NO_STEP; i-- > 0;) {
        const uint32_t one = h->steps[i].next;
        a->behind[i] = one == PCT_NO_STEP || access_of(&h->steps[one]) ? one : a->behind[one];
        a->any[i] = any;
        any = access_of(&h->steps[i]) ? i : any;
    }
    return true;
}

static void look_at_others(struct pct_diagnoses *out, const struct pct_history *h)
{
    struct accesses a;
    const bool fine = find_accesses(&a, h);
    if (fine)
        look_at_neighbours(out, &a);
    for (uint32_t i = 0; fine && i < h->count; i++)
        if (finds_taken(&h->steps[i]))
            look_at_taken(out, &a, i);
    out->full = out->full || !fine;
    free(a.before);
    free(a.behind);
    free(a.any);
}

void pct_rules_atomicity(struct pct_diagnoses *out, const struct pct_history *h)
{
    uint32_t objects = 0;
    for (uint32_t i = 0; i < h->all; i++)
        if (access_of(&h->steps[i]) && object_of(&h->steps[i]) >= objects)
            objects = object_of(&h->steps[i]) + 1;
    /* By object and by step: the access before, + 1. */
    uint32_t *last = calloc(objects + (size_t)1, sizeof *last), *before = calloc(h->all + (size_t)1, sizeof *before);
    for (uint32_t i = 0; last && before && i < h->all; i++) {
        const struct pct_moment *q = &h->steps[i];
        if (!access_of(q))
            continue;
        before[i] = last[object_of(q)];
        last[object_of(q)] = i + 1;
        uint32_t p = before[i];
        for (unsigned n = 0; p && n < REMOTE && h->steps[p - 1].thread != q->thread; n++)
            p = before[p - 1];
        if (!p || h->steps[p - 1].thread != q->thread)
            continue;
        for (uint32_t r = before[i]; r != p; r = before[r - 1])
            look_between(out, h, (uint32_t[]){ p - 1, r - 1, i });
    }
    out->full = out->full || !last || !before;
    free(last);
    free(before);
    look_at_others(out, h);
}
