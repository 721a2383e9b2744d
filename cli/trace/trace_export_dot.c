/* Who waits for what, as a graph for Graphviz: see export.h. Threads are ellipses, objects boxes; an arrow leads from a
 * thread to what it waits for, and from an object to the thread that holds it. A cycle is drawn in red. It shows the
 * state after the last step of the window: at the end of the run that of the snapshot, before that what the steps tell.
 */
#include <cli/base/cli.h>
#include "trace_export.h"
#include "schedule.h"
#include "variable.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct graph {
    FILE *out;
    const struct pct_snapshot *snapshot;
    struct pct_unwinder *unwinder; /* NULL: there are no names */
    uint32_t threads;
    uint32_t waits_for[PCT_MAX_THREADS + 1]; /* by thread, PCT_NO_THREAD */
    bool in_cycle[PCT_MAX_THREADS + 1];
};

/* Everybody waits for at most one thread: walk from each, with a mark a walk, until a known one is met. */
static void find_cycles(struct graph *g)
{
    uint32_t *met = calloc((size_t)g->threads + 1, sizeof *met);
    for (uint32_t start = 0; met && start < g->threads; start++) {
        uint32_t at = start;
        while (at < g->threads && !met[at]) {
            met[at] = start + 1;
            at = g->waits_for[at];
        }
        while (at < g->threads && met[at] == start + 1 && !g->in_cycle[at]) {
            g->in_cycle[at] = true;
            at = g->waits_for[at];
        }
    }
    free(met);
}

static const char *colour(bool red)
{
    return red ? " [color=red, penwidth=2]" : "";
}

/* What stands in a label, between double quotes. */
static void print_name(const struct graph *g, uint32_t number)
{
    char name[400];
    const struct pct_snap_object *object = g->unwinder ? pct_snapshot_object(g->snapshot, number) : NULL;
    if (!object || !pct_variable_name(g->unwinder, object->address, name, sizeof name))
        return;
    for (char *c = name; *c; c++)
        if (*c == '"' || *c == '\\')
            *c = '\'';
    fputs(" `", g->out);
    pct_cli_print_clean(g->out, name, sizeof name);
    fputc('`', g->out);
}

static void print_thread(const struct graph *g, uint32_t thread, const struct pct_pending *next)
{
    char text[96];
    bool red = g->in_cycle[thread];
    fprintf(g->out, "  t%u [label=\"thread %u", thread, thread);
    if (next->known && next->op)
        fprintf(g->out, "\\n%s%s", next->blocked ? "waits: " : "next: ",
                pct_schedule_format_next(text, sizeof text, next->op, next->object));
    fprintf(g->out, "\"%s];\n", red ? ", color=red, penwidth=2" : "");
    if (!next->blocked)
        return;
    /* Descriptors have numbers of their own. */
    const char kind = next->class_ == PCT_CLASS_FD ? 'd' : 'o';
    if (next->class_ == PCT_CLASS_THREAD) {
        fprintf(g->out, "  t%u -> t%u%s;\n", thread, next->object, colour(red));
    } else if (next->class_ != PCT_CLASS_NONE) {
        fprintf(g->out, "  %c%u [shape=box, label=\"%s %u", kind, next->object, pct_name_class(next->class_),
                next->object);
        if (next->class_ != PCT_CLASS_FD)
            print_name(g, next->object);
        fputs("\"];\n", g->out);
        fprintf(g->out, "  t%u -> %c%u%s;\n", thread, kind, next->object, colour(red));
        if (next->holder != PCT_NO_THREAD)
            fprintf(g->out, "  %c%u -> t%u%s;\n", kind, next->object, next->holder,
                    colour(red && g->in_cycle[next->holder]));
    }
}

int pct_trace_export_dot(const struct pct_trace_export *x)
{
    struct graph *g = calloc(1, sizeof *g);
    struct pct_events *events = pct_events_open(x->trace, x->snapshot);
    struct pct_event event = { .step = x->trace->first };
    if (!g || !events) {
        free(g);
        pct_events_close(events);
        return -ENOMEM;
    }
    g->out = x->out;
    g->snapshot = x->snapshot;
    g->unwinder = x->snapshot->object_count ? pct_unwind_open(x->snapshot) : NULL;
    for (uint64_t i = 0; i < x->to && pct_events_next(events, &event); i++)
        ;
    g->threads = pct_events_threads(events);
    for (uint32_t t = 0; t < g->threads; t++) {
        struct pct_pending next = pct_events_pending(events, t);
        bool waits = pct_events_lives(events, t) && next.blocked && next.holder < g->threads;
        g->waits_for[t] = waits ? next.holder : PCT_NO_THREAD;
    }
    find_cycles(g);
    fprintf(x->out, "// who waits for what after step %llu\n", (unsigned long long)event.step);
    fputs("digraph waits {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n", x->out);
    for (uint32_t t = 0; t < g->threads; t++) {
        struct pct_pending next = pct_events_pending(events, t);
        if (pct_events_lives(events, t))
            print_thread(g, t, &next);
    }
    fputs("}\n", x->out);
    pct_unwind_close(g->unwinder);
    pct_events_close(events);
    free(g);
    return 0;
}
