/* A script of several processes: see explain_family.h. The failing run is made once more, in which each process leaves
 * its steps. The turns of the threads of each, of those that have several, are a script if the program fails under
 * them; then lines are left out as long as it still does. */
#include "explain_family.h"
#include "explain_script.h"
#include <cli/analyze/wording.h>
#include <cli/base/status_line.h>
#include <stdlib.h>
#include <string.h>

/* A process of the run. */
struct part {
    unsigned number; /* as scripts have it: of those that were made, in their order; 0: the first process */
    long pid;
    bool open; /* its narrative is */
    struct pct_trace trace;
    struct pct_narrative narrative;
    struct pct_wording turns;
};

struct family {
    const struct pct_failure *failure;
    struct part *part; /* by number */
    size_t count;
    bool *left_out; /* by items, the lines: of each part, that others stand, and its turns */
    size_t items;
};

/* --- The processes ------------------------------------------------------------------------------------------------ */

static void add_child(const char *path, long pid, void *data)
{
    struct family *f = data;
    char error[256];
    struct part *larger = realloc(f->part, (f->count + 1) * sizeof *f->part);
    if (!larger)
        return;
    f->part = larger;
    struct part *part = &f->part[f->count];
    *part = (struct part){ .pid = pid };
    if (pct_trace_open(&part->trace, path, error, sizeof error) == PCT_TRACE_GOOD)
        f->count++;
}

static int by_pid(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* The file that the process runs: the first one in its memory map. */
static const char *program_of(const struct pct_narrative *n, size_t *length)
{
    const char *maps = n->snapshot.maps, *slash = maps ? memchr(maps, '/', n->snapshot.maps_size) : NULL;
    const char *end = slash ? memchr(slash, '\n', n->snapshot.maps_size - (size_t)(slash - maps)) : NULL;
    *length = end ? (size_t)(end - slash) : 0;
    return slash;
}

static bool runs_same(const struct pct_narrative *a, const struct pct_narrative *b)
{
    size_t length, other;
    const char *program = program_of(a, &length), *others = program_of(b, &other);
    return length && length == other && !memcmp(program, others, length);
}

/* Find the turns of a process with several threads, all of whose steps are there. */
static void take_turns(struct family *f, struct part *part)
{
    part->open = !pct_narrative_open(&part->narrative, &part->trace);
    if (!part->open || part->trace.header.threads < 2 || part->trace.header.first || !part->trace.count)
        return;
    part->turns = (struct pct_wording){ .narrative = &part->narrative,
                                        .detail = PCT_ORDER_SCRIPT_SCHEDULE,
                                        .nameless = !runs_same(&part->narrative, &f->part[0].narrative),
                                        .margin = part->number ? "    " : "" };
    if (!pct_turns_take(&part->turns))
        part->turns.count = 0;
}

/* Whether one of the other processes has threads whose turns are known. */
static bool open_parts(struct family *f, const struct pct_ended_run *run)
{
    bool others = false;
    f->part = calloc(1, sizeof *f->part);
    f->count = f->part != NULL;
    if (!f->part)
        return false;
    f->part[0].trace = run->result.trace;
    pct_children_visit(run->process.trace_path, add_child, f);
    qsort(f->part + 1, f->count - 1, sizeof *f->part, by_pid);
    for (size_t i = 0; i < f->count; i++) {
        struct part *part = &f->part[i];
        part->number = (unsigned)i;
        take_turns(f, part);
        others |= i && part->turns.count;
        f->items += part->turns.count ? part->turns.count + 1 : 0;
    }
    f->left_out = calloc(f->items + 1, sizeof *f->left_out);
    return others && f->left_out;
}

static void close_parts(struct family *f)
{
    for (size_t i = 0; i < f->count; i++) {
        pct_wording_free(&f->part[i].turns);
        if (f->part[i].open)
            pct_narrative_close(&f->part[i].narrative);
        if (i)
            pct_trace_close(&f->part[i].trace);
    }
    free(f->part);
    free(f->left_out);
}

/* --- The text ----------------------------------------------------------------------------------------------------- */

/* The lines of a process, but those that are left out. */
static bool write_part(FILE *out, struct part *part, const bool *left_out)
{
    struct pct_wording kept = part->turns;
    kept.count = 0;
    kept.entry = calloc(part->turns.count, sizeof *kept.entry);
    for (size_t i = 0; kept.entry && i < part->turns.count; i++)
        if (!left_out[1 + i])
            kept.entry[kept.count++] = part->turns.entry[i];
    bool written = kept.entry;
    if (written && part->number && kept.count)
        fprintf(out, "process(%u, function()\n", part->number);
    if (written && kept.count)
        written = pct_turns_write(out, &kept, !left_out[0]);
    if (written && part->number && kept.count)
        fputs("end)\n", out);
    free(kept.entry);
    return written;
}

static bool write_family(FILE *out, void *context)
{
    struct family *f = context;
    bool written = true;
    pct_order_script_head(out, f->failure, "threads take these turns in their processes, each up to what stands there");
    const bool *left_out = f->left_out;
    if (f->part[0].turns.count)
        left_out += f->part[0].turns.count + 1;
    for (size_t i = 1; i < f->count && written; i++) {
        if (!f->part[i].turns.count)
            continue;
        written = write_part(out, &f->part[i], left_out);
        left_out += f->part[i].turns.count + 1;
    }
    /* The first one's behind those of the others, as scripts have them. */
    if (written && f->part[0].turns.count)
        written = write_part(out, &f->part[0], f->left_out);
    return written;
}

/* --- What it needs ------------------------------------------------------------------------------------------------ */

/* Leave out the lines from here on, unless it does not fail then. Returns 0 or a negative errno. */
static int leave_out(struct family *f, const struct pct_script_trial *trial, char **text, size_t from, size_t count)
{
    bool *before = malloc(f->items * sizeof *before), new = false;
    char *shorter = NULL;
    if (!before)
        return -ENOMEM;
    memcpy(before, f->left_out, f->items * sizeof *before);
    for (size_t i = from; i < from + count && i < f->items; i++) {
        new |= !f->left_out[i];
        f->left_out[i] = true;
    }
    int good = new ? pct_explain_script_try(trial, &shorter) : 0;
    if (good > 0) {
        free(*text);
        *text = shorter;
    } else {
        memcpy(f->left_out, before, f->items * sizeof *before);
    }
    free(before);
    return good < 0 ? good : 0;
}

/* By halves, quarters, ..., single lines, and these again as long as one of them can go. */
static int make_short(struct family *f, struct pct_query_runs *runs, const struct pct_script_trial *trial, char **text)
{
    const double half = pct_cli_now() + runs->seconds / 2;
    const double until = half < runs->launch.ends ? half : runs->launch.ends;
    size_t size = f->items, were = 0, are = 0;
    int failed = 0;
    do {
        size = size > 1 ? (size + 1) / 2 : 1;
        were = are;
        for (size_t i = 0; i < f->items && !failed && !runs->interrupted && pct_cli_now() < until; i += size)
            failed = leave_out(f, trial, text, i, size);
        are = 0;
        for (size_t i = 0; i < f->items; i++)
            are += f->left_out[i];
    } while (!failed && !runs->interrupted && pct_cli_now() < until && (size > 1 || are > were));
    return failed;
}

static bool is_empty(const struct family *f)
{
    bool all = true;
    for (size_t i = 0; i < f->items; i++)
        all &= f->left_out[i];
    return all;
}

/* The failing run once more, in which each process leaves where its steps were made. By exec, so that processes that
 * become other programs hear of that, too. *fails: it does. Returns 0, or a status. */
static int record(struct pct_query_runs *runs, struct pct_ended_run *run, bool *fails)
{
    enum { TIMES = 5 };
    struct pct_engine engine = { .launch = &runs->launch, .quiet = true, .exec = true };
    const struct pct_try what = { .sites = "family" };
    int failed = 0;
    *fails = false;
    for (unsigned i = 0; i < TIMES && !failed && !*fails; i++) {
        struct pct_run_spec spec = { .index = UINT64_MAX };
        struct pct_failure failure;
        if (i)
            pct_ended_run_close(run);
        pct_query_run_spec(runs, &what, runs->config.run.seed, &spec);
        failed = pct_engine_run_one(&engine, &spec, run);
        if (!failed && engine.late) {
            pct_cli_say("out of time (--seconds=%.0f): a script of several processes was not tried", runs->seconds);
            return PCT_EXIT_DIVERGENCE;
        }
        *fails = !failed && pct_failure_read(&failure, &run->result) && pct_failure_same(&failure, &runs->failure);
    }
    return failed;
}

static int write_and_try(struct family *f, struct pct_query_runs *runs, const struct pct_script_trial *trial,
                         const char *path, bool *found)
{
    char *text = NULL;
    int good = pct_explain_script_try(trial, &text), failed = good > 0 ? make_short(f, runs, trial, &text) : good;
    pct_status_line_clear(runs->progress.quiet);
    *found = good > 0 && !failed && !is_empty(f);
    if (failed < 0)
        failed = pct_cli_usage("--script: %s: %s", path, strerror(-failed));
    else if (*found)
        failed = pct_explain_script_keep(trial, path, text,
                                         "It is a script of several processes: of the turns that their threads take, "
                                         "those that it needs.");
    free(text);
    return failed;
}

int pct_explain_family(struct pct_shrink *shrink, const char *path, bool *found)
{
    static struct pct_ended_run run; /* large */
    struct pct_query_runs *runs = &shrink->runs;
    struct family f = { .failure = &runs->failure };
    bool fails;
    *found = false;
    int failed = record(runs, &run, &fails);
    if (failed)
        return failed;
    const struct pct_script_trial trial = {
        .runs = runs, .process = &run.process, .write = write_family, .context = &f
    };
    if (fails && open_parts(&f, &run))
        failed = write_and_try(&f, runs, &trial, path, found);
    close_parts(&f);
    pct_ended_run_close(&run);
    return failed;
}
