/* Signals to a thread whose time is up: see rules.h. It has been woken by its deadline and has yet to take the mutex,
 * so that nobody waits any more; who looks at what it waited for, and not only at the error, finds it there. Who looks
 * cannot be seen: other runs tell. */
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

void pct_rules_late(struct pct_diagnoses *out, const struct pct_history *h)
{
    for (uint32_t wake = 0; wake < h->count; wake++) {
        const struct pct_moment *m = &h->steps[wake];
        if (m->op != PCT_OP_COND_WAKE || m->argument != PCT_ARG_TIMEOUT || m->previous == PCT_NO_STEP ||
            waits_again(h, wake))
            continue;
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
