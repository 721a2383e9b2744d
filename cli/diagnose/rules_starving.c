/* Who waits on a condition variable, again and again, while others come through the section that it waits for: a writer
 * that readers pass by. They do so in good runs, too, but not as often: see rules.h. */
#include "evidence.h"
#include "rules.h"
#include <cli/base/grow.h>
#include <cli/base/table.h>

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

/* The sections at one place that others come through while that thread waits. */
struct passing {
    uint32_t first, last; /* holds */
    unsigned times;
};

/* The key of a number of sections at this place while a thread waits at that one. */
static uint64_t key_of(const struct pct_history *h, const struct patience *p, uint32_t hold, unsigned times)
{
    uint64_t place = h->steps[h->holds[hold].taken].place * UINT64_C(0x9e3779b97f4a7c15) ^ p->at->place;
    return pct_evidence_notice(place ^ UINT64_C(0x7061746965) * times, p->at->address);
}

typedef void each_patience(void *context, const struct pct_history *h, const struct patience *p, uint32_t first,
                           uint32_t last, unsigned times);

/* The places of the sections with the mutex of the wait that others come through meanwhile, in order: by place, and one
 * behind the other in `order`. Returns how many; SIZE_MAX: there is no memory. */
static size_t find_passing(const struct pct_history *h, const struct patience *p, struct pct_table *places,
                           struct passing **order)
{
    const struct pct_group sections = pct_history_sections(h, PCT_CLASS_MUTEX, p->at->mutex);
    size_t count = 0, room = 0;
    for (uint32_t i = pct_sections_behind(h, &sections, p->wait); i < sections.count; i++) {
        const struct pct_hold *section = &h->holds[sections.item[i]];
        const uint64_t place = h->steps[section->taken].place;
        if (section->taken >= p->end)
            break;
        uint32_t *number = section->thread != p->at->thread && place ? pct_table_add(places, place) : NULL;
        if (!number && section->thread != p->at->thread && place)
            return SIZE_MAX;
        if (!number)
            continue;
        if (!*number) {
            if (!PCT_GROW(*order, count, room))
                return SIZE_MAX;
            (*order)[count++] = (struct passing){ sections.item[i], sections.item[i], 0 };
            *number = (uint32_t)count;
        }
        struct passing *passing = &(*order)[*number - 1];
        if (passing->times < MOST) {
            passing->last = sections.item[i];
            passing->times++;
        }
    }
    return count;
}

static bool walk(const struct pct_history *h, each_patience *each, void *context)
{
    bool fine = true;
    for (uint32_t step = 0; fine && step < h->count; step++) {
        struct patience p;
        if (!find_wait(h, step, &p))
            continue;
        struct pct_table places = PCT_TABLE(uint32_t);
        struct passing *order = NULL;
        const size_t count = find_passing(h, &p, &places, &order);
        fine = count != SIZE_MAX;
        for (size_t i = 0; fine && i < count; i++)
            each(context, h, &p, order[i].first, order[i].last, order[i].times);
        free(order);
        pct_table_free(&places);
    }
    return fine;
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
    evidence->full = !walk(history, note, evidence) || evidence->full;
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
        out->full = !walk(history, look, &f) || out->full;
}
