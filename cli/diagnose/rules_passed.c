/* Who waits for what was true, and is no longer, as for a count that has gone past the number that it is compared
 * with: see rules_wakes.h. */
#include "evidence.h"
#include "rules_wakes.h"
#include <cli/base/table.h>

enum { TIMES = 64 }; /* signals of a condition variable that are counted */

/* The key of at least this many signals of the condition variable at this address. */
static uint64_t key_of_times(uint64_t address, unsigned times)
{
    return pct_evidence_notice(UINT64_C(0x74696d6573) + times, address);
}

static bool tells(const struct pct_moment *m, const struct pct_moment *cond)
{
    return pct_moment_notifies(m) && pct_moment_same_object(m, cond);
}

void pct_rules_times(const struct pct_history *h, struct pct_evidence *evidence)
{
    struct pct_table counts = PCT_TABLE(unsigned); /* by address */
    for (uint32_t i = 0; i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        unsigned *count = pct_moment_notifies(m) && m->address ? pct_table_add(&counts, m->address) : NULL;
        if (count && *count < TIMES)
            pct_evidence_note(evidence, key_of_times(m->address, ++*count), false);
    }
    pct_table_free(&counts);
}

/* Whether the waiter has looked in this section, and waited. */
static bool is_look(const struct pct_waiter *w, const struct pct_hold *hold)
{
    return hold->thread == w->at->thread && pct_hold_ends_in_wait(w->history, hold);
}

/* Whether all others who come through a section with this mutex, behind that step and before the look, signal in it:
 * none takes away what was there. */
static bool all_signal(const struct pct_waiter *w, uint32_t from)
{
    const struct pct_history *h = w->history;
    const struct pct_group sections = pct_history_sections(h, PCT_CLASS_MUTEX, w->at->mutex);
    for (uint32_t i = pct_sections_behind(h, &sections, from); i < sections.count; i++) {
        const struct pct_hold *hold = &h->holds[sections.item[i]];
        if (hold->taken >= w->taken || is_look(w, hold))
            continue;
        uint32_t signal = hold->taken;
        while (signal < w->taken && signal < hold->released && !tells(&h->steps[signal], w->at))
            signal = h->steps[signal].next;
        if (signal >= w->taken || signal >= hold->released)
            return false;
    }
    return true;
}

bool pct_rules_passed(struct pct_diagnoses *out, const struct pct_waiter *w, const struct pct_evidence *evidence)
{
    const struct pct_history *h = w->history;
    uint32_t first = PCT_NO_STEP, last = PCT_NO_STEP;
    unsigned times = 0;
    for (uint32_t i = 0; i < h->count && w->taken != PCT_NO_STEP; i++) {
        if (!tells(&h->steps[i], w->at))
            continue;
        if (i > w->taken)
            return false;
        first = times++ ? first : i;
        last = i;
    }
    if (!evidence || !w->at->address || times < 2 || times >= TIMES || h->steps[last].thread == w->at->thread ||
        pct_evidence_passing(evidence, key_of_times(w->at->address, times)) < PCT_EVIDENCE_ENOUGH ||
        pct_evidence_passing(evidence, key_of_times(w->at->address, times + 1)))
        return false;
    const struct pct_hold *section = pct_history_holds(h, last, PCT_CLASS_MUTEX, w->at->mutex);
    if (!section || !all_signal(w, first))
        return false;
    struct pct_diagnosis *d =
        pct_diagnoses_add(out, PCT_RULE_HELD_BETWEEN, 0, 4, (uint32_t[]){ section->taken, last, w->taken, w->wait });
    if (d) {
        d->note[0] = "changes something,";
        d->note[1] = "and signals;";
        d->note[2] = "looks behind that";
        d->note[3] = "and waits";
    }
    return true;
}
