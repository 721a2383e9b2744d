/* Barriers that are made by hand: of a mutex, a condition variable and a count, or of a semaphore, that all rounds
 * share. See rules.h. */
#include "rules.h"

/* The section of this thread that ends with this step, where it was taken. PCT_NO_STEP: none does. */
static uint32_t section_until(const struct pct_history *h, uint32_t step)
{
    const struct pct_hold *hold = pct_history_ended(h, step);
    return hold ? hold->taken : PCT_NO_STEP;
}

/* Where the section was entered that goes on here, behind a wait: all waits of its loop are parts of one. */
static uint32_t entry_of(const struct pct_history *h, uint32_t taken)
{
    while (taken != PCT_NO_STEP && h->steps[taken].op == PCT_OP_COND_WAKE)
        taken = h->steps[taken].previous == PCT_NO_STEP ? PCT_NO_STEP : section_until(h, h->steps[taken].previous);
    return taken;
}

/* Whether anybody notifies those who wait as at this step, behind that one. */
static bool is_notified_behind(const struct pct_history *h, const struct pct_moment *waits, uint32_t step)
{
    const struct pct_group on = pct_history_on(h, waits->class_, waits->object);
    for (uint32_t i = pct_group_behind(&on, step); i < on.count; i++)
        if (pct_moment_tells(&h->steps[on.item[i]]))
            return true;
    return false;
}

/* The first step between the two by which another thread than that of the second comes the same way into a section with
 * its mutex. PCT_NO_STEP: there is none. */
static uint32_t comes_again(const struct pct_history *h, uint32_t from, uint32_t to, uint64_t way)
{
    for (uint32_t i = from + 1; i < to; i++)
        if (h->steps[i].op == PCT_OP_MUTEX_LOCK && h->steps[i].hold != PCT_NO_HOLD && h->steps[i].way == way &&
            h->steps[i].object == h->steps[to].mutex && h->steps[i].thread != h->steps[to].thread)
            return i;
    return PCT_NO_STEP;
}

/* Who comes last lets all go on the same way by which they came: who gives work to others comes another one. */
bool pct_rules_overtaken(struct pct_diagnoses *out, const struct pct_history *h, uint32_t waiting)
{
    const struct pct_moment *m = &h->steps[waiting];
    uint32_t wake = m->previous == PCT_NO_STEP ? PCT_NO_STEP : section_until(h, m->previous), entry = entry_of(h, wake);
    uint32_t all = wake == PCT_NO_STEP ? PCT_NO_STEP : h->steps[wake].cause;
    if (entry == PCT_NO_STEP || entry == wake || all == PCT_NO_STEP || !h->steps[entry].way ||
        h->steps[all].op != PCT_OP_COND_BROADCAST || is_notified_behind(h, m, all))
        return false;
    const struct pct_hold *section = pct_history_holds(h, all, PCT_CLASS_MUTEX, m->mutex);
    uint32_t last = section ? entry_of(h, section->taken) : PCT_NO_STEP;
    if (last == PCT_NO_STEP || h->steps[last].way != h->steps[entry].way)
        return false;
    uint32_t again = comes_again(h, all, wake, h->steps[entry].way);
    if (again == PCT_NO_STEP)
        return false;
    struct pct_diagnosis *d = pct_diagnoses_add(out, PCT_RULE_OVERTAKEN, 0, 3, (uint32_t[]){ all, again, m->previous });
    if (d) {
        d->note[0] = "lets all go,";
        d->note[1] = "comes again,";
        d->note[2] = "and it waits again";
    }
    return true;
}

/* --- Turnstiles of a semaphore ------------------------------------------------------------------------------------ */

/* The next step of the thread of this one on its semaphore, a pending one too. PCT_NO_STEP: there is none. */
static uint32_t next_on(const struct pct_history *h, uint32_t step)
{
    uint32_t i = h->steps[step].next;
    while (i != PCT_NO_STEP && !pct_moment_same_object(&h->steps[i], &h->steps[step]))
        i = h->steps[i].next;
    return i;
}

/* The thread, other than this one, that stands at the semaphore from before the first of these posts until behind this
 * step: its wait. PCT_NO_STEP: there is none. */
static uint32_t passed_by(const struct pct_history *h, uint32_t post, uint32_t step)
{
    uint32_t first = PCT_NO_STEP;
    for (uint32_t thread = 0; thread < h->threads; thread++) {
        const uint32_t next = thread == h->steps[step].thread ? PCT_NO_STEP : pct_history_next(h, thread, step);
        if (next < first && h->steps[next].op == PCT_OP_SEM_WAIT && !pct_moment_failed(&h->steps[next]) &&
            pct_moment_same_object(&h->steps[next], &h->steps[post]))
            first = next;
    }
    return first;
}

/* Whether the thread makes several posts, of which this is the first, and then goes through itself: who gives work to
 * others does not. */
static bool opens_turnstile(const struct pct_history *h, uint32_t post)
{
    uint32_t previous = h->steps[post].previous, next = h->steps[post].next;
    bool several = h->steps[post].op == PCT_OP_SEM_POST && next != PCT_NO_STEP &&
                   h->steps[next].op == PCT_OP_SEM_POST && next_on(h, post) == next &&
                   (previous == PCT_NO_STEP || h->steps[previous].op != PCT_OP_SEM_POST);
    while (several && next != PCT_NO_STEP && h->steps[next].op == PCT_OP_SEM_POST)
        next = next_on(h, next);
    return several && next != PCT_NO_STEP && h->steps[next].op == PCT_OP_SEM_WAIT;
}

/* Whether somebody opens it once more between these two steps: then another round has begun. */
static bool is_opened_between(const struct pct_history *h, uint32_t from, uint32_t to)
{
    const struct pct_group on = pct_history_on(h, h->steps[from].class_, h->steps[from].object);
    for (uint32_t i = pct_group_behind(&on, from); i < on.count && on.item[i] < to; i++)
        if (opens_turnstile(h, on.item[i]))
            return true;
    return false;
}

/* The thread of this step goes by what was posted there: twice, before another one that stands there. */
static void look_at_turn(struct pct_diagnoses *out, const struct pct_history *h, uint32_t post, uint32_t turn)
{
    const uint32_t again = next_on(h, turn);
    if (again == PCT_NO_STEP || again >= h->count || h->steps[again].op != PCT_OP_SEM_WAIT ||
        pct_moment_failed(&h->steps[again]) || is_opened_between(h, turn, again))
        return;
    const uint32_t other = passed_by(h, post, again);
    struct pct_diagnosis *d = other == PCT_NO_STEP ? NULL
                                                   : pct_diagnoses_add(out, PCT_RULE_TAKEN_TWICE, 0, 4,
                                                                       (uint32_t[]){ post, turn, again, other });
    if (!d)
        return;
    d->note[0] = "lets several go,";
    d->note[1] = "goes,";
    d->note[2] = "comes again and goes,";
    d->note[3] = "before this one";
}

void pct_rules_rounds(struct pct_diagnoses *out, const struct pct_history *h)
{
    uint32_t post = PCT_NO_STEP;
    for (uint32_t i = 0; i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        if (opens_turnstile(h, i))
            post = i;
        if (m->op == PCT_OP_SEM_WAIT && !pct_moment_failed(m) && post != PCT_NO_STEP &&
            pct_moment_same_object(m, &h->steps[post]))
            look_at_turn(out, h, post, i);
    }
}
