/* What other runs say about a failing one: see evidence.h. */
#include "evidence.h"
#include <cli/base/grow.h>
#include "rules.h"
#include <math.h>
#include <stdlib.h>

struct row {
    unsigned failing, passing;
    unsigned run; /* the last one that had it */
    double least; /* its score in the smallest one that fails; 0: that has not got it */
};

static struct row *find(const struct pct_evidence *e, uint64_t key)
{
    return pct_table_find(&e->rows, key);
}

/* The row of this key, made if there is none. NULL: out of memory. */
static struct row *row_of(struct pct_evidence *e, uint64_t key)
{
    if (!e->rows.size)
        e->rows = PCT_TABLE(struct row);
    struct row *row = pct_table_add(&e->rows, key);
    e->full = e->full || !row;
    return row;
}

void pct_evidence_note(struct pct_evidence *e, uint64_t key, bool fails)
{
    unsigned run = e->failing + e->passing;
    struct row *row = row_of(e, key);
    if (!row || row->run == run)
        return;
    row->run = run;
    *(fails ? &row->failing : &row->passing) += 1;
}

bool pct_evidence_has(const struct pct_evidence *e, uint64_t key)
{
    return find(e, key);
}

unsigned pct_evidence_passing(const struct pct_evidence *e, uint64_t key)
{
    const struct row *row = find(e, key);
    return row ? row->passing : 0;
}

void pct_evidence_note_pair(struct pct_evidence *e, uint64_t key, const struct pct_evidence_pair *pair)
{
    bool known = pct_evidence_passing(e, key);
    pct_evidence_note(e, key, false);
    if (known)
        return;
    if (!PCT_GROW(e->pairs, e->pair_count, e->pair_room)) {
        e->full = true;
        return;
    }
    e->pairs[e->pair_count++] = *pair;
}

unsigned pct_evidence_failing(const struct pct_evidence *e, uint64_t key)
{
    const struct row *row = find(e, key);
    return row ? row->failing : 0;
}

uint64_t pct_evidence_notice(uint64_t place, uint64_t address)
{
    return (place * UINT64_C(0x9e3779b97f4a7c15)) ^ (address * UINT64_C(0xc2b2ae3d27d4eb4f));
}

static void note_both(struct pct_evidence *e, const struct pct_diagnosis *d, bool fails)
{
    pct_evidence_note(e, d->key, fails);
    pct_evidence_note(e, d->place_key, fails);
}

void pct_evidence_add(struct pct_evidence *e, const struct pct_history *history, bool fails)
{
    struct pct_diagnoses ds;
    *(fails ? &e->failing : &e->passing) += 1;
    pct_diagnoses_find(&ds, history, NULL);
    for (size_t i = 0; i < ds.count; i++)
        note_both(e, &ds.item[i], fails);
    e->full = e->full || ds.full;
    pct_diagnoses_free(&ds);
    pct_rules_notices(history, e, fails);
    pct_rules_posts(history, e, fails);
    pct_rules_roles(history, e, fails);
    pct_rules_orders(history, e, fails);
    pct_rules_visits(history, e, fails);
    if (fails)
        return;
    pct_rules_balances(history, e);
    pct_rules_patience(history, e);
    pct_rules_times(history, e);
}

static void note_least(struct pct_evidence *e, uint64_t key, double score)
{
    struct row *row = row_of(e, key);
    if (row && score > row->least)
        row->least = score;
}

void pct_evidence_least(struct pct_evidence *e, const struct pct_history *history)
{
    struct pct_diagnoses ds;
    pct_diagnoses_find(&ds, history, e);
    for (size_t i = 0; i < ds.count; i++) {
        note_least(e, ds.item[i].key, ds.item[i].score);
        note_least(e, ds.item[i].place_key, ds.item[i].score);
    }
    e->least = ds.count;
    pct_diagnoses_free(&ds);
}

/* Whether nearly all runs that fail have it, and none of several that pass: if the smallest one has not, that fails in
 * another way. */
static bool is_clear(const struct pct_evidence *e, const struct pct_diagnosis *d)
{
    return !d->passing && e->passing > PCT_EVIDENCE_ENOUGH && d->failing > PCT_EVIDENCE_ENOUGH &&
           d->failing >= PCT_EVIDENCE_NEARLY_ALL * e->failing;
}

/* In the smallest run that fails a pattern stands as near to the end as it has to. */
static double weigh_least(const struct pct_evidence *e, struct pct_diagnosis *d)
{
    const struct row *ways = find(e, d->key), *places = find(e, d->place_key);
    double least = ways && ways->least > 0 ? ways->least : places ? places->least : 0;
    if (!e->least || (least <= 0 && (d->shows || is_clear(e, d))))
        return d->score;
    d->unneeded = least <= 0;
    return d->unneeded ? d->score * PCT_EVIDENCE_NOT_NEEDED : least > d->score ? least : d->score;
}

/* Good runs are full of such patterns: without some to compare with, or where most have it, too, nothing is said. */
static bool is_telling(const struct pct_evidence *e, const struct pct_diagnosis *d)
{
    return pct_rule_decides(d->rule) || (e->passing >= PCT_EVIDENCE_ENOUGH && 2 * d->passing < e->passing);
}

bool pct_evidence_all_fail(const struct pct_evidence *e)
{
    return e->enough && e->made >= e->enough && !e->passing && !e->otherwise;
}

bool pct_evidence_by_numbers(const struct pct_evidence *e)
{
    return e->drawn >= PCT_EVIDENCE_ENOUGH && e->drawn_fail == e->drawn;
}

bool pct_evidence_by_choices(const struct pct_evidence *e)
{
    return e->otherwise && e->passing < PCT_EVIDENCE_ENOUGH;
}

void pct_evidence_drop(struct pct_diagnoses *ds)
{
    size_t kept = 0;
    for (size_t i = 0; i < ds->count; i++)
        if (pct_rule_decides(ds->item[i].rule))
            ds->item[kept++] = ds->item[i];
    ds->count = kept;
}

/* Of a program of which hardly a run passes nobody knows what those have: what is seldom, and seldom right, is worth
 * saying. Not where others were made and none does: the order may have nothing to do with it; unless it is one of
 * time, which is the same in all runs, whatever their schedules. */
static bool is_guess(const struct pct_evidence *e, const struct pct_diagnosis *d)
{
    bool may = e->passing || !e->made || (pct_rule_is_of_time(d->rule) && d->failing == e->failing);
    return !e->one_schedule && e->passing < PCT_EVIDENCE_ENOUGH && may && !d->passing && pct_rule_is_rare(d->rule);
}

/* Whether it is at least seldomer in runs that pass: of a program that hardly passes, those are too few to say more. */
static bool is_hint(const struct pct_evidence *e, const struct pct_diagnosis *d)
{
    return e->passing >= PCT_EVIDENCE_ENOUGH && (uint64_t)d->passing * e->failing < (uint64_t)d->failing * e->passing;
}

/* How many runs had this key of the diagnosis. Returns the coefficient. */
static double count_runs(const struct pct_evidence *e, struct pct_diagnosis *d, uint64_t key)
{
    const struct row *row = find(e, key);
    d->failing = row && row->failing ? row->failing : 1;
    d->passing = row ? row->passing : 0;
    if (!e->failing)
        return 1;
    double precision = d->failing / (d->failing + d->passing + 0.5), recall = d->failing / (double)e->failing;
    return sqrt(sqrt(precision * precision * precision * recall));
}

/* The square root of the recall of what no run that passed has: by how many of those that failed have it. */
static double share_with(const struct pct_evidence *e, const struct pct_diagnosis *d)
{
    return e->failing > d->without ? sqrt((e->failing - d->without) / (double)e->failing) : e->failing ? 0 : 1;
}

/* What the coefficient is worth. In a deadlock such patterns count less (diagnosis.c), unless all runs
 * that fail, and none that passes, have it. */
static double weigh_share(const struct pct_history *h, const struct pct_evidence *e, const struct pct_diagnosis *d,
                          double share)
{
    bool clear = share >= 0.9 && d->failing > PCT_EVIDENCE_ENOUGH && e->passing > PCT_EVIDENCE_ENOUGH;
    bool deadlock = h->trace->header.verdict == PCT_VERDICT_DEADLOCK;
    return clear && deadlock ? share / PCT_DIAGNOSIS_IN_DEADLOCK : share;
}

void pct_evidence_weigh(const struct pct_evidence *e, struct pct_diagnoses *ds)
{
    size_t kept = 0;
    for (size_t i = 0; i < ds->count; i++) {
        struct pct_diagnosis *d = &ds->item[i];
        double ways = count_runs(e, d, d->key), places = count_runs(e, d, d->place_key);
        if (ways > places)
            count_runs(e, d, d->key);
        d->share = ways > places ? ways : places;
        if (!pct_rule_decides(d->rule))
            d->score = weigh_least(e, d);
        d->common = !pct_rule_decides(d->rule) && PCT_EVIDENCE_COMMON * d->passing > e->passing;
        if (pct_rule_compares(d->rule))
            d->score *= e->passing / (e->passing + 2.0) * share_with(e, d);
        else if (!pct_rule_decides(d->rule))
            d->score *= weigh_share(ds->history, e, d, d->share);
        if (!is_telling(e, d))
            d->score *= PCT_EVIDENCE_HINT;
        if (!is_telling(e, d) && d->score > PCT_EVIDENCE_GUESS)
            d->score = PCT_EVIDENCE_GUESS;
        if (is_telling(e, d) || is_hint(e, d) || is_guess(e, d))
            ds->item[kept++] = *d;
    }
    ds->count = kept;
    pct_diagnoses_rank(ds);
}

void pct_evidence_free(struct pct_evidence *e)
{
    pct_table_free(&e->rows);
    free(e->pairs);
    *e = (struct pct_evidence){ 0 };
}
