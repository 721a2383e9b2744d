/* The causes that are told of a failure: see diagnosing.h. */
#include "diagnosing.h"

enum { MOST_TOLD = 3 };

/* Whether there is nothing to choose from: one run decides the best, which names what was done wrongly. */
static bool is_certain(const struct pct_diagnosis *best)
{
    return pct_rule_decides(best->rule) && best->score >= PCT_DIAGNOSIS_LIKELY && best->base >= PCT_DIAGNOSIS_DECISIVE;
}

/* Others that are nearly as good as the best, and say more than what stands there. */
static void print_others(FILE *out, const struct pct_diagnosing *d)
{
    const struct pct_diagnosis *item = d->diagnoses.item, *told[MOST_TOLD] = { item };
    size_t count = 1;
    for (size_t i = 1; i < d->diagnoses.count && i < PCT_DIAGNOSING_STACKS && count < MOST_TOLD && !is_certain(item);
         i++) {
        bool adds = item[i].score > PCT_DIAGNOSIS_CLOSE * item->score;
        for (size_t j = 0; j < count && adds; j++)
            adds = pct_diagnosis_adds(&d->history, &item[i], told[j]);
        if (!adds)
            continue;
        told[count++] = &item[i];
        pct_diagnosis_print_brief(out, "or: ", &d->history, &item[i]);
    }
}

void pct_diagnosing_print(FILE *out, const struct pct_diagnosing *d, bool all)
{
    for (size_t i = 0; d->known && i < d->diagnoses.count && i < (all ? MOST_TOLD : 1); i++) {
        const struct pct_diagnosis *item = &d->diagnoses.item[i];
        char lead[64];
        snprintf(lead, sizeof lead, "%s: ", i ? "or" : item->score < PCT_DIAGNOSIS_LIKELY ? "likely cause" : "cause");
        pct_diagnosis_print(out, lead, &d->history, item);
    }
    if (d->known && !all)
        print_others(out, d);
}
