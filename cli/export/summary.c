/* What the exporters of a campaign say: see summary.h. */
#include "summary.h"
#include <cli/base/cli.h>
#include <cli/base/markup.h>
#include <cli/diagnose/print.h>
#include <cli/trace/report.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* --- Places ------------------------------------------------------------------------------------------------------- */

/* The path of a source file as reports have it. A relative one that is no file here is taken to be relative to the
 * root, where the compiler was called: nothing better is known. */
static void set_place(const struct pct_summary *s, struct pct_summary_place *place, const char *file, int line)
{
    *place = (struct pct_summary_place){ .line = line };
    if (!file || !*file)
        return;
    size_t length = strlen(s->root);
    char path[PATH_MAX];
    if (*file != '/' && realpath(file, path))
        file = path;
    place->below_root = *file != '/';
    while (file[0] == '.' && file[1] == '/')
        file += 2;
    if (!strncmp(file, "../", 3))
        place->below_root = false;
    if (!strncmp(file, s->root, length) && file[length] == '/') {
        place->below_root = true;
        file += length + 1;
    }
    place->path = strdup(file);
}

/* Where an annotation goes: the programmer's own code, not the library that it called. */
static const struct pct_summary_place *choose_place(const struct pct_summary_finding *f)
{
    for (size_t i = 0; i < f->frame_count; i++)
        if (f->frames[i].place.path && f->frames[i].place.below_root)
            return &f->frames[i].place;
    return NULL;
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

struct reader {
    struct pct_summary *s;
    size_t room;
    /* Of all runs: */
    struct seen {
        uint64_t value; /* hash, then its number */
        uint64_t number;
    } * hashes, *systematic; /* and of those that were systematic */
    uint64_t *findings;      /* by run: the finding, 0: none */
    uint64_t *pairs;         /* seeds of the runs that brought new pairs */
    uint64_t *seeds;
    uint64_t *exposed; /* by iRoot: the first run that has exposed it, from 1 */
    uint64_t run_count, pair_count, exposed_count;
};

static int keep_run(void *data, const struct pct_store_run *run)
{
    struct reader *r = data;
    if (r->run_count == r->s->totals.runs)
        return 1; /* another process adds runs: those up to here */
    r->hashes[r->run_count] = (struct seen){ .value = run->hash, .number = r->run_count };
    if (run->systematic) {
        r->systematic[r->s->systematic.runs++] = r->hashes[r->run_count];
        r->s->systematic.failures += run->finding != 0;
    }
    r->seeds[r->run_count] = run->seed;
    r->findings[r->run_count++] = (uint64_t)run->finding;
    return 0;
}

static int keep_pair(void *data, uint64_t pair, uint64_t seed)
{
    (void)pair;
    struct reader *r = data;
    if (r->pair_count == r->s->totals.pairs)
        return 1;
    r->pairs[r->pair_count++] = seed;
    return 0;
}

static int keep_exposed(void *data, const struct pct_store_iroot *root)
{
    struct reader *r = data;
    if (!root->exposed)
        return 0;
    if (r->exposed_count == r->s->iroots.exposed)
        return 1;
    r->exposed[r->exposed_count++] = root->exposed;
    return 0;
}

static int keep_uncontrolled(void *data, unsigned kind, const char *name, uint64_t count)
{
    struct pct_summary *s = data;
    (void)kind;
    struct pct_summary_uncontrolled *more = reallocarray(s->uncontrolled, s->uncontrolled_count + 1, sizeof *more);
    char *copy = pct_markup_clean(name);
    if (more)
        s->uncontrolled = more;
    if (!more || !copy) {
        free(copy);
        return -ENOMEM;
    }
    more[s->uncontrolled_count++] = (struct pct_summary_uncontrolled){ .name = copy, .count = count };
    return 0;
}

static int keep_frame(void *data, const struct pct_store_frame *frame)
{
    struct reader *r = data;
    struct pct_summary_finding *f = &r->s->findings[r->s->count - 1];
    struct pct_summary_frame *more = reallocarray(f->frames, f->frame_count + 1, sizeof *more);
    if (!more)
        return -ENOMEM;
    f->frames = more;
    struct pct_summary_frame *kept = &more[f->frame_count++];
    *kept = (struct pct_summary_frame){ .frame = *frame };
    kept->frame.doing = pct_markup_clean(frame->doing);
    kept->frame.function = pct_markup_clean(frame->function);
    kept->frame.file = pct_markup_clean(frame->file);
    kept->frame.module = pct_markup_clean(frame->module);
    if (!kept->frame.doing || !kept->frame.function || !kept->frame.file || !kept->frame.module)
        return -ENOMEM;
    set_place(r->s, &kept->place, kept->frame.file, kept->frame.line);
    return 0;
}

char *pct_summary_output(const struct pct_store_finding *finding)
{
    const size_t size = finding->output ? finding->output_size : 0;
    char *text = malloc(size + 1);
    if (!text)
        return NULL;
    if (size)
        memcpy(text, finding->output, size);
    for (char *zero = text; (zero = memchr(zero, 0, size - (size_t)(zero - text)));)
        *zero = '\1';
    text[size] = 0;
    return text;
}

/* The strings of a finding: X(member). */
#define FINDING_STRINGS(X) X(verdict) X(title) X(message) X(token) X(replay) X(report) X(uncontrolled) X(file)

static int keep_finding(void *data, const struct pct_store_finding *finding)
{
    struct reader *r = data;
    struct pct_summary *s = r->s;
    struct pct_summary_finding *more = reallocarray(s->findings, s->count + 1, sizeof *more);
    if (!more)
        return -ENOMEM;
    s->findings = more;
    struct pct_summary_finding *kept = &more[s->count++];
    *kept = (struct pct_summary_finding){ .finding = *finding };
    bool whole = true;
#define KEEP(member)                                                                                                   \
    kept->finding.member = pct_markup_clean(finding->member);                                                          \
    whole = whole && kept->finding.member;
    FINDING_STRINGS(KEEP)
#undef KEEP
    char *output = pct_summary_output(finding);
    kept->output_text = output ? pct_markup_clean(output) : NULL;
    free(output);
    size_t title;
    if (whole && pct_diagnosis_in_report(kept->finding.report, &title))
        kept->cause = strndup(kept->finding.report, title);
    kept->held = whole ? pct_report_take_held(kept->finding.report) : NULL;
    kept->finding.output = NULL;
    kept->rate = pct_wilson_wilson(finding->drawn, s->totals.drawn);
    return whole && kept->output_text ? 0 : -ENOMEM;
}

/* Frames after all findings: one statement at a time. */
static int read_frames(struct reader *r)
{
    struct pct_summary *s = r->s;
    size_t count = s->count;
    int failed = 0;
    for (s->count = 1; !failed && s->count <= count; s->count++) {
        struct pct_summary_finding *f = &s->findings[s->count - 1];
        failed = pct_store_each_frame(s->store, f->finding.id, keep_frame, r);
        const struct pct_summary_place *place = f->cause && *f->finding.file ? NULL : choose_place(f);
        if (place)
            set_place(s, &f->place, place->path, place->line);
        else
            set_place(s, &f->place, f->finding.file, f->finding.line);
    }
    s->count = count;
    return failed;
}

/* --- Curves ------------------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Count what each run added, in its order, and keep some of the sums. */
static void add_up(struct reader *r, const bool *is_new)
{
    struct pct_summary *s = r->s;
    uint64_t step = r->run_count / PCT_SUMMARY_POINTS + 1, pair = 0, exposed = 0, most = 0;
    struct pct_curve_point sum = { 0 };
    for (uint64_t i = 0; i < r->run_count; i++) {
        sum.runs++;
        sum.schedules += is_new[i];
        sum.failures += r->findings[i] != 0;
        /* Findings are numbered in the order of their first runs, unless files were merged. */
        if (r->findings[i] > most) {
            most = r->findings[i];
            sum.findings++;
        }
        while (pair < r->pair_count && r->pairs[pair] <= r->seeds[i]) {
            pair++;
            sum.pairs++;
        }
        while (exposed < r->exposed_count && r->exposed[exposed] <= i + 1) {
            exposed++;
            sum.iroots++;
        }
        if ((i + 1) % step == 0 || i + 1 == r->run_count)
            s->curve[s->points++] = sum;
    }
}

static int read_curves(struct reader *r)
{
    struct pct_summary *s = r->s;
    int failed = pct_store_each_run(s->store, keep_run, r);
    if (failed >= 0)
        failed = pct_store_each_pair(s->store, keep_pair, r);
    if (failed >= 0 && s->has_iroots)
        failed = pct_store_each_iroot(s->store, keep_exposed, r);
    if (failed < 0)
        return failed;
    bool *is_new = calloc(r->run_count + 1, sizeof *is_new);
    s->curve = calloc(PCT_SUMMARY_POINTS + 1, sizeof *s->curve);
    if (!is_new || !s->curve) {
        free(is_new);
        return -ENOMEM;
    }
    qsort(r->hashes, r->run_count, sizeof *r->hashes, by_value);
    qsort(r->systematic, s->systematic.runs, sizeof *r->systematic, by_value);
    for (uint64_t i = 0; i < s->systematic.runs; i++)
        s->systematic.schedules += !i || r->systematic[i].value != r->systematic[i - 1].value;
    for (uint64_t i = 0; i < r->run_count; i++)
        if (!i || r->hashes[i].value != r->hashes[i - 1].value)
            is_new[r->hashes[i].number] = true;
    qsort(r->pairs, r->pair_count, sizeof *r->pairs, by_number);
    qsort(r->exposed, r->exposed_count, sizeof *r->exposed, by_number);
    add_up(r, is_new);
    free(is_new);
    return 0;
}

static int read_all(struct reader *r)
{
    struct pct_summary *s = r->s;
    int failed = pct_store_totals(s->store, &s->totals);
    if (!failed)
        failed = pct_store_iroot_totals(s->store, &s->iroots);
    if (failed)
        return failed;
    s->has_iroots = pct_store_has_iroots(s->store);
    s->command = pct_markup_clean(pct_store_fact(s->store, "command"));
    s->program = pct_markup_clean(pct_store_fact(s->store, "program"));
    r->hashes = calloc(s->totals.runs + 1, sizeof *r->hashes);
    r->systematic = calloc(s->totals.runs + 1, sizeof *r->systematic);
    r->findings = calloc(s->totals.runs + 1, sizeof *r->findings);
    r->seeds = calloc(s->totals.runs + 1, sizeof *r->seeds);
    r->pairs = calloc(s->totals.pairs + 1, sizeof *r->pairs);
    r->exposed = calloc(s->iroots.exposed + 1, sizeof *r->exposed);
    if (!s->command || !s->program || !r->hashes || !r->systematic || !r->findings || !r->seeds || !r->pairs ||
        !r->exposed)
        return -ENOMEM;
    failed = pct_store_each_uncontrolled(s->store, keep_uncontrolled, s);
    if (!failed)
        failed = pct_store_each_finding(s->store, keep_finding, r);
    if (!failed)
        failed = read_frames(r);
    return failed ? failed : read_curves(r);
}

int pct_summary_read(struct pct_summary *summary, struct pct_store *store, const char *root, char *error, size_t size)
{
    *summary = (struct pct_summary){ .store = store };
    struct reader r = { .s = summary };
    char resolved[PATH_MAX];
    if (!realpath(root ? root : ".", resolved)) {
        int failed = -errno;
        snprintf(error, size, "%s: %s", root ? root : ".", strerror(-failed));
        return failed;
    }
    snprintf(summary->root, sizeof summary->root, "%s", strcmp(resolved, "/") ? resolved : "");
    int failed = read_all(&r);
    free(r.hashes);
    free(r.systematic);
    free(r.findings);
    free(r.seeds);
    free(r.pairs);
    free(r.exposed);
    if (failed)
        snprintf(error, size, "%s", failed == -ENOMEM ? "out of memory" : pct_store_error(store));
    return failed;
}

static void drop(const char *string)
{
    free((char *)(uintptr_t)string);
}

void pct_summary_free(struct pct_summary *summary)
{
    for (size_t i = 0; i < summary->count; i++) {
        struct pct_summary_finding *f = &summary->findings[i];
        for (size_t j = 0; j < f->frame_count; j++) {
            drop(f->frames[j].frame.doing);
            drop(f->frames[j].frame.function);
            drop(f->frames[j].frame.file);
            drop(f->frames[j].frame.module);
            free(f->frames[j].place.path);
        }
#define DROP(member) drop(f->finding.member);
        FINDING_STRINGS(DROP)
#undef DROP
        free(f->frames);
        free(f->place.path);
        free(f->output_text);
        free(f->cause);
        free(f->held);
    }
    free(summary->findings);
    free(summary->curve);
    for (size_t i = 0; i < summary->uncontrolled_count; i++)
        free(summary->uncontrolled[i].name);
    free(summary->uncontrolled);
    free(summary->command);
    free(summary->program);
    *summary = (struct pct_summary){ 0 };
}

/* --- Words -------------------------------------------------------------------------------------------------------- */

char *pct_summary_replay(const struct pct_summary_finding *finding)
{
    char *line = NULL;
    return asprintf(&line, "pct %s", finding->finding.replay) < 0 ? NULL : line;
}

const char *pct_summary_format_rate(char *buffer, size_t size, const struct pct_summary *summary,
                                    const struct pct_summary_finding *finding)
{
    const unsigned long long runs = summary->totals.runs, drawn = summary->totals.drawn, count = finding->finding.count;
    if (*pct_store_fact(summary->store, "bound")) { /* of an exploration, which draws nothing */
        snprintf(buffer, size, "%llu of %llu runs", count, runs);
        return buffer;
    }
    char is[24], low[24], high[24], of[64] = "";
    if (drawn < runs)
        snprintf(of, sizeof of, "%llu of %llu drawn ones: ", (unsigned long long)finding->finding.drawn, drawn);
    snprintf(buffer, size, "%llu of %llu run%s (%s%s; 95 %%: %s to %s)", count, runs, runs == 1 ? "" : "s", of,
             pct_wilson_percent(is, sizeof is, drawn ? (double)finding->finding.drawn / (double)drawn : 0),
             pct_wilson_percent(low, sizeof low, finding->rate.low),
             pct_wilson_percent(high, sizeof high, finding->rate.high));
    return buffer;
}

const char *pct_summary_format_replays(char *buffer, size_t size, const struct pct_summary_finding *finding)
{
    const struct pct_store_finding *f = &finding->finding;
    if (!f->replays)
        snprintf(buffer, size, "not confirmed by replays yet");
    else
        snprintf(buffer, size, "%s%u of %u replays failed in the same way%s",
                 f->same == f->replays ? "confirmed: " : "", f->same, f->replays,
                 f->same < f->replays && f->uncontrolled[0] ? "; see what pct could not order" : "");
    return buffer;
}

const char *pct_summary_format_iroots(char *buffer, size_t size, const struct pct_store_iroot_totals *iroots,
                                      uint64_t runs)
{
    char newest[96] = "", combined[64] = "", memo[64] = "", end[128] = "";
    if (iroots->combined)
        snprintf(combined, sizeof combined, "; %llu combined patterns exposed", (unsigned long long)iroots->combined);
    if (iroots->exposed)
        snprintf(newest, sizeof newest, ", the last new one in run %llu of %llu", (unsigned long long)iroots->newest,
                 (unsigned long long)runs);
    if (iroots->memo)
        snprintf(memo, sizeof memo, "; %llu known by --memo", (unsigned long long)iroots->memo);
    if (iroots->saturated)
        snprintf(end, sizeof end, "; saturated: %llu runs without a new one, and nothing predicted is left to try",
                 (unsigned long long)(runs - iroots->newest));
    snprintf(buffer, size, "%llu exposed%s; %llu predicted, %llu of them not exposed%s%s%s",
             (unsigned long long)iroots->exposed, newest, (unsigned long long)iroots->predicted,
             (unsigned long long)iroots->left, combined, memo, end);
    return buffer;
}
