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

/* Whether the end that the thread waits for, a step that it has yet to make, is that of one who has not ended. */
static bool waits_for_end(const struct pct_history *h, const struct pct_moment *m)
{
    return m->blocked && m->op == PCT_OP_THREAD_JOIN && m->object < h->threads && h->last[m->object] >= h->count &&
           h->last[m->object] != PCT_NO_STEP;
}

/* All who are left have parked, two or more of them, or wait for the end of others. Locks are words, too: whoever waits
 * for one of those has not parked. */
static void look_at_all(struct pct_diagnoses *out, const struct pct_history *h)
{
    uint32_t steps[PCT_DIAGNOSIS_STEPS];
    unsigned count = 0;
    for (uint32_t i = h->count; i < h->all; i++) {
        if (has_parked(h, &h->steps[i]) && count < PCT_DIAGNOSIS_STEPS)
            steps[count++] = h->steps[i].previous;
        else if (!waits_for_end(h, &h->steps[i]))
            return;
    }
    struct pct_diagnosis *d = count < 2 ? NULL : pct_diagnoses_add(out, PCT_RULE_ALL_PARKED, 0, count, steps);
    for (unsigned i = 0; d && i < count; i++)
        d->note[i] = "waits";
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
    look_at_all(out, h);
}
