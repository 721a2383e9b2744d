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
    struct pct_table pairs;     /* by key_of_place() of what comes second: the first pair, + 1 */
    uint32_t *next;             /* by pair: the next such, + 1; 0: there is none */
    struct pct_groups there[2]; /* steps by key_of_place(), and by ways */
    uint32_t *slept; /* by step: the sleep by which its thread, or who made it, is later; PCT_NO_STEP: there is none */
    bool *goes_on;   /* by thread: it does, or one that was made where it was: that may come to the same */
};

static uint64_t key_of_place(uint64_t address, uint64_t place, bool ways)
{
    return place ? key_of_pair(address, UINT64_C(0x7468657265) + ways, place) : 0;
}

static uint64_t place_at(const struct pct_history *h, uint32_t i)
{
    return key_of_place(h->steps[i].address, h->steps[i].place, false);
}

static uint64_t way_at(const struct pct_history *h, uint32_t i)
{
    return key_of_place(h->steps[i].address, h->steps[i].way, true);
}

static bool find_pairs(struct failing *f)
{
    const struct pct_evidence *e = f->evidence;
    f->next = calloc(e->pair_count + 1, sizeof *f->next);
    for (size_t i = e->pair_count; f->next && i-- > 0;) {
        const struct pct_evidence_pair *pair = &e->pairs[i];
        uint32_t *first = pct_table_add(&f->pairs, key_of_place(pair->address, pair->then, pair->ways));
        if (!first)
            return false;
        f->next[i] = *first;
        *first = (uint32_t)i + 1;
    }
    return f->next;
}

/* Whether nothing but time need have passed until this step was over: else others have let its thread go on. */
static bool lets_go_on(const struct pct_moment *m)
{
    return m->op == PCT_OP_THREAD_JOIN || m->op == PCT_OP_COND_WAKE || m->op == PCT_OP_SEM_WAIT ||
           m->op == PCT_OP_BARRIER_LEAVE || m->op == PCT_OP_FUTEX_WOKEN || m->op == PCT_OP_READ;
}

static bool find_sleeps(struct failing *f, const struct pct_history *h)
{
    /* By thread: where it was made last so far, and where it was when it began. */
    uint32_t *made = malloc((h->threads + (size_t)1) * sizeof *made),
             *by = malloc((h->threads + (size_t)1) * sizeof *by);
    f->slept = malloc((h->all + (size_t)1) * sizeof *f->slept);
    for (uint32_t thread = 0; made && thread < h->threads; thread++)
        made[thread] = PCT_NO_STEP;
    for (uint32_t i = 0; made && by && f->slept && i < h->all; i++) {
        const struct pct_moment *m = &h->steps[i], *before = m->previous == PCT_NO_STEP ? NULL : &h->steps[m->previous];
        const bool begun = before && before->op == PCT_OP_THREAD_START && by[m->thread] != PCT_NO_STEP;
        f->slept[i] = !before || lets_go_on(before) ? PCT_NO_STEP
                      : before->op == PCT_OP_AWAKE  ? m->previous
                                                    : f->slept[begun ? by[m->thread] : m->previous];
        if (m->op == PCT_OP_THREAD_START)
            by[m->thread] = made[m->thread];
        if (m->op == PCT_OP_THREAD_CREATE && m->object < h->threads)
            made[m->object] = i;
    }
    free(by);
    free(made);
    return f->slept;
}

static bool has_ended(const struct pct_history *h, uint32_t thread)
{
    uint32_t last = thread < h->threads ? h->last[thread] : PCT_NO_STEP;
    return last != PCT_NO_STEP && h->steps[last].op == PCT_OP_THREAD_FINISH;
}

static bool find_who_goes_on(struct failing *f, const struct pct_history *h)
{
    struct pct_table places = PCT_TABLE_OF_KEYS; /* where threads are made that do */
    uint64_t *made = calloc(h->threads + (size_t)1, sizeof *made);
    f->goes_on = calloc(h->threads + (size_t)1, sizeof *f->goes_on);
    bool fine = made && f->goes_on;
    for (uint32_t i = 0; fine && i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (m->op != PCT_OP_THREAD_CREATE)
            continue;
        if (m->object < h->threads)
            made[m->object] = m->place;
        if (m->place && !pct_moment_failed(m) && !has_ended(h, m->object))
            fine = pct_table_add(&places, m->place);
    }
    for (uint32_t thread = 0; fine && thread < h->threads; thread++)
        f->goes_on[thread] = (made[thread] && pct_table_find(&places, made[thread])) || !has_ended(h, thread);
    pct_table_free(&places);
    free(made);
    return fine;
}

/* The step of another thread by which it comes all the same, later or as soon as it can; PCT_NO_STEP: it is not in this
 * run. *own: the same thread does it later, which is no violation. */
static uint32_t comes_later(const struct failing *f, const struct pct_history *h, bool ways, uint32_t step,
                            uint64_t place, bool *own)
{
    const struct pct_moment *m = &h->steps[step];
    const uint64_t address[2] = { m->address, 0 };
    uint32_t found = PCT_NO_STEP;
    for (unsigned n = 0; n < 2; n++) {
        const struct pct_group there = pct_groups_find(&f->there[ways], key_of_place(address[n], place, ways));
        const uint32_t first = pct_group_behind(&there, step);
        if (first < there.count && there.item[first] < found)
            found = there.item[first];
        for (uint32_t i = first; i < there.count && !*own; i++)
            *own = h->steps[there.item[i]].thread == m->thread;
    }
    return found;
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
    const uint32_t *first =
        runs < PCT_EVIDENCE_ENOUGH ? NULL : pct_table_find(&f->pairs, key_of_place(m->address, place, ways));
    for (uint32_t number = first ? *first : 0; number; number = f->next[number - 1]) {
        const struct pct_evidence_pair *pair = &f->evidence->pairs[number - 1];
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
        uint32_t later = comes_later(f, h, ways, step, pair->first, &own);
        uint32_t slept = f->slept[step], steps[3] = { step };
        const char *note[3] = { NULL };
        unsigned count = 1;
        /* How often a loop goes round, that has ended, is no order. */
        if (times && later == PCT_NO_STEP && !f->goes_on[by])
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

void pct_rules_order(struct pct_diagnoses *out, const struct pct_history *h, const struct pct_evidence *evidence)
{
    struct failing f = { .out = out, .evidence = evidence, .pairs = PCT_TABLE(uint32_t) };
    if (!evidence || evidence->passing < PCT_EVIDENCE_ENOUGH)
        return;
    if (find_pairs(&f) && find_sleeps(&f, h) && find_who_goes_on(&f, h) &&
        pct_groups_make(&f.there[false], h, h->all, place_at) && pct_groups_make(&f.there[true], h, h->all, way_at)) {
        walk(h, false, look_at_first, &f);
        walk(h, true, look_at_first, &f);
    } else {
        out->full = true;
    }
    pct_table_free(&f.pairs);
    free(f.next);
    pct_groups_free(&f.there[false]);
    pct_groups_free(&f.there[true]);
    free(f.slept);
    free(f.goes_on);
}
