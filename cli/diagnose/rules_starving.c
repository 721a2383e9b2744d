/* Who waits on a condition variable, again and again, while others come through the section that it waits for: a writer
 * that readers pass by. They do so in good runs, too, but not as often: see rules.h. */
#include "evidence.h"
#include "rules.h"

enum {
    FEW = 3,  /* so often others come by in any program */
    MOST = 32 /* oftener is as often */
};

/* A wait in a loop, from its first to the step behind its last wake-up, or to the end. */
struct patience {
    uint32_t wait, end;
    const struct pct_moment *at;
};

/* The wait that begins here; false: it is one of the loop's later ones, or none. */
static bool find_wait(const struct pct_history *h, uint32_t step, struct patience *p)
{
    const struct pct_moment *m = &h->steps[step];
    uint32_t wake = m->previous;
    if (m->op != PCT_OP_COND_WAIT || !m->mutex || !m->place || !m->address)
        return false;
    while (wake != PCT_NO_STEP && h->steps[wake].class_ == PCT_CLASS_MEMORY)
        wake = h->steps[wake].previous;
    if (wake != PCT_NO_STEP && h->steps[wake].op == PCT_OP_COND_WAKE && pct_moment_same_object(&h->steps[wake], m))
        return false;
    *p = (struct patience){ step, m->next, m };
    for (uint32_t i = m->next; i != PCT_NO_STEP; i = h->steps[i].next) {
        const struct pct_moment *n = &h->steps[i];
        if (n->op == PCT_OP_COND_WAKE && pct_moment_same_object(n, m))
            p->end = i;
        else if (n->class_ != PCT_CLASS_MEMORY && !(n->op == PCT_OP_COND_WAIT && pct_moment_same_object(n, m)))
            break;
    }
    return p->end != PCT_NO_STEP;
}

/* The next section with the mutex of the wait, of another thread, at the same place as this one and behind it.
 * PCT_NO_HOLD: there is none. */
static uint32_t next_section(const struct pct_history *h, const struct patience *p, uint32_t hold)
{
    const struct pct_hold *first = &h->holds[hold];
    for (uint32_t i = hold + 1; i < h->hold_count && h->holds[i].taken < p->end; i++)
        if (h->holds[i].class_ == PCT_CLASS_MUTEX && h->holds[i].object == p->at->mutex &&
            h->holds[i].thread != p->at->thread && h->steps[h->holds[i].taken].place == h->steps[first->taken].place)
            return i;
    return PCT_NO_HOLD;
}

/* Whether the section is one that others come through while that thread waits, and the first of its place. */
static bool begins(const struct pct_history *h, const struct patience *p, uint32_t hold)
{
    const struct pct_hold *section = &h->holds[hold];
    uint64_t place = h->steps[section->taken].place;
    if (section->class_ != PCT_CLASS_MUTEX || section->object != p->at->mutex || section->thread == p->at->thread ||
        section->taken < p->wait || section->taken >= p->end || !place)
        return false;
    for (uint32_t i = hold; i-- > 0 && h->holds[i].taken > p->wait;)
        if (h->holds[i].object == section->object && h->holds[i].class_ == PCT_CLASS_MUTEX &&
            h->holds[i].thread != p->at->thread && h->steps[h->holds[i].taken].place == place)
            return false;
    return true;
}

/* The key of a number of sections at this place while a thread waits at that one. */
static uint64_t key_of(const struct pct_history *h, const struct patience *p, uint32_t hold, unsigned times)
{
    uint64_t place = h->steps[h->holds[hold].taken].place * UINT64_C(0x9e3779b97f4a7c15) ^ p->at->place;
    return pct_evidence_notice(place ^ UINT64_C(0x7061746965) * times, p->at->address);
}

typedef void each_patience(void *context, const struct pct_history *h, const struct patience *p, uint32_t first,
                           uint32_t last, unsigned times);

static void walk(const struct pct_history *h, each_patience *each, void *context)
{
    struct patience p;
    uint32_t from = 0;
    for (uint32_t step = 0; step < h->count; step++) {
        if (!find_wait(h, step, &p))
            continue;
        while (from < h->hold_count && h->holds[from].taken < step)
            from++;
        for (uint32_t hold = from; hold < h->hold_count && h->holds[hold].taken < p.end; hold++) {
            if (!begins(h, &p, hold))
                continue;
            uint32_t last = hold;
            unsigned times = 1;
            for (uint32_t i = next_section(h, &p, hold); i != PCT_NO_HOLD && times < MOST; i = next_section(h, &p, i)) {
                last = i;
                times++;
            }
            each(context, h, &p, hold, last, times);
        }
    }
}

static void note(void *context, const struct pct_history *h, const struct patience *p, uint32_t first, uint32_t last,
                 unsigned times)
{
    (void)last;
    for (unsigned i = 1; i <= times; i++)
        pct_evidence_note(context, key_of(h, p, first, i), false);
}

void pct_rules_patience(const struct pct_history *history, struct pct_evidence *evidence)
{
    walk(history, note, evidence);
}

struct failing {
    struct pct_diagnoses *out;
    const struct pct_evidence *evidence;
};

/* Runs that pass must show that others come by while it waits, too: what never happens there is another matter. */
static void look(void *context, const struct pct_history *h, const struct patience *p, uint32_t first, uint32_t last,
                 unsigned times)
{
    struct failing *f = context;
    uint32_t end = h->last[p->at->thread];
    bool fails = h->trace->header.culprit == p->at->thread || h->steps[end].pending;
    if (times <= FEW || !fails || !pct_evidence_passing(f->evidence, key_of(h, p, first, 1)) ||
        pct_evidence_passing(f->evidence, key_of(h, p, first, times)))
        return;
    /* Those who tell it at times come by for its sake, too. */
    bool tells =
        pct_evidence_has(f->evidence, pct_evidence_notice(h->steps[h->holds[first].taken].place, p->at->address));
    struct pct_diagnosis *d = pct_diagnoses_add(f->out, PCT_RULE_STARVES, tells ? 5 : 0, 3,
                                                (uint32_t[]){ p->wait, h->holds[first].taken, h->holds[last].taken });
    if (d) {
        d->note[0] = "waits, and has not come in when";
        d->note[1] = "others have, from here";
        d->note[2] = "to here";
    }
}

void pct_rules_starving(struct pct_diagnoses *out, const struct pct_history *history,
                        const struct pct_evidence *evidence)
{
    struct failing f = { out, evidence };
    if (evidence && evidence->passing >= PCT_EVIDENCE_ENOUGH)
        walk(history, look, &f);
}
