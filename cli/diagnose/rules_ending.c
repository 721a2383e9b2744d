/* Threads that go on while the program ends: see rules.h. Many programs have such threads and are right, so that other
 * runs have to tell. */
#include "rules.h"

static bool conflict(const struct pct_moment *a, const struct pct_moment *b)
{
    return pct_moment_same_object(a, b) && pct_access_conflict(pct_moment_own_access(a), pct_moment_own_access(b));
}

/* What the ending thread did behind `from` and before `step` that this step depends on. PCT_NO_STEP: nothing. */
static uint32_t done_while_ending(const struct pct_history *h, uint32_t from, uint32_t step)
{
    for (uint32_t i = step; i-- > from + 1;)
        if (h->steps[i].thread == h->steps[from].thread && conflict(&h->steps[i], &h->steps[step]))
            return i;
    return PCT_NO_STEP;
}

void pct_rules_ending(struct pct_diagnoses *out, const struct pct_history *h)
{
    uint32_t ends = 0;
    while (ends < h->count && h->steps[ends].op != PCT_OP_EXIT)
        ends++;
    for (uint32_t i = ends + 1; i < h->count; i++) {
        if (h->steps[i].thread == h->steps[ends].thread)
            continue;
        uint32_t did = done_while_ending(h, ends, i);
        struct pct_diagnosis *d =
            did == PCT_NO_STEP ? NULL
                               : pct_diagnoses_add(out, PCT_RULE_NOT_WAITED_FOR, 0, 3, (uint32_t[]){ ends, did, i });
        if (!d)
            continue;
        d->note[1] = "while it ends,";
        d->note[2] = "and this one goes on";
    }
}
