/* Of a run that ended in a deadlock, that a signal woke another one than who waits at the end: see rules_wakes.h. */
#include "rules_wakes.h"

/* Whether what the thread does here, woken from a futex, is no more than what it does to look again: it takes and gives
 * back a lock that it has made of memory and of another futex. */
static bool is_looking(const struct pct_moment *m, const struct pct_moment *woken)
{
    return m->op == PCT_OP_YIELD || m->class_ == PCT_CLASS_MEMORY ||
           (m->class_ == PCT_CLASS_FUTEX && !pct_moment_same_object(m, woken));
}

uint32_t pct_waited_again(const struct pct_history *h, uint32_t wake)
{
    const struct pct_moment *woken = &h->steps[wake];
    bool futex = woken->op == PCT_OP_FUTEX_WOKEN;
    for (uint32_t i = woken->next; i != PCT_NO_STEP && i < h->count; i = h->steps[i].next) {
        const struct pct_moment *m = &h->steps[i];
        if (m->op == (futex ? PCT_OP_FUTEX_WAIT : PCT_OP_COND_WAIT) && pct_moment_same_object(m, woken))
            return i;
        if (futex ? !is_looking(m, woken) : m->class_ != PCT_CLASS_MEMORY || pct_moment_access(m) != PCT_ACCESS_READ)
            return PCT_NO_STEP;
    }
    return PCT_NO_STEP;
}

uint32_t pct_section_between(const struct pct_history *h, uint32_t from, uint32_t to, unsigned class_, uint32_t mutex)
{
    uint32_t below = 0; /* holds that begin before `to`: they stand in the order in which they begin */
    for (uint32_t above = h->hold_count; below < above;) {
        const uint32_t middle = below + (above - below) / 2;
        if (h->holds[middle].taken < to)
            below = middle + 1;
        else
            above = middle;
    }
    for (uint32_t i = below; i-- > 0 && h->holds[i].taken > from;) {
        const struct pct_hold *section = &h->holds[i];
        if (section->class_ == class_ && section->object == mutex && section->thread != h->steps[to].thread)
            return section->taken;
    }
    return PCT_NO_STEP;
}

/* Whether the two stand at the same place, and what the signal told of was for neither another thread that came first
 * nor is told of by a later one: then it was for one who waits at this place, too. */
static bool is_for_another(const struct pct_waiter *w, uint32_t wake)
{
    const struct pct_history *h = w->history;
    const struct pct_moment *woken = &h->steps[wake];
    for (uint32_t i = woken->cause + 1; i < h->count; i++)
        if (pct_moment_notifies(&h->steps[i]) && pct_moment_same_object(&h->steps[i], w->at))
            return false;
    return woken->mutex && pct_section_between(h, woken->cause, wake, PCT_CLASS_MUTEX, woken->mutex) == PCT_NO_STEP;
}

/* Whether the wait that begins here and the waiter's are made at the same place: as far as the steps tell, and the
 * stacks of the two, if both wait at the end. */
static bool at_same_place(const struct pct_waiter *w, uint32_t wait)
{
    const struct pct_moment *m = &w->history->steps[wait];
    const struct pct_moment *end = m->next == PCT_NO_STEP ? m : &w->history->steps[m->next];
    bool stacks = end->pending && end->place && w->at->place;
    return m->place == w->history->steps[w->wait].place && (!stacks || end->place == w->at->place);
}

/* Of several who wait, the last signal woke this one alone, which has done with it. */
static void one_of_several(struct pct_diagnoses *out, const struct pct_waiter *w, uint32_t wake)
{
    const struct pct_history *h = w->history;
    uint32_t signal = h->steps[wake].cause;
    for (uint32_t i = signal + 1; i < h->count; i++)
        if ((pct_moment_notifies(&h->steps[i]) || h->steps[i].op == PCT_OP_FUTEX_WAKE) &&
            pct_moment_same_object(&h->steps[i], w->at))
            return;
    struct pct_diagnosis *d =
        pct_diagnoses_add(out, PCT_RULE_ONE_OF_SEVERAL, 0, 3, (uint32_t[]){ w->wait, signal, wake });
    if (d) {
        d->note[0] = "waits";
        d->note[1] = "wakes another one,";
        d->note[2] = "which goes on";
    }
}

void pct_rules_one_woken(struct pct_diagnoses *out, const struct pct_waiter *w)
{
    const struct pct_history *h = w->history;
    uint32_t woken = PCT_NO_STEP;
    for (uint32_t wake = w->wait + 1; wake < h->count; wake++) {
        const struct pct_moment *m = &h->steps[wake];
        if (m->op != PCT_OP_FUTEX_WOKEN || !pct_moment_same_object(m, w->at))
            continue;
        if (pct_waited_again(h, wake) != PCT_NO_STEP)
            return;
        woken = m->cause != PCT_NO_STEP && m->cause > w->wait ? wake : woken;
    }
    if (woken != PCT_NO_STEP)
        one_of_several(out, w, woken);
}

bool pct_rules_wrong_waiter(struct pct_diagnoses *out, const struct pct_waiter *w)
{
    const struct pct_history *h = w->history;
    uint64_t place = h->steps[w->wait].place;
    bool found = false;
    for (uint32_t wake = w->wait + 1; wake < h->count; wake++) {
        const struct pct_moment *m = &h->steps[wake];
        if ((m->op != PCT_OP_COND_WAKE && m->op != PCT_OP_FUTEX_WOKEN) || !pct_moment_same_object(m, w->at) ||
            m->cause == PCT_NO_STEP || m->cause < w->wait || h->steps[m->cause].op == PCT_OP_COND_BROADCAST)
            continue;
        uint32_t again = pct_waited_again(h, wake);
        if (again == PCT_NO_STEP)
            one_of_several(out, w, wake);
        if (again == PCT_NO_STEP || !place || !h->steps[again].place)
            continue;
        bool same = at_same_place(w, again);
        if (same && !is_for_another(w, wake))
            continue;
        struct pct_diagnosis *d = pct_diagnoses_add(out, same ? PCT_RULE_WRONG_OF_SAME : PCT_RULE_WRONG_WAITER, 0, 3,
                                                    (uint32_t[]){ w->wait, m->cause, again });
        if (d) {
            d->note[0] = "waits";
            d->note[1] = "wakes the other one,";
            d->note[2] = "which waits again";
        }
        found = true;
    }
    return found;
}

bool pct_waiter_is_one_of_several(const struct pct_waiter *w, const struct pct_hold *section)
{
    const struct pct_history *h = w->history;
    for (uint32_t wake = section->released + 1; wake < h->count; wake++) {
        const struct pct_moment *m = &h->steps[wake];
        if (m->op != PCT_OP_COND_WAKE || !pct_moment_same_object(m, w->at) || m->cause == PCT_NO_STEP ||
            m->cause < section->released || h->steps[m->cause].thread != section->thread)
            continue;
        bool again = false;
        for (uint32_t i = m->next; i != PCT_NO_STEP && !again; i = h->steps[i].next)
            again = h->steps[i].op == PCT_OP_COND_WAIT && pct_moment_same_object(&h->steps[i], m);
        if (!again && at_same_place(w, m->previous))
            return true;
    }
    return false;
}
