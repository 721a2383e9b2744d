/* A lock that another thread holds when a process is made: see rules.h. The child has a copy of the lock, but of the
 * threads only the one that forked. Two traces decide: the child waits for a lock that none of its threads ever had,
 * and at a fork another thread of the run had it. */
#include "rules.h"
#include <pct/strategy.h>

/* The number that the lock has at this step. 0: nobody has used it by then. */
static uint32_t number_at(const struct pct_history *h, uint32_t step)
{
    while (step-- > 0)
        if (h->steps[step].class_ == h->inherited_class && h->steps[step].address == h->inherited)
            return h->steps[step].object;
    return 0;
}

void pct_rules_forked(struct pct_diagnoses *out, const struct pct_history *h)
{
    const struct pct_hold *held = NULL;
    uint32_t fork = 0;
    for (uint32_t i = 0; h->inherited && i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (m->op != PCT_OP_FORK)
            continue;
        uint32_t object = number_at(h, i);
        /* The thread that forks has it, too, in the child: which of the forks made that is not known. */
        if (pct_history_holds(h, i, h->inherited_class, object))
            return;
        const struct pct_hold *hold = pct_history_holder(h, i, h->inherited_class, object, m->thread, true);
        held = hold ? hold : held;
        fork = hold ? i : fork;
    }
    struct pct_diagnosis *d =
        held ? pct_diagnoses_add(out, PCT_RULE_HELD_AT_FORK, 0, 2, (uint32_t[]){ held->taken, fork }) : NULL;
    if (d)
        d->note[1] = "while it is held";
}
