/* What comes for a thread whose time is up: see rules.h. A signal: it has been woken by its deadline and has yet to
 * take the mutex, so that nobody waits any more; who looks at what it waited for, and not only at the error, finds it
 * there. Who looks cannot be seen: other runs tell. */
#include "rules.h"

/* The last signal that came to nobody between the two steps, of the condition variable of this one, by another thread.
 * PCT_NO_STEP: there is none. */
static uint32_t vain_signal(const struct pct_history *h, uint32_t wait, uint32_t wake)
{
    const struct pct_moment *woken = &h->steps[wake];
    for (uint32_t i = wake; i-- > wait + 1;) {
        const struct pct_moment *m = &h->steps[i];
        if (m->op == PCT_OP_COND_SIGNAL && m->argument == PCT_ARG_NOBODY && m->thread != woken->thread &&
            pct_moment_same_object(m, woken))
            return i;
    }
    return PCT_NO_STEP;
}

static bool waits_again(const struct pct_history *h, uint32_t wake)
{
    uint32_t next = h->steps[wake].next;
    return next != PCT_NO_STEP && h->steps[next].op == PCT_OP_COND_WAIT &&
           pct_moment_same_object(&h->steps[next], &h->steps[wake]);
}

/* The next hold of this mutex by another thread than this one that is taken behind this step; PCT_NO_HOLD: none. */
static uint32_t next_hold(const struct pct_history *h, uint32_t mutex, uint32_t but, uint32_t behind, uint32_t from)
{
    for (uint32_t i = from; i < h->hold_count; i++) {
        const struct pct_hold *hold = &h->holds[i];
        if (hold->class_ == PCT_CLASS_MUTEX && hold->object == mutex && hold->thread != but && hold->taken > behind)
            return i;
    }
    return PCT_NO_HOLD;
}

/* The last section of this thread with the mutex between the two steps: there it has begun. */
static const struct pct_hold *begun(const struct pct_history *h, const struct pct_hold *ends, uint32_t wait,
                                    uint32_t wake)
{
    for (uint32_t i = (uint32_t)(ends - h->holds); i-- > 0 && h->holds[i].taken > wait;) {
        const struct pct_hold *hold = &h->holds[i];
        if (hold->thread == ends->thread && hold->class_ == PCT_CLASS_MUTEX && hold->object == ends->object)
            return hold->released < wake && h->steps[hold->released].op != PCT_OP_COND_WAIT ? hold : NULL;
    }
    return NULL;
}

/* Whether all who wait on the condition variable of this step are told in this section. */
static bool tells(const struct pct_history *h, const struct pct_hold *section, const struct pct_moment *wait)
{
    for (uint32_t i = section->taken; i < h->count && i < section->released; i++)
        if (h->steps[i].thread == section->thread && pct_moment_same_object(&h->steps[i], wait) &&
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

/* Who asks, and goes away when its time is up, while another one has begun what it waits for, by which it ends that,
 * and tells of it: what it works on may be gone. */
static void look_at_answer(struct pct_diagnoses *out, const struct pct_history *h, uint32_t wait, uint32_t wake)
{
    const struct pct_moment *m = &h->steps[wake];
    uint32_t next = 0;
    if (!m->mutex || !asks(h, wait, m->mutex))
        return;
    while ((next = next_hold(h, m->mutex, m->thread, wake, next)) != PCT_NO_HOLD) {
        const struct pct_hold *ends = &h->holds[next++], *begins = begun(h, ends, wait, wake);
        struct pct_diagnosis *d = begins && tells(h, ends, &h->steps[wait])
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

void pct_rules_late(struct pct_diagnoses *out, const struct pct_history *h)
{
    for (uint32_t wake = 0; wake < h->count; wake++) {
        const struct pct_moment *m = &h->steps[wake];
        if (m->op != PCT_OP_COND_WAKE || m->argument != PCT_ARG_TIMEOUT || m->previous == PCT_NO_STEP ||
            waits_again(h, wake))
            continue;
        look_at_answer(out, h, first_wait(h, m->previous), wake);
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
}
