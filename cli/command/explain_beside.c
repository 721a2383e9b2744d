/* The two schedules next to each other: see explain_beside.h. */
#include "explain_beside.h"
#include <cli/base/cli.h>
#include <string.h>

enum {
    BESIDE = 10, /* steps of the two schedules side by side */
    HALF = 50    /* columns of a side */
};

/* One step on one side. */
static void format_side(char *buffer, size_t size, const struct pct_narrative *narrative, uint64_t step)
{
    char operation[800];
    *buffer = 0;
    if (step > narrative->trace->count)
        return;
    if (step == narrative->trace->count) {
        snprintf(buffer, size, "(the end)");
        return;
    }
    struct pct_event event = pct_narrative_event(narrative, step);
    snprintf(buffer, size, "%u: %s", event.thread,
             pct_narrative_operation(narrative, operation, sizeof operation, &event));
}

/* The step of both, side by side, or one below the other. */
static void print_both(FILE *out, const struct pct_analysis *q, uint64_t step, bool below)
{
    char left[HALF], right[HALF];
    format_side(left, sizeof left, &q->narrative, step);
    format_side(right, sizeof right, &q->pass, step);
    fprintf(out, "%10llu  %s", (unsigned long long)step + 1, below ? "fails   " : "");
    pct_cli_print_clean(out, *left || !below ? left : "-", sizeof left);
    if (below)
        fprintf(out, "\n%12spasses  ", "");
    else
        fprintf(out, "%*s", HALF - (int)strlen(left), "");
    pct_cli_print_clean(out, *right || !below ? right : "-", sizeof right);
    fputc('\n', out);
}

/* Where the two part, and the steps from there on. */
static void print_parting(FILE *out, const struct pct_analysis *q, bool below)
{
    const struct pct_trace *a = q->narrative.trace, *b = q->pass.trace;
    uint64_t from = 0;
    if (!q->passes) {
        bool whole = !q->shrink.runs.late && !q->shrink.runs.cut;
        fprintf(out, "\nNo schedule was found that passes%s%s.\n", whole ? "" : ": ",
                whole ? "" : pct_query_runs_why(&q->shrink.runs));
        return;
    }
    while (from < a->count && from < b->count && a->records[from] == b->records[from])
        from++;
    fprintf(out,
            "\nThe schedule that differs least and passes is the same up to step %llu; then (thread: operation):\n",
            (unsigned long long)from);
    if (!below)
        fprintf(out, "%10s  %-*s%s\n", "step", HALF, "fails", "passes");
    for (uint64_t i = from; i < from + BESIDE && (i <= a->count || i <= b->count); i++)
        print_both(out, q, i, below);
}

void pct_explain_beside(FILE *out, const struct pct_analysis *q)
{
    enum { STEP = 12 };
    struct pct_cli_narrow narrow;
    FILE *text = pct_cli_narrow_begin(&narrow, out);
    print_parting(text, q, narrow.columns && narrow.columns < STEP + 2 * HALF);
    pct_cli_narrow_end(&narrow);
}
