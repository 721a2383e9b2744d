/* The list of what the rules found: see diagnosis.h. */
#include "evidence.h"
#include <cli/base/grow.h>
#include "rules.h"
#include <stdlib.h>
#include <string.h>

static const struct {
    double base;
    bool decides;
    const char *words, *sentence;
} rules[] = {
#define PCT_RULE_ROW(id, base, decides, words, sentence) { base, decides, words, sentence },
    PCT_RULES(PCT_RULE_ROW)
#undef PCT_RULE_ROW
};

const char *pct_rule_words(enum pct_rule rule)
{
    return rules[rule].words;
}

const char *pct_rule_sentence(enum pct_rule rule)
{
    return rules[rule].sentence;
}

bool pct_rule_decides(enum pct_rule rule)
{
    return rules[rule].decides;
}

bool pct_rule_compares(enum pct_rule rule)
{
    return rule == PCT_RULE_ORDER_MISSING || rule == PCT_RULE_TWICE || rule == PCT_RULE_TOO_MANY_POSTS ||
           rule == PCT_RULE_STARVES;
}

bool pct_rule_is_rare(enum pct_rule rule)
{
    return !rules[rule].decides && !pct_rule_compares(rule) && rules[rule].base >= 7;
}

bool pct_rule_is_of_time(enum pct_rule rule)
{
    return rule == PCT_RULE_TIMED_OUT || rule == PCT_RULE_SIGNALLED_LATE || rule == PCT_RULE_ANSWERED_LATE ||
           rule == PCT_RULE_WRONG_IN_TIME;
}

/* How near to the end a pattern stands, and how compact it is: what made a run fail is mostly both. */
static double weigh(const struct pct_history *h, const struct pct_diagnosis *d)
{
    uint32_t first = h->count, last = 0, culprit = h->trace->header.culprit, behind = 0;
    bool takes_part = false;
    for (unsigned i = 0; i < d->count; i++) {
        uint32_t step = d->step[i] < h->count ? d->step[i] : h->count;
        first = step < first ? step : first;
        last = step > last ? step : last;
        takes_part = takes_part || h->steps[d->step[i]].thread == culprit;
    }
    if (culprit < h->threads)
        for (uint32_t step = h->last[culprit]; step != PCT_NO_STEP && step > last && behind < 3;
             step = h->steps[step].previous)
            behind += step < h->count;
    uint32_t to_end = last < h->count ? h->calls - h->steps[last].calls : 0;
    double near = takes_part && behind <= 2 ? 1.1 : 0.6 + 0.4 / (1 + to_end / 6.0);
    /* Others may go on for as long as the schedule lets them. */
    double compact = 1 / (1 + pct_history_own_steps(h, h->steps[d->step[0]].thread, first, last) / 200.0);
    double base = d->base;
    if (rules[d->rule].decides)
        base *= rules[d->rule].base >= 9 ? 1.3 : 1;
    else if (h->trace->header.verdict == PCT_VERDICT_DEADLOCK)
        base *= PCT_DIAGNOSIS_IN_DEADLOCK;
    return base * near * compact;
}

/* A section that ends with a wait is another one than that which goes through the same code: it has looked, and found
 * nothing. */
static bool ends_in_wait(const struct pct_history *h, const struct pct_moment *m)
{
    return m->hold != PCT_NO_HOLD && pct_hold_ends_in_wait(h, &h->holds[m->hold]);
}

static uint64_t key_of(const struct pct_history *h, const struct pct_diagnosis *d, bool ways)
{
    /* Neighbouring rules and places are small differences: they must not make up for each other. */
    uint64_t key = (d->rule + UINT64_C(1)) * UINT64_C(0xc2b2ae3d27d4eb4f);
    for (unsigned i = 0; i < d->count; i++) {
        /* Whether there was something to wait for does not make a section another one. */
        const struct pct_moment *step = &h->steps[d->step[i]], *m = &h->steps[step->begin];
        /* Without places, what was done to which object has to do. */
        uint64_t place = !m->place ? (uint64_t)m->op << 32 | m->object : ways ? m->way : m->place;
        key = (key ^ place ^ ends_in_wait(h, step)) * UINT64_C(0x9e3779b97f4a7c15);
        key ^= key >> 29;
    }
    return key;
}

struct pct_diagnosis *pct_diagnoses_add(struct pct_diagnoses *ds, enum pct_rule rule, double base, unsigned count,
                                        const uint32_t *steps)
{
    struct pct_diagnosis d = { .rule = rule, .base = base > 0 ? base : rules[rule].base, .count = count };
    memcpy(d.step, steps, count * sizeof *steps);
    d.key = key_of(ds->history, &d, true);
    d.place_key = key_of(ds->history, &d, false);
    d.score = weigh(ds->history, &d);
    const bool fits = PCT_GROW(ds->item, ds->count, ds->room);
    uint32_t *number = fits ? pct_table_add(&ds->by_key, d.key) : NULL;
    if (!number) {
        ds->full = true;
        return NULL;
    }
    if (*number && ds->item[*number - 1].score >= d.score)
        return NULL;
    if (!*number)
        *number = (uint32_t)++ds->count;
    ds->item[*number - 1] = d;
    return &ds->item[*number - 1];
}

void pct_diagnoses_find(struct pct_diagnoses *ds, const struct pct_history *history,
                        const struct pct_evidence *evidence)
{
    *ds = (struct pct_diagnoses){ .history = history, .by_key = PCT_TABLE(uint32_t) };
    if (history->sure) {
        pct_rules_objects(ds, history);
        pct_rules_forked(ds, history);
        pct_rules_waits(ds, history, evidence);
        pct_rules_semaphores(ds, history, evidence);
        pct_rules_wakes(ds, history, evidence);
        pct_rules_barriers(ds, history, evidence);
        pct_rules_parked(ds, history);
        pct_rules_not_counted(ds, history, evidence);
        pct_rules_woken(ds, history, evidence);
        pct_rules_timed_out(ds, history, evidence);
        pct_rules_late(ds, history);
    }
    pct_rules_closed(ds, history);
    pct_rules_atomicity(ds, history);
    pct_rules_ending(ds, history);
    pct_rules_order(ds, history, evidence);
    pct_rules_twice(ds, history, evidence);
    pct_rules_too_many(ds, history, evidence);
    pct_rules_untaken(ds, history);
    pct_rules_starving(ds, history, evidence);
    pct_rules_rounds(ds, history);
}

void pct_diagnoses_free(struct pct_diagnoses *ds)
{
    free(ds->item);
    pct_table_free(&ds->by_key);
    *ds = (struct pct_diagnoses){ 0 };
}

static int better(const void *a, const void *b)
{
    const struct pct_diagnosis *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    /* Of equal ones the earlier, so that the order depends on nothing else. */
    return x->step[0] < y->step[0] ? -1 : x->step[0] > y->step[0] ? 1 : (int)x->rule - (int)y->rule;
}

/* Whether all that one says is said of the same places by the other; by the same rule, in the same order. */
static bool same_places(const struct pct_history *h, const struct pct_diagnosis *one, const struct pct_diagnosis *other)
{
    if (one->rule == other->rule && !pct_rule_decides(one->rule))
        return one->place_key == other->place_key;
    for (unsigned i = 0; i < one->count; i++) {
        const struct pct_moment *m = &h->steps[one->step[i]];
        bool there = false;
        for (unsigned j = 0; j < other->count && !there; j++) {
            const struct pct_moment *n = &h->steps[other->step[j]];
            there = one->step[i] == other->step[j] || (m->place && m->place == n->place);
        }
        if (!there)
            return false;
    }
    return true;
}

void pct_diagnoses_rank(struct pct_diagnoses *ds)
{
    enum { KEPT = 32 };
    size_t kept = 0;
    if (ds->count)
        qsort(ds->item, ds->count, sizeof *ds->item, better);
    for (size_t i = 0; i < ds->count && kept < KEPT; i++) {
        bool told = false;
        for (size_t j = 0; j < kept && !told; j++)
            told = same_places(ds->history, &ds->item[i], &ds->item[j]) &&
                   same_places(ds->history, &ds->item[j], &ds->item[i]);
        if (!told)
            ds->item[kept++] = ds->item[i];
    }
    ds->count = kept;
    /* The slots no longer fit: nothing is added behind this. */
    pct_table_free(&ds->by_key);
    ds->room = kept;
}
