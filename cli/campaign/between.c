/* Whether it matters what comes between two steps of a thread: see between.h. */
#include "between.h"
#include <cli/trace/switches.h>
#include <stdlib.h>

bool pct_between_is_said(const struct pct_diagnosis *d)
{
    return d->rule == PCT_RULE_ATOMICITY || d->rule == PCT_RULE_NOT_THE_SAME_LOCK;
}

/* Where what is done at this step has been done: a section ends with its lock. */
static uint32_t end_of(const struct pct_history *h, uint32_t step)
{
    uint32_t hold = h->steps[step].hold;
    bool ends = hold != PCT_NO_HOLD && h->holds[hold].released != PCT_NO_STEP;
    return ends ? h->holds[hold].released : step;
}

/* The run of the history, cut off behind one step, where the thread goes on until it has made some operations. */
struct cut {
    const struct pct_history *history;
    const uint32_t *made; /* operations, by step (switches.h) */
    uint32_t behind;      /* the last step before the cut */
    uint32_t thread, to;  /* who goes on then, and the operations that it has made then; 0: up to the end */
    uint32_t back;        /* who does behind that */
};

static void add(struct pct_switches *s, uint32_t thread, uint32_t made, uint32_t value)
{
    if (thread != value)
        s->item[s->count++] = (struct pct_switch){ .thread = thread, .made = made, .value = value };
}

/* Whether the switch is that of the whole run, before the cut or behind it. */
static bool stays(const struct cut *c, const struct pct_switch *item, bool before)
{
    uint32_t end = c->behind + item->wake;
    if (before || item->thread != c->thread)
        return before ? item->step < end : item->step > c->behind;
    /* The thread goes on without these. */
    return item->step > c->behind && c->to && item->made > c->to - item->wake;
}

static char *cut_off(const struct cut *c)
{
    struct pct_switches whole, list = { 0 };
    if (pct_switches_from_trace(&whole, c->history->trace))
        return NULL;
    list.item = calloc(whole.count + 2, sizeof *list.item);
    for (size_t i = 0; list.item && i < whole.count; i++)
        if (stays(c, &whole.item[i], true))
            list.item[list.count++] = whole.item[i];
    if (list.item) {
        add(&list, c->history->steps[c->behind].thread, c->made[c->behind], c->thread);
        if (c->to)
            add(&list, c->thread, c->to, c->back);
    }
    for (size_t i = 0; list.item && i < whole.count; i++)
        if (stays(c, &whole.item[i], false))
            list.item[list.count++] = whole.item[i];
    char *text = list.item ? pct_switches_format(&list, NULL) : NULL;
    pct_switches_free(&list);
    pct_switches_free(&whole);
    return text;
}

/* The first step that comes between and does the same as this one: the others have the same part in it. */
static uint32_t first_alike(const struct pct_history *h, const struct pct_diagnosis *d)
{
    const struct pct_moment *m = &h->steps[d->step[1]];
    for (uint32_t i = d->step[0] + 1; i < d->step[1]; i++)
        if (h->steps[i].thread != h->steps[d->step[0]].thread && h->steps[i].op == m->op && m->place &&
            h->steps[i].place == m->place && pct_moment_same_object(&h->steps[i], m))
            return i;
    return d->step[1];
}

char *pct_between_get(const struct pct_history *h, const struct pct_diagnosis *d, bool behind)
{
    uint32_t between = behind ? d->step[1] : first_alike(h, d), then = d->step[2], thread = h->steps[d->step[0]].thread;
    uint32_t last = between ? between - 1 : PCT_NO_STEP;
    for (unsigned i = 1; behind && i < d->count; i++)
        if (i != 2 && h->steps[d->step[i]].thread != thread) {
            uint32_t end = end_of(h, d->step[i]);
            last = i == 1 || end > last ? end : last;
        }
    /* What is left to do at the end may be anything. */
    if (last == PCT_NO_STEP || last >= h->count || between >= h->count || last >= then)
        return NULL;
    uint32_t *made = pct_switches_number(h->trace);
    if (!made)
        return NULL;
    uint32_t end = then < h->count ? end_of(h, then) : PCT_NO_STEP;
    struct cut c = { .history = h,
                     .made = made,
                     .behind = last,
                     .thread = thread,
                     .to = end < h->count ? made[end] : 0,
                     .back = h->steps[between].thread };
    char *list = made[last] ? cut_off(&c) : NULL;
    free(made);
    return list;
}
