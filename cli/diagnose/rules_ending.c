/* Threads that go on while the program ends: see rules.h. Many programs have such threads and are right, so that other
 * runs have to tell. */
#include "rules.h"

enum { PARTS = 9 };

/* The key of this access of the ending thread to a part of this object. */
static uint64_t key_of(const struct pct_moment *m, enum pct_access access, uint32_t part)
{
    const uint64_t of = (uint64_t)m->class_ * (PCT_ACCESS_UNKNOWN + 1) + access;
    return (of * PARTS + part) << 32 | m->object;
}

/* The last thing that the ending thread did that this step depends on; done: by key_of(), the last step so far, + 1.
 * PCT_NO_STEP: nothing. */
static uint32_t done_while_ending(const struct pct_history *h, uint32_t step, const struct pct_table *done)
{
    const struct pct_moment *m = &h->steps[step];
    const enum pct_access own = pct_moment_own_access(m);
    uint32_t last = 0;
    for (enum pct_access access = PCT_ACCESS_READ; m->object && access <= PCT_ACCESS_UNKNOWN; access++)
        for (uint32_t part = 0; pct_access_conflict(own, access) && part < PARTS; part++) {
            const bool same = part == m->part || !part || !m->part;
            const uint32_t *did = same ? pct_table_find(done, key_of(m, access, part)) : NULL;
            last = did && *did > last ? *did : last;
        }
    return last ? last - 1 : PCT_NO_STEP;
}

void pct_rules_ending(struct pct_diagnoses *out, const struct pct_history *h)
{
    uint32_t ends = 0;
    while (ends < h->count && h->steps[ends].op != PCT_OP_EXIT)
        ends++;
    struct pct_table done = PCT_TABLE(uint32_t);
    for (uint32_t i = ends + 1; i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        const enum pct_access own = m->object && m->thread == h->steps[ends].thread ? pct_moment_own_access(m) : 0;
        uint32_t *last = own ? pct_table_add(&done, key_of(m, own, m->part)) : NULL;
        out->full = out->full || (own && !last);
        if (last)
            *last = i + 1;
        if (m->thread == h->steps[ends].thread)
            continue;
        uint32_t did = done_while_ending(h, i, &done);
        struct pct_diagnosis *d =
            did == PCT_NO_STEP ? NULL
                               : pct_diagnoses_add(out, PCT_RULE_NOT_WAITED_FOR, 0, 3, (uint32_t[]){ ends, did, i });
        if (!d)
            continue;
        d->note[1] = "while it ends,";
        d->note[2] = "and this one goes on";
    }
    pct_table_free(&done);
}
