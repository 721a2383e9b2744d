/* What two threads do at the same place, and one alone does in every run that passes: something that is made, opened or
 * freed once. See rules.h. */
#include "evidence.h"
#include "rules.h"
#include <stdlib.h>

/* The keys of this access of a run, and of a second one by another thread. */
static uint64_t key_of(const struct pct_moment *m, unsigned visit)
{
    return pct_evidence_notice(m->place + UINT64_C(0x7477696365) * visit, m->address);
}

static int by_place(const void *a, const void *b)
{
    const struct pct_moment *x = *(const struct pct_moment *const *)a, *y = *(const struct pct_moment *const *)b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x < y ? -1 : x > y;
}

typedef void each_place(void *context, const struct pct_history *h, const struct pct_moment *first,
                        const struct pct_moment *second);

/* For each place and object there: the first access, and the first one by another thread, or NULL. */
static void walk(const struct pct_history *h, each_place *each, void *context)
{
    const struct pct_moment **all = calloc(h->count + (size_t)1, sizeof *all);
    size_t count = 0, end;
    for (uint32_t i = 0; all && i < h->count; i++)
        if (pct_moment_own_access(&h->steps[i]) && h->steps[i].place && h->steps[i].address)
            all[count++] = &h->steps[i];
    if (all)
        qsort(all, count, sizeof *all, by_place);
    for (size_t first = 0; first < count; first = end) {
        const struct pct_moment *second = NULL;
        for (end = first;
             end < count && all[end]->place == all[first]->place && all[end]->address == all[first]->address; end++)
            if (!second && all[end]->thread != all[first]->thread)
                second = all[end];
        each(context, h, all[first], second);
    }
    free(all);
}

struct noting {
    struct pct_evidence *evidence;
    bool fails;
};

static void note(void *context, const struct pct_history *h, const struct pct_moment *first,
                 const struct pct_moment *second)
{
    const struct noting *n = context;
    (void)h;
    pct_evidence_note(n->evidence, key_of(first, 1), n->fails);
    if (second)
        pct_evidence_note(n->evidence, key_of(first, 2), n->fails);
}

void pct_rules_visits(const struct pct_history *history, struct pct_evidence *evidence, bool fails)
{
    struct noting n = { evidence, fails };
    walk(history, note, &n);
}

struct failing {
    struct pct_diagnoses *out;
    const struct pct_evidence *evidence;
};

static void look(void *context, const struct pct_history *h, const struct pct_moment *first,
                 const struct pct_moment *second)
{
    struct failing *f = context;
    if (!second || pct_evidence_passing(f->evidence, key_of(first, 1)) < PCT_EVIDENCE_ENOUGH ||
        pct_evidence_passing(f->evidence, key_of(first, 2)))
        return;
    struct pct_diagnosis *d = pct_diagnoses_add(
        f->out, PCT_RULE_TWICE, 0, 2, (uint32_t[]){ (uint32_t)(first - h->steps), (uint32_t)(second - h->steps) });
    unsigned have = pct_evidence_failing(f->evidence, key_of(first, 2));
    if (d && have < f->evidence->failing)
        d->without = f->evidence->failing - have;
}

void pct_rules_twice(struct pct_diagnoses *out, const struct pct_history *history, const struct pct_evidence *evidence)
{
    struct failing f = { out, evidence };
    if (evidence && evidence->passing >= PCT_EVIDENCE_ENOUGH)
        walk(history, look, &f);
}
