/* A campaign as plain JSON: all that is known, for programs of the user's own. docs/REPORTS.md has the members. */
#include <cli/base/cli.h>
#include "export.h"
#include <cli/base/json.h>

static void add_place(struct json_object *to, const struct pct_summary_place *place)
{
    if (!place->path)
        return;
    pct_json_add_string(to, "file", place->path);
    if (place->line > 0)
        pct_json_add_number(to, "line", (uint64_t)place->line);
}

static void add_stacks(struct json_object *to, const struct pct_summary_finding *f)
{
    struct json_object *stacks = pct_json_add_array(to, "stacks"), *frames = NULL;
    for (size_t i = 0; i < f->frame_count; i++) {
        const struct pct_store_frame *frame = &f->frames[i].frame;
        if (!i || frame->stack != f->frames[i - 1].frame.stack) {
            struct json_object *stack = pct_json_append_object(stacks);
            pct_json_add_number(stack, "thread", frame->thread);
            pct_json_add_string(stack, "doing", frame->doing);
            frames = pct_json_add_array(stack, "frames");
        }
        struct json_object *object = pct_json_append_object(frames);
        if (frame->function[0])
            pct_json_add_string(object, "function", frame->function);
        add_place(object, &f->frames[i].place);
        pct_json_add_string(object, "module", frame->module);
        pct_json_add_number(object, "offset", frame->offset);
    }
}

static void add_finding(struct json_object *to, const struct pct_summary_finding *finding, bool drawn)
{
    const struct pct_store_finding *f = &finding->finding;
    struct json_object *object = pct_json_append_object(to);
    char signature[20];
    snprintf(signature, sizeof signature, "%016llx", (unsigned long long)f->signature);
    pct_json_add_number(object, "id", (uint64_t)f->id);
    pct_json_add_string(object, "signature", signature);
    pct_json_add_string(object, "verdict", f->verdict);
    pct_json_add_number(object, "code", (uint64_t)f->code);
    pct_json_add_string(object, "title", f->title);
    pct_json_add_string(object, "message", f->message);
    add_place(object, &finding->place);
    pct_json_add_number(object, "runs", f->count);
    struct json_object *rate = drawn ? pct_json_add_object(object, "rate") : NULL;
    if (rate) {
        pct_json_add_double(rate, "low", finding->rate.low);
        pct_json_add_double(rate, "high", finding->rate.high);
    }
    pct_json_add_seed(object, "seed", f->seed);
    pct_json_add_string(object, "token", f->token);
    pct_json_add_string(object, "replay", f->replay);
    struct json_object *replays = pct_json_add_object(object, "replays");
    pct_json_add_number(replays, "made", f->replays);
    pct_json_add_number(replays, "same", f->same);
    pct_json_add_number(replays, "other", f->other);
    pct_json_add_number(replays, "identical", f->identical);
    pct_json_add_string(object, "uncontrolled", f->uncontrolled);
    add_stacks(object, finding);
    if (finding->cause)
        pct_json_add_string(object, "cause", finding->cause);
    if (finding->held)
        pct_json_add_string(object, "held", finding->held);
    pct_json_add_string(object, "report", f->report);
    pct_json_add_string(object, "output", finding->output_text);
}

static void add_totals(struct json_object *to, const struct pct_summary *s)
{
    const struct pct_store_totals *t = &s->totals;
    pct_json_add_number(to, "runs", t->runs);
    pct_json_add_number(to, "failures", t->failures);
    pct_json_add_number(to, "schedules", t->schedules);
    pct_json_add_number(to, "pairs", t->pairs);
    pct_json_add_number(to, "pairs_last_new", t->newest);
    pct_json_add_number(to, "threads", t->max_threads);
    pct_json_add_number(to, "steps", t->max_steps);
    pct_json_add_double(to, "seconds", t->seconds);
    pct_json_add_number(to, "sessions", t->sessions);
    struct json_object *uncontrolled = pct_json_add_object(to, "uncontrolled");
    for (size_t i = 0; i < s->uncontrolled_count; i++)
        pct_json_add_number(uncontrolled, s->uncontrolled[i].name, s->uncontrolled[i].count);
}

/* Nothing where the campaign was to have none. */
static void add_systematic(struct json_object *to, const struct pct_summary *s)
{
    uint64_t most = pct_store_number(s->store, "systematic"), below = pct_store_number(s->store, "systematic_below");
    if (!most)
        return;
    struct json_object *object = pct_json_add_object(to, "systematic");
    pct_json_add_number(object, "most", most);
    pct_json_add_number(object, "runs", s->systematic.runs);
    pct_json_add_number(object, "failures", s->systematic.failures);
    pct_json_add_number(object, "schedules", s->systematic.schedules);
    if (below)
        pct_json_add_number(object, "preemptions", below - 1);
}

static void add_iroots(struct json_object *to, const struct pct_summary *s)
{
    if (!s->has_iroots)
        return;
    struct json_object *object = pct_json_add_object(to, "iroots");
    pct_json_add_number(object, "exposed", s->iroots.exposed);
    pct_json_add_number(object, "last_new", s->iroots.newest);
    pct_json_add_number(object, "predicted", s->iroots.predicted);
    pct_json_add_number(object, "predicted_not_exposed", s->iroots.left);
    pct_json_add_number(object, "combined", s->iroots.combined);
    pct_json_add_number(object, "memo", s->iroots.memo);
    pct_json_add_bool(object, "saturated", s->iroots.saturated);
}

int pct_export_json(FILE *out, const struct pct_summary *summary)
{
    static const char *const facts[] = { "options", "judging", "spec" };
    static const char *const numbers[] = { "created", "epoch", "shard", "of" };
    struct json_object *root = json_object_new_object();
    pct_json_add_string(root, "format", "pct-campaign");
    pct_json_add_number(root, "version", 1);
    pct_json_add_string(root, "pct", PCT_CLI_VERSION);
    pct_json_add_string(root, "command", summary->command);
    pct_json_add_string(root, "program", summary->program);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        pct_json_add_string(root, facts[i], pct_store_fact(summary->store, facts[i]));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        pct_json_add_number(root, numbers[i], pct_store_number(summary->store, numbers[i]));
    pct_json_add_seed(root, "seed", pct_store_number(summary->store, "seed"));
    pct_json_add_number(root, "planned", pct_store_number(summary->store, "runs"));
    add_totals(root, summary);
    add_systematic(root, summary);
    add_iroots(root, summary);
    if (summary->guarantee) {
        pct_json_add_string(root, "guarantee", summary->guarantee);
        pct_json_add_string(root, "claim", summary->guarantee); /* its former name */
    }
    struct json_object *findings = pct_json_add_array(root, "findings");
    for (size_t i = 0; i < summary->count; i++)
        add_finding(findings, &summary->findings[i], !*pct_store_fact(summary->store, "bound"));
    struct json_object *curve = pct_json_add_array(root, "curve");
    for (size_t i = 0; i < summary->points; i++) {
        const struct pct_curve_point *point = &summary->curve[i];
        struct json_object *object = pct_json_append_object(curve);
        pct_json_add_number(object, "runs", point->runs);
        pct_json_add_number(object, "failures", point->failures);
        pct_json_add_number(object, "findings", point->findings);
        pct_json_add_number(object, "schedules", point->schedules);
        pct_json_add_number(object, "pairs", point->pairs);
        if (summary->has_iroots)
            pct_json_add_number(object, "iroots", point->iroots);
    }
    return pct_json_print(out, root);
}
