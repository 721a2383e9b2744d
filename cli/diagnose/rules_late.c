/* What comes for a thread whose time is up: see rules.h. A signal: it has been woken by its deadline and has yet to
 * take the mutex, so that nobody waits any more; who looks at what it waited for, and not only at the error, finds it
 * there. Who looks cannot be seen: other runs tell. */
#include "rules_wakes.h"
#include <common/bisect.h>
#include <stdlib.h>

/* The last signal that came to nobody between the two steps, of the condition variable of this one, by another thread.
 * PCT_NO_STEP: there is none. */
static uint32_t vain_signal(const struct pct_history *h, uint32_t wait, uint32_t wake)
{
    const struct pct_moment *woken = &h->steps[wake];
    const struct pct_group on = pct_history_on(h, woken->class_, woken->object);
    for (uint32_t i = wake ? pct_group_behind(&on, wake - 1) : 0; i-- > 0 && on.item[i] > wait;) {
        const struct pct_moment *m = &h->steps[on.item[i]];
        if (m->op == PCT_OP_COND_SIGNAL && m->argument == PCT_ARG_NOBODY && m->thread != woken->thread)
            return on.item[i];
    }
    return PCT_NO_STEP;
}

static bool waits_again(const struct pct_history *h, uint32_t wake)
{
    uint32_t next = h->steps[wake].next;
    return next != PCT_NO_STEP && h->steps[next].op == PCT_OP_COND_WAIT &&
           pct_moment_same_object(&h->steps[next], &h->steps[wake]);
}

/* Holds of mutexes, by thread and mutex. */
struct sections {
    uint32_t *next; /* by hold: the next one of the same thread and mutex, or PCT_NO_HOLD */
    uint32_t *seen; /* by thread: the wake for which a section of it was looked at last */
    bool full;      /* there was no memory for them */
};

/* By threads, their mutexes, and when they took them. */
static int by_section(const void *a, const void *b, void *holds)
{
    const struct pct_hold *one = (const struct pct_hold *)holds + *(const uint32_t *)a;
    const struct pct_hold *two = (const struct pct_hold *)holds + *(const uint32_t *)b;
    if (one->thread != two->thread)
        return one->thread < two->thread ? -1 : 1;
    if (one->object != two->object)
        return one->object < two->object ? -1 : 1;
    return one < two ? -1 : one > two;
}

/* At the first wait that asks for them. False: there is no memory. */
static bool list_sections(struct sections *all, const struct pct_history *h)
{
    if (all->next || all->full)
        return !all->full;
    uint32_t *order = malloc((h->hold_count + (size_t)1) * sizeof *order), count = 0;
    all->next = malloc((h->hold_count + (size_t)1) * sizeof *all->next);
    all->seen = malloc((h->threads + (size_t)1) * sizeof *all->seen);
    all->full = !order || !all->next || !all->seen;
    for (uint32_t i = 0; !all->full && i < h->threads; i++)
        all->seen[i] = PCT_NO_STEP;
    for (uint32_t i = 0; !all->full && i < h->hold_count; i++)
        if (h->holds[i].class_ == PCT_CLASS_MUTEX)
            order[count++] = i;
    if (count)
        qsort_r(order, count, sizeof *order, by_section, h->holds);
    for (uint32_t i = 0; i < count; i++) {
        const struct pct_hold *one = &h->holds[order[i]], *two = i + 1 < count ? &h->holds[order[i + 1]] : NULL;
        const bool goes_on = two && one->thread == two->thread && one->object == two->object;
        all->next[order[i]] = goes_on ? order[i + 1] : PCT_NO_HOLD;
    }
    free(order);
    return !all->full;
}

/* Whether all who wait on the condition variable of this step are told in this section. */
static bool tells(const struct pct_history *h, const struct pct_hold *section, const struct pct_moment *wait)
{
    for (uint32_t i = section->taken; i < h->count && i < section->released; i = h->steps[i].next)
        if (pct_moment_same_object(&h->steps[i], wait) &&
            (h->steps[i].op == PCT_OP_COND_BROADCAST || h->steps[i].op == PCT_OP_COND_SIGNAL))
            return true;
    return false;
}

/* The first of the waits of which this is the last: behind each the thread has looked, and waited again. */
static uint32_t first_wait(const struct pct_history *h, uint32_t wait)
{
    for (;;) {
        uint32_t wake = h->steps[wait].previous;
        if (wake == PCT_NO_STEP || h->steps[wake].op != PCT_OP_COND_WAKE || !waits_again(h, wake))
            return wait;
        wait = h->steps[wake].previous;
    }
}

/* Whether the thread of this wait has told somebody under the mutex before: it has asked for what it waits for, and
 * does not only look from time to time whether it is to end. */
static bool asks(const struct pct_history *h, uint32_t wait, uint32_t mutex)
{
    for (uint32_t i = h->steps[wait].previous; i != PCT_NO_STEP; i = h->steps[i].previous) {
        const struct pct_moment *m = &h->steps[i];
        if (m->op == PCT_OP_COND_BROADCAST || m->op == PCT_OP_COND_SIGNAL || m->op == PCT_OP_SEM_POST)
            return true;
        if (m->op == PCT_OP_COND_WAKE || (m->class_ == PCT_CLASS_MUTEX && m->object == mutex))
            return false;
    }
    return false;
}

/* Who asks, and goes away when its time is up, while another one has begun what it waits for, in its last section
 * before that, and ends it in its next one, and tells of it: what it works on may be gone. */
static void look_at_answer(struct pct_diagnoses *out, const struct pct_history *h, struct sections *all, uint32_t wait,
                           uint32_t wake)
{
    const struct pct_moment *m = &h->steps[wake];
    if (!m->mutex || !asks(h, wait, m->mutex) || !list_sections(all, h))
        return;
    size_t i = PCT_BISECT(at, 0, h->hold_count, h->holds[at].taken < wake);
    while (i-- > 0 && h->holds[i].taken > wait) {
        const struct pct_hold *begins = &h->holds[i];
        if (begins->class_ != PCT_CLASS_MUTEX || begins->object != m->mutex || begins->thread == m->thread ||
            all->seen[begins->thread] == wake)
            continue;
        all->seen[begins->thread] = wake;
        if (all->next[i] == PCT_NO_HOLD || begins->released >= wake ||
            h->steps[begins->released].op == PCT_OP_COND_WAIT)
            continue;
        const struct pct_hold *ends = &h->holds[all->next[i]];
        struct pct_diagnosis *d = tells(h, ends, &h->steps[wait])
                                      ? pct_diagnoses_add(out, PCT_RULE_ANSWERED_LATE, 0, 4,
                                                          (uint32_t[]){ wait, begins->taken, wake, ends->taken })
                                      : NULL;
        if (!d)
            continue;
        d->note[0] = "waits for a time,";
        d->note[1] = "has begun by this,";
        d->note[2] = "goes away,";
        d->note[3] = "and ends it here";
    }
}

/* The last notice before the time is up was a signal that woke another one, which has looked and waits again: what it
 * told of was for the one whose time is up, perhaps. */
static void look_at_other(struct pct_diagnoses *out, const struct pct_history *h, uint32_t wait, uint32_t wake)
{
    const struct pct_group on = pct_history_on(h, h->steps[wake].class_, h->steps[wake].object);
    const uint32_t end = wake ? pct_group_behind(&on, wake - 1) : 0;
    uint32_t at = end;
    while (at && on.item[at - 1] > wait && !pct_moment_notifies(&h->steps[on.item[at - 1]]))
        at--;
    const uint32_t signal = at && on.item[at - 1] > wait ? on.item[at - 1] : PCT_NO_STEP;
    if (signal == PCT_NO_STEP || h->steps[signal].op != PCT_OP_COND_SIGNAL)
        return;
    while (at < end && h->steps[on.item[at]].cause != signal)
        at++;
    const uint32_t again = at < end ? pct_waited_again(h, on.item[at]) : PCT_NO_STEP;
    struct pct_diagnosis *d =
        again < wake ? pct_diagnoses_add(out, PCT_RULE_WRONG_IN_TIME, 0, 4, (uint32_t[]){ wait, signal, again, wake })
                     : NULL;
    if (!d)
        return;
    d->note[0] = "waits for a time,";
    d->note[1] = "wakes the other one,";
    d->note[2] = "which waits again";
    d->note[3] = "and it goes on";
}

void pct_rules_late(struct pct_diagnoses *out, const struct pct_history *h)
{
    struct sections all = { 0 };
    for (uint32_t wake = 0; wake < h->count; wake++) {
        const struct pct_moment *m = &h->steps[wake];
        if (m->op != PCT_OP_COND_WAKE || m->argument != PCT_ARG_TIMEOUT || m->previous == PCT_NO_STEP ||
            waits_again(h, wake))
            continue;
        look_at_answer(out, h, &all, first_wait(h, m->previous), wake);
        look_at_other(out, h, m->previous, wake);
        uint32_t signal = vain_signal(h, m->previous, wake);
        struct pct_diagnosis *d = signal == PCT_NO_STEP ? NULL
                                                        : pct_diagnoses_add(out, PCT_RULE_SIGNALLED_LATE, 0, 3,
                                                                            (uint32_t[]){ m->previous, signal, wake });
        if (!d)
            continue;
        d->note[0] = "waits for a time,";
        d->note[1] = "which is up before this,";
        d->note[2] = "and it goes on";
    }
    free(all.next);
    free(all.seen);
}
