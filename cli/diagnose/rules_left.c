/* Of a run that ended in a deadlock, that nobody is left to do what is waited for: see rules_wakes.h. */
#include "evidence.h"
#include "rules_wakes.h"
#include <cli/base/grow.h>
#include <stdlib.h>

/* What threads do at times. */
struct doing {
    const struct pct_history *history;
    const struct pct_evidence *evidence; /* may be NULL */
    struct pct_table waits;              /* a set: by whom which condition variables are waited for */
    uint64_t *place;                     /* where threads take locks, one behind the other, each place once */
    uint32_t count, room;
    uint32_t *first;         /* by thread: the first of its places; those of the next one stand behind them */
    struct pct_table serves; /* by thread and condition variable: 1: it does not, 2: it does */
    struct pct_table open;   /* by condition variable: 1: all who serve it are blocked, 2: not all of them */
};

static uint64_t key_of(uint32_t thread, const struct pct_moment *cond)
{
    return (uint64_t)thread << 32 | cond->object;
}

static bool find_places(struct doing *d, uint32_t thread)
{
    const struct pct_history *h = d->history;
    struct pct_table known = PCT_TABLE_OF_KEYS;
    bool fine = true;
    for (uint32_t i = h->last[thread]; fine && i != PCT_NO_STEP; i = h->steps[i].previous) {
        const struct pct_moment *m = &h->steps[i];
        if (m->op == PCT_OP_COND_WAIT && m->object)
            fine = pct_table_add(&d->waits, key_of(thread, m));
        if (!d->evidence || m->hold == PCT_NO_HOLD || !m->place || pct_table_find(&known, m->place))
            continue;
        fine = fine && pct_table_add(&known, m->place) && PCT_GROW(d->place, d->count, d->room);
        if (fine)
            d->place[d->count++] = m->place;
    }
    pct_table_free(&known);
    return fine;
}

static bool open_doing(struct doing *d, const struct pct_history *h, const struct pct_evidence *evidence)
{
    *d = (struct doing){ .history = h,
                         .evidence = evidence,
                         .waits = PCT_TABLE_OF_KEYS,
                         .first = malloc((h->threads + (size_t)1) * sizeof *d->first),
                         .serves = PCT_TABLE(uint8_t),
                         .open = PCT_TABLE(uint8_t) };
    bool fine = d->first;
    for (uint32_t thread = 0; fine && thread < h->threads; thread++) {
        d->first[thread] = d->count;
        fine = find_places(d, thread);
    }
    if (fine)
        d->first[h->threads] = d->count;
    return fine;
}

static void close_doing(struct doing *d)
{
    pct_table_free(&d->waits);
    pct_table_free(&d->serves);
    pct_table_free(&d->open);
    free(d->place);
    free(d->first);
}

/* Whether the thread is one of those who wait on this condition variable at times: it does, or has come to a section at
 * whose place somebody has, in this run or another one. */
static bool find_serving(const struct doing *d, uint32_t thread, const struct pct_moment *cond)
{
    if (cond->object && pct_table_find(&d->waits, key_of(thread, cond)))
        return true;
    for (uint32_t i = d->first[thread]; cond->address && i < d->first[thread + 1]; i++)
        if (pct_evidence_has(d->evidence, pct_key_of_waiters(d->place[i], cond->address)))
            return true;
    return false;
}

static bool serves(struct doing *d, uint32_t thread, const struct pct_moment *cond)
{
    uint8_t *known = cond->object ? pct_table_add(&d->serves, key_of(thread, cond)) : NULL;
    if (known && *known)
        return *known == 2;
    const bool found = find_serving(d, thread, cond);
    if (known)
        *known = found ? 2 : 1;
    return found;
}

/* Whether all of those are blocked by something else, at the end. */
static bool find_blocked(struct doing *d, const struct pct_moment *cond)
{
    const struct pct_history *h = d->history;
    for (uint32_t thread = 0; thread < h->threads; thread++) {
        if (h->last[thread] == PCT_NO_STEP || !serves(d, thread, cond))
            continue;
        const struct pct_moment *end = &h->steps[h->last[thread]];
        if (!end->pending || !end->blocked || pct_moment_same_object(end, cond) || pct_moment_locks(end))
            return false;
    }
    return true;
}

static bool all_are_blocked(struct doing *d, const struct pct_moment *cond)
{
    uint8_t *known = cond->object ? pct_table_add(&d->open, cond->object) : NULL;
    if (known && *known)
        return *known == 1;
    const bool blocked = find_blocked(d, cond);
    if (known)
        *known = blocked ? 1 : 2;
    return blocked;
}

void pct_rules_nobody_left(struct pct_diagnoses *out, const struct pct_history *h, const struct pct_evidence *evidence)
{
    struct doing doing;
    const bool fine = open_doing(&doing, h, evidence);
    for (uint32_t i = 0; fine && i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (!pct_moment_notifies(m) || m->argument != PCT_ARG_NOBODY || !serves(&doing, m->thread, m) ||
            !all_are_blocked(&doing, m))
            continue;
        struct pct_diagnosis *d =
            pct_diagnoses_add(out, PCT_RULE_NOBODY_LEFT, 0, 2, (uint32_t[]){ i, h->last[m->thread] });
        if (d)
            d->note[0] = "nobody waits for it";
    }
    out->full = out->full || !fine;
    close_doing(&doing);
}
