/* A whole schedule as the lines of a script: see wording.h. One for each turn of a thread, until the last operation of
 * it has been made. */
#include "wording.h"
#include <stdlib.h>

/* Of the steps from this one on that a thread makes in one go: how many. */
static uint64_t measure_turn(const struct pct_trace *trace, uint64_t from)
{
    uint64_t to = from;
    while (to < trace->count && PCT_RECORD_THREAD(trace->records[to]) == PCT_RECORD_THREAD(trace->records[from]))
        to++;
    return to - from;
}

/* What befalls a thread, rather than that it does it. */
static bool befalls(uint32_t op)
{
    return op == PCT_OP_OUTSIDE || op == PCT_OP_DEADLINE || op == PCT_OP_STUCK || op == PCT_OP_SIGNAL_HANDLE;
}

/* A turn that needs no line, as nothing in it is the thread's own doing, or the process ends there. */
static bool is_silent(uint32_t op)
{
    return befalls(op) || op == PCT_OP_EXIT || op == PCT_OP_EXIT_NOW;
}

static void write_name(FILE *out, struct pct_wording *s, uint32_t thread)
{
    for (size_t i = 0; i < s->names; i++)
        if (s->named[i] == thread)
            return;
    pct_wording_thread(out, s, thread);
    s->named[s->names++] = thread;
}

/* How many turns there are; 0: more than anybody would read. */
static size_t count_turns(const struct pct_trace *trace)
{
    enum { MOST = 1000 };
    size_t count = 0;
    for (uint64_t from = 0; from < trace->count && count <= MOST; count++)
        from += measure_turn(trace, from);
    return count <= MOST ? count : 0;
}

static void write_finish(FILE *out, const struct pct_wording *s, uint32_t thread)
{
    if (thread)
        fprintf(out, "%sfinish(t%u)\n", s->margin, thread);
    else
        fprintf(out, "%sfinish(main)\n", s->margin);
}

bool pct_turns_take(struct pct_wording *s)
{
    const struct pct_trace *trace = s->narrative->trace;
    size_t room = count_turns(trace);
    s->entry = calloc(room + 1, sizeof *s->entry);
    s->named = calloc(room + 1, sizeof *s->named);
    if (!room || !s->entry || !s->named)
        return false;
    for (uint64_t from = 0, to; from < trace->count; from = to) {
        to = from + measure_turn(trace, from);
        uint64_t last = to - 1;
        while (last > from && befalls(PCT_RECORD_OP(trace->records[last])))
            last--;
        s->entry[s->count++] = (struct pct_worded){ .thread = PCT_RECORD_THREAD(trace->records[from]),
                                                    .op = PCT_RECORD_OP(trace->records[last]),
                                                    .step = last,
                                                    .of = s->narrative,
                                                    .made = true };
    }
    return true;
}

bool pct_turns_write(FILE *out, struct pct_wording *s, bool held)
{
    s->names = 0;
    pct_wording_choices(out, s);
    if (held)
        fprintf(out, "%sothers \"held\"\n", s->margin);
    for (size_t i = 0; i < s->count; i++) {
        const struct pct_worded *e = &s->entry[i];
        write_name(out, s, e->thread);
        if (e->op == PCT_OP_THREAD_FINISH)
            write_finish(out, s, e->thread);
        else if (!is_silent(e->op) && !pct_wording_entry(out, s, i, "in_order(", ")"))
            return false;
    }
    return true;
}
