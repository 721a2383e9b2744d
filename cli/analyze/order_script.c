/* From the orderings that a bug needs to a script: see order_script.h. Each ordering is two entries of in_order(): the
 * first operation, made, and the second one, before which its thread stands until then. They stand in the order that
 * the failing run had. Or a whole schedule: an in_order() for each switch, of the last operation before it, made. */
#include "wording.h"
#include <stdlib.h>

static void add(struct pct_wording *s, struct pct_worded entry)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->entry[i].thread == entry.thread && s->entry[i].of == entry.of && s->entry[i].step == entry.step) {
            s->entry[i].made |= entry.made;
            return;
        }
    s->entry[s->count++] = entry;
}

/* The first operation of an ordering, made to the end of the critical section that it begins. */
static void add_first(struct pct_wording *s, const struct pct_event *event)
{
    const struct pct_narrative *n = s->narrative;
    struct pct_worded e = { .thread = event->thread, .op = event->op, .step = event->step, .of = n, .made = true };
    uint64_t end =
        event->end ? pct_wording_find(n->trace, event->thread, event->end, event->end_count) : n->trace->count;
    if (end < n->trace->count) {
        e.step = end;
        e.op = event->end;
    }
    e.rank = e.step;
    add(s, e);
}

/* The second one: the thread is to stand before it. It may be one that the failing run does not come to. */
static void add_then(struct pct_wording *s, const struct pct_event *event)
{
    const struct pct_narrative *n = s->narrative;
    struct pct_worded e = { .thread = event->thread, .op = event->op, .step = event->step, .of = n };
    if (event->step == PCT_STEP_LATER && n->later) {
        e.of = n->later;
        e.step = pct_narrative_find(n->later, event->thread, event->number);
    }
    e.rank = event->step;
    add(s, e);
}

static int by_rank(const void *a, const void *b)
{
    const struct pct_worded *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* The threads, those that were made first in front; the main thread last, which has to make the others. */
static void name_threads(struct pct_wording *s)
{
    for (size_t i = 0; i < s->count; i++) {
        size_t at = 0;
        while (at < s->names && s->named[at] != s->entry[i].thread)
            at++;
        if (at < s->names)
            continue;
        for (at = s->names++; at && s->named[at - 1] - 1 > s->entry[i].thread - 1; at--)
            s->named[at] = s->named[at - 1];
        s->named[at] = s->entry[i].thread;
    }
}

void pct_order_script_head(FILE *out, const struct pct_failure *failure, const char *where)
{
    char why[1200];
    fputs("-- ", out);
    pct_cli_print_clean(out, pct_failure_format(why, sizeof why, failure), sizeof why);
    fprintf(out, ": where %s.\n", where);
    fputs("-- Written by pct explain --script; pct-script(1) says what the words mean.\n", out);
}

static bool write_orders(FILE *out, struct pct_wording *s)
{
    name_threads(s);
    pct_wording_choices(out, s);
    for (size_t i = 0; i < s->names; i++)
        pct_wording_thread(out, s, s->named[i]);
    fputs("in_order(\n", out);
    for (size_t i = 0; i < s->count; i++)
        if (!pct_wording_entry(out, s, i, "    ", i + 1 < s->count ? "," : ""))
            return false;
    fputs(")\n", out);
    return true;
}

/* The entries of all orderings. */
static bool take_orders(struct pct_wording *s, const struct pct_depth *depth)
{
    s->entry = calloc(2 * depth->count + 1, sizeof *s->entry);
    s->named = calloc(2 * depth->count + 1, sizeof *s->named);
    if (!s->entry || !s->named)
        return false;
    for (size_t i = 0; i < depth->count; i++) {
        add_first(s, &depth->needs[i].order.first);
        if (!depth->needs[i].order.wake)
            add_then(s, &depth->needs[i].order.then);
    }
    qsort(s->entry, s->count, sizeof *s->entry, by_rank);
    return s->count;
}

bool pct_order_script_write(FILE *out, const struct pct_analysis *analysis, enum pct_order_script_detail detail)
{
    struct pct_wording s = { .narrative = &analysis->narrative, .detail = detail, .margin = "" };
    bool orders = detail != PCT_ORDER_SCRIPT_SCHEDULE;
    bool written = orders ? take_orders(&s, &analysis->depth) : pct_turns_take(&s);
    pct_order_script_head(out, &analysis->shrink.runs.failure,
                          orders ? "these operations come in this order"
                                 : "threads take these turns, each up to what stands there");
    written = written && (orders ? write_orders(out, &s) : pct_turns_write(out, &s, true));
    pct_wording_free(&s);
    return written;
}
