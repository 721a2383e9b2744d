/* Threads that park, as those of Rust do: a word that a thread takes a wake-up from before it waits for one by a futex,
 * and that holds one at most. See rules.h. */
#include "rules.h"

/* Whether the thread that waits at the end has parked: what it did before was to take from the word. */
static bool has_parked(const struct pct_history *h, const struct pct_moment *waiting)
{
    const struct pct_moment *wait = waiting->previous == PCT_NO_STEP ? NULL : &h->steps[waiting->previous];
    const struct pct_moment *took = wait && wait->previous != PCT_NO_STEP ? &h->steps[wait->previous] : NULL;
    return waiting->blocked && waiting->address && took && wait->op == PCT_OP_FUTEX_WAIT &&
           wait->address == waiting->address && took->op == PCT_OP_ATOMIC_UPDATE && took->class_ == PCT_CLASS_MEMORY &&
           took->address == waiting->address && !took->word;
}

/* The last two changes of its word by others of which it has seen the second one alone. */
static bool find_merged(const struct pct_history *h, const struct pct_moment *waiting, uint32_t *first,
                        uint32_t *second)
{
    uint32_t last = PCT_NO_STEP;
    *first = PCT_NO_STEP;
    for (uint32_t i = 0; i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (m->class_ != PCT_CLASS_MEMORY || m->address != waiting->address || pct_moment_access(m) == PCT_ACCESS_READ)
            continue;
        if (m->thread != waiting->thread && last != PCT_NO_STEP) {
            *first = last;
            *second = i;
        }
        last = m->thread == waiting->thread ? PCT_NO_STEP : i;
    }
    return *first != PCT_NO_STEP;
}

void pct_rules_parked(struct pct_diagnoses *out, const struct pct_history *h)
{
    if (h->trace->header.verdict != PCT_VERDICT_DEADLOCK)
        return;
    for (uint32_t waiting = h->count; waiting < h->all; waiting++) {
        const struct pct_moment *m = &h->steps[waiting];
        uint32_t first, second;
        if (!has_parked(h, m) || !find_merged(h, m, &first, &second))
            continue;
        struct pct_diagnosis *d =
            pct_diagnoses_add(out, PCT_RULE_MERGED, 0, 3, (uint32_t[]){ first, second, m->previous });
        if (d) {
            d->note[0] = "wakes it,";
            d->note[1] = "and once more";
            d->note[2] = "it waits";
        }
    }
}
