/* What came first in every run that passed, and has not come yet in this one: see rules.h. */
#include "evidence.h"
#include "places.h"
#include "rules.h"
#include <cli/base/table.h>
#include <stdlib.h>

enum { PLACES = 32 }; /* places of an object that are told apart */
enum { TIMES = 16 };  /* accesses at one of them that are counted */
enum { OBJECTS = 1 << 15 };

/* The places at which an object was accessed so far. */
struct accessed {
    unsigned count;
    struct {
        uint64_t place, code;
        enum pct_access access;
        uint32_t step, times, last; /* the first step, how many, and the last one */
    } by[PLACES];
};

/* NULL: there are too many, or no memory. */
static struct accessed *find(struct pct_table *t, uint64_t address)
{
    return t->count < OBJECTS ? pct_table_add(t, address) : pct_table_find(t, address);
}

static uint64_t key_of_pair(uint64_t address, uint64_t first, uint64_t then)
{
    uint64_t key = (address ^ UINT64_C(0x5bd1e995)) * UINT64_C(0x9e3779b97f4a7c15);
    key = (key ^ first) * UINT64_C(0xc2b2ae3d27d4eb4f);
    return ((key ^ key >> 31) + then) * UINT64_C(0x165667b19e3779f9);
}

/* The same with this number of accesses at the first place, from two on. */
static uint64_t key_of_times(uint64_t address, uint64_t first, uint64_t then, uint32_t times)
{
    return key_of_pair(address ^ times * UINT64_C(0x9e3779b97f4a7c15), first, then);
}

/* By places, or by the ways to them, which tells apart who calls the program's own cell_get(). */
static uint64_t place_of(const struct pct_moment *m, bool ways)
{
    return ways ? m->way : m->place;
}

/* What is made of the first access at a place to an object: the accesses before it. */
typedef void each_first(void *context, const struct pct_history *h, bool ways, uint32_t step,
                        const struct accessed *before);

static void walk(const struct pct_history *h, bool ways, each_first *each, void *context)
{
    struct pct_table t = PCT_TABLE(struct accessed); /* by address */
    for (uint32_t i = 0; i < h->failed; i++) {
        const struct pct_moment *m = &h->steps[i];
        enum pct_access access = pct_moment_own_access(m);
        struct accessed *a = access && m->address && place_of(m, ways) ? find(&t, m->address) : NULL;
        unsigned known = 0;
        while (a && known < a->count && a->by[known].place != place_of(m, ways))
            known++;
        if (a && known < a->count) {
            a->by[known].times++;
            a->by[known].last = i;
        }
        if (!a || known < a->count || a->count == PLACES)
            continue;
        each(context, h, ways, i, a);
        a->by[a->count].place = place_of(m, ways);
        a->by[a->count].code = m->code;
        a->by[a->count].step = i;
        a->by[a->count].times = 1;
        a->by[a->count].last = i;
        a->by[a->count++].access = access;
    }
    pct_table_free(&t);
}

/* --- Other runs --------------------------------------------------------------------------------------------------- */

struct noting {
    struct pct_evidence *evidence;
    bool fails;
};

static void note_first(void *context, const struct pct_history *h, bool ways, uint32_t step,
                       const struct accessed *before)
{
    const struct noting *n = context;
    const struct pct_moment *m = &h->steps[step];
    uint64_t place = place_of(m, ways);
    pct_evidence_note(n->evidence, key_of_pair(m->address, 0, place), n->fails);
    for (unsigned i = 0; i < before->count; i++) {
        uint64_t key = key_of_pair(m->address, before->by[i].place, place);
        if (!pct_access_conflict(before->by[i].access, pct_moment_own_access(m)))
            continue;
        for (uint32_t times = 2; times <= before->by[i].times && times <= TIMES; times++)
            pct_evidence_note(n->evidence, key_of_times(m->address, before->by[i].place, place, times), n->fails);
        if (n->fails)
            pct_evidence_note(n->evidence, key, true);
        else
            pct_evidence_note_pair(n->evidence, key,
                                   &(struct pct_evidence_pair){ m->address, before->by[i].place, place,
                                                                before->by[i].code, before->by[i].step, ways });
    }
}

void pct_rules_orders(const struct pct_history *history, struct pct_evidence *evidence, bool fails)
{
    struct noting n = { evidence, fails };
    walk(history, false, note_first, &n);
    walk(history, true, note_first, &n);
}

/* --- The one that fails ------------------------------------------------------------------------------------------- */

struct failing {
    struct pct_diagnoses *out;
    const struct pct_evidence *evidence;
};

/* The step of another thread by which it comes all the same, later or as soon as it can; PCT_NO_STEP: it is not in this
 * run. *own: the same thread does it later, which is no violation. */
static uint32_t comes_later(const struct pct_history *h, bool ways, uint32_t step, uint64_t place, bool *own)
{
    const struct pct_moment *m = &h->steps[step];
    uint32_t found = PCT_NO_STEP;
    for (uint32_t i = step + 1; i < h->all; i++) {
        if (place_of(&h->steps[i], ways) != place || (h->steps[i].address && h->steps[i].address != m->address))
            continue;
        *own = *own || h->steps[i].thread == m->thread;
        found = found == PCT_NO_STEP ? i : found;
    }
    return found;
}

/* The sleep by which the thread, or who made it, is later: nothing else that others do has let it go on since.
 * PCT_NO_STEP: there is none. */
static uint32_t slept_before(const struct pct_history *h, uint32_t step)
{
    for (uint32_t i = h->steps[step].previous; i != PCT_NO_STEP; i = h->steps[i].previous) {
        const struct pct_moment *m = &h->steps[i];
        if (m->op == PCT_OP_AWAKE)
            return i;
        if (m->op == PCT_OP_THREAD_JOIN || m->op == PCT_OP_COND_WAKE || m->op == PCT_OP_SEM_WAIT ||
            m->op == PCT_OP_BARRIER_LEAVE || m->op == PCT_OP_FUTEX_WOKEN || m->op == PCT_OP_READ)
            return PCT_NO_STEP;
        for (uint32_t made = i; m->op == PCT_OP_THREAD_START && made-- > 0;)
            if (h->steps[made].op == PCT_OP_THREAD_CREATE && h->steps[made].object == m->thread)
                return slept_before(h, made);
    }
    return PCT_NO_STEP;
}

/* What is said of this step already, if that names an absence which comes later in runs that pass: of several, the
 * first is what the other thread had to do next. */
static struct pct_diagnosis *with_later_absence(struct pct_diagnoses *ds, uint32_t step, uint32_t absent_step)
{
    for (size_t i = 0; i < ds->count; i++) {
        struct pct_diagnosis *d = &ds->item[i];
        if (d->rule == PCT_RULE_ORDER_MISSING && d->step[0] == step && d->absent_step > absent_step)
            return d;
    }
    return NULL;
}

static bool has_ended(const struct pct_history *h, uint32_t thread)
{
    uint32_t last = thread < h->threads ? h->last[thread] : PCT_NO_STEP;
    return last != PCT_NO_STEP && h->steps[last].op == PCT_OP_THREAD_FINISH;
}

/* Whether this thread goes on, or one that was made where it was: that may come to the same. */
static bool goes_on(const struct pct_history *h, uint32_t thread)
{
    uint64_t made = 0;
    for (uint32_t i = 0; i < h->count; i++)
        if (h->steps[i].op == PCT_OP_THREAD_CREATE && h->steps[i].object == thread)
            made = h->steps[i].place;
    for (uint32_t i = 0; i < h->count && made; i++)
        if (h->steps[i].op == PCT_OP_THREAD_CREATE && h->steps[i].place == made && !pct_moment_failed(&h->steps[i]) &&
            !has_ended(h, h->steps[i].object))
            return true;
    return !has_ended(h, thread);
}

/* How often the object was accessed at this place; *by: who did so last. */
static uint32_t times_before(const struct pct_history *h, const struct accessed *before, uint64_t place, uint32_t *by)
{
    unsigned i = 0;
    while (i < before->count && before->by[i].place != place)
        i++;
    *by = i < before->count ? h->steps[before->by[i].last].thread : 0;
    return i < before->count ? before->by[i].times : 0;
}

static void look_at_first(void *context, const struct pct_history *h, bool ways, uint32_t step,
                          const struct accessed *before)
{
    struct failing *f = context;
    const struct pct_moment *m = &h->steps[step];
    uint64_t place = place_of(m, ways);
    unsigned runs = pct_evidence_passing(f->evidence, key_of_pair(m->address, 0, place));
    for (size_t i = 0; runs >= PCT_EVIDENCE_ENOUGH && i < f->evidence->pair_count; i++) {
        const struct pct_evidence_pair *pair = &f->evidence->pairs[i];
        if (pair->ways != ways || pair->address != m->address || pair->then != place ||
            pct_evidence_passing(f->evidence, key_of_pair(pair->address, pair->first, pair->then)) != runs)
            continue;
        /* Runs that fail, though it did come first there, say that something else decides. */
        unsigned failing = pct_evidence_failing(f->evidence, key_of_pair(pair->address, pair->first, pair->then));
        bool own = false;
        uint32_t by, times = times_before(h, before, pair->first, &by);
        /* What came so often first in every run that passed has come less often here. */
        uint64_t more = key_of_times(pair->address, pair->first, pair->then, times + 1);
        if (times >= TIMES || (times && pct_evidence_passing(f->evidence, more) != runs))
            continue;
        failing = times ? pct_evidence_failing(f->evidence, more) : failing;
        uint32_t later = comes_later(h, ways, step, pair->first, &own);
        uint32_t slept = slept_before(h, step), steps[3] = { step };
        const char *note[3] = { NULL };
        unsigned count = 1;
        /* How often a loop goes round, that has ended, is no order. */
        if (times && later == PCT_NO_STEP && !goes_on(h, by))
            continue;
        if (later != PCT_NO_STEP) {
            note[count] = "which came first in every run that passed";
            steps[count++] = later;
        }
        if (slept != PCT_NO_STEP) {
            note[count] = "by this alone it is later: a sleep is no order";
            steps[count++] = slept;
        }
        struct pct_diagnosis *d = own ? NULL : pct_diagnoses_add(f->out, PCT_RULE_ORDER_MISSING, 0, count, steps);
        if (!d && !own && later == PCT_NO_STEP && !times)
            d = with_later_absence(f->out, step, pair->step);
        if (!d)
            continue;
        d->without = failing;
        d->absent = later == PCT_NO_STEP ? pct_places_address(&h->snapshot, pair->code) : 0;
        /* Which of several it was is not known: what did not come at all goes before. */
        d->absent_step = later != PCT_NO_STEP ? 0 : times ? PCT_NO_STEP : pair->step;
        for (unsigned n = 0; n < count; n++)
            d->note[n] = note[n];
    }
}

void pct_rules_order(struct pct_diagnoses *out, const struct pct_history *history, const struct pct_evidence *evidence)
{
    struct failing f = { out, evidence };
    if (evidence && evidence->passing >= PCT_EVIDENCE_ENOUGH) {
        walk(history, false, look_at_first, &f);
        walk(history, true, look_at_first, &f);
    }
}
