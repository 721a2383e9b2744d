/* A campaign for editors: a line for each finding, and for each place of its stacks, as compilers write them
 * (FILE:LINE: error: TEXT), which every editor can go through. docs/REPORTS.md has an example. */
#include "export.h"
#include <stdlib.h>
#include <string.h>

/* Of text that may have several lines, the first. */
static void print_line(FILE *out, const char *text)
{
    size_t length = strcspn(text, "\n");
    for (size_t i = 0; i < length; i++)
        fputc(text[i] == '\t' ? ' ' : text[i], out);
}

static void print_place(FILE *out, const struct pct_summary *s, const struct pct_summary_place *place)
{
    print_line(out, place->path ? place->path : s->program);
    if (place->path && place->line > 0)
        fprintf(out, ":%d", place->line);
    fputs(": ", out);
}

static void print_frame(FILE *out, const struct pct_summary *s, const struct pct_summary_frame *f)
{
    if (!f->place.path || !f->place.below_root)
        return;
    print_place(out, s, &f->place);
    fprintf(out, "note: thread %u: ", f->frame.thread);
    print_line(out, f->frame.doing);
    if (f->frame.function[0]) {
        fputs(", in ", out);
        print_line(out, f->frame.function);
    }
    fputc('\n', out);
}

static void print_finding(FILE *out, const struct pct_summary *s, const struct pct_summary_finding *f)
{
    char *replay = pct_summary_replay(f);
    print_place(out, s, &f->place);
    fputs("error: pct: ", out);
    print_line(out, f->finding.title);
    fputc('\n', out);
    for (size_t i = 0; i < f->frame_count; i++)
        print_frame(out, s, &f->frames[i]);
    print_place(out, s, &f->place);
    fputs("note: this replays it: ", out);
    print_line(out, replay ? replay : f->finding.token);
    fputc('\n', out);
    free(replay);
}

int pct_export_lines(FILE *out, const struct pct_summary *summary)
{
    for (size_t i = 0; i < summary->count; i++)
        print_finding(out, summary, &summary->findings[i]);
    return 0;
}
