/* Of a run that ended in a deadlock, that a signal woke another one than who waits at the end: see rules_wakes.h. */
#include "rules_wakes.h"
#include <cli/base/grow.h>
#include <stdlib.h>

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
    const struct pct_group sections = pct_history_sections(h, class_, mutex);
    for (uint32_t i = to ? pct_sections_behind(h, &sections, to - 1) : 0; i-- > 0;) {
        const struct pct_hold *section = &h->holds[sections.item[i]];
        if (section->taken <= from)
            break;
        if (section->thread != h->steps[to].thread)
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
    return !pct_is_notified_behind(h, w->at, woken->cause) && woken->mutex &&
           pct_section_between(h, woken->cause, wake, PCT_CLASS_MUTEX, woken->mutex) == PCT_NO_STEP;
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

bool pct_waiter_find_through(const struct pct_waiter *w, struct pct_wakes *through)
{
    const struct pct_history *h = w->history;
    const struct pct_group on = pct_history_on(h, w->at->class_, w->at->object);
    bool *waits = calloc(h->threads + (size_t)1, sizeof *waits), fine = waits; /* by thread: behind this step */
    for (uint32_t i = h->count; fine && i < h->all; i++)
        waits[h->steps[i].thread] = h->steps[i].op == PCT_OP_COND_WAIT && pct_moment_same_object(&h->steps[i], w->at);
    for (uint32_t i = on.count; fine && i-- > 0;) {
        const struct pct_moment *m = &h->steps[on.item[i]];
        waits[m->thread] = waits[m->thread] || m->op == PCT_OP_COND_WAIT;
        if (m->op != PCT_OP_COND_WAKE || m->cause == PCT_NO_STEP || waits[m->thread] || m->previous == PCT_NO_STEP ||
            !at_same_place(w, m->previous))
            continue;
        fine = PCT_GROW(through->step, through->count, through->room);
        if (fine)
            through->step[through->count++] = on.item[i];
    }
    free(waits);
    return fine;
}

bool pct_waiter_is_one_of_several(const struct pct_waiter *w, const struct pct_hold *section,
                                  const struct pct_wakes *through)
{
    const struct pct_history *h = w->history;
    for (uint32_t i = 0; i < through->count; i++) {
        const struct pct_moment *m = &h->steps[through->step[i]];
        if (through->step[i] > section->released && m->cause >= section->released &&
            h->steps[m->cause].thread == section->thread)
            return true;
    }
    return false;
}
