/* Random schedules beside the search: see walks.h. */
#include "walks.h"
#include <errno.h>
#include <pct/strategy.h>

enum {
    HEAD = 100,    /* in a search for the first failure: one for each of its own runs, up to this one; */
    LONG = 1000,   /* behind this one, in any search: */
    SHARE = 10,    /* one for each of these */
    MOST = 0xffff, /* that the plan can tell apart */
    CLASSES = 1 << 20
};

uint64_t pct_walks_due(uint64_t runs, bool first)
{
    uint64_t head = !first ? 0 : runs < HEAD ? runs : HEAD, share = runs < LONG ? 0 : runs / SHARE;
    uint64_t due = head > share ? head : share;
    return due < MOST ? due : MOST;
}

uint32_t pct_walks_plan(uint64_t number)
{
    return PCT_PLAN_WALK(number);
}

int pct_walks_note(struct pct_walks *w, uint64_t class_, bool walk)
{
    w->full |= w->classes.least.count >= CLASSES;
    if (w->full) {
        pct_states_free(&w->classes);
        return 0;
    }
    return pct_states_note(&w->classes, class_, walk) == -ENOMEM ? -ENOMEM : 0;
}

size_t pct_walks_unmet(const struct pct_walks *w)
{
    return pct_states_count(&w->classes, true);
}

void pct_walks_free(struct pct_walks *w)
{
    pct_states_free(&w->classes);
}
