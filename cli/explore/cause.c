/* What tells the classes that fail from those that pass, with the places in the code, which a replay of the finding
 * knows: see explorer.h. */
#include "explorer.h"
#include <cli/base/cli.h>
#include <cli/diagnose/history.h>
#include <cli/diagnose/print.h>
#include <stdlib.h>

/* A replay of the finding, kept with the stacks before these steps, or with places alone ("on"). */
static bool replay(struct pct_campaign *c, const struct pct_finding *finding, const char *sites,
                   struct pct_ended_run *run, struct pct_history *history)
{
    struct pct_engine engine = { .launch = &c->launch, .quiet = true };
    struct pct_run_spec spec = { .index = UINT64_MAX, .sites = sites };
    char error[256];
    if (pct_run_spec_parse(&spec, finding->token, error, sizeof error) || pct_engine_run_one(&engine, &spec, run))
        return false;
    if (!pct_history_open(history, &run->result.trace))
        return true;
    pct_ended_run_close(run);
    return false;
}

/* The step that is this operation; PCT_NO_STEP: it is not in the run. */
static uint32_t step_of(const struct pct_history *h, const struct pct_separated *operation)
{
    uint32_t nth = 0, last = operation->thread < h->threads ? h->last[operation->thread] : PCT_NO_STEP;
    if (operation->pending)
        return last != PCT_NO_STEP && h->steps[last].pending ? last : PCT_NO_STEP;
    for (uint32_t i = 0; i < h->count; i++)
        if (h->steps[i].thread == operation->thread && h->steps[i].op == operation->op && nth++ == operation->nth)
            return i;
    return PCT_NO_STEP;
}

/* The steps of the orderings, two by two. False: one of them is not in the run. */
static bool find_steps(const struct pct_history *h, const struct pct_separating *found, uint32_t *step)
{
    for (unsigned i = 0; i < found->orders; i++) {
        step[2 * i] = step_of(h, &found->order[i].first);
        step[2 * i + 1] = step_of(h, &found->order[i].then);
        if (step[2 * i] == PCT_NO_STEP || step[2 * i + 1] == PCT_NO_STEP)
            return false;
    }
    return true;
}

static void print(FILE *out, const struct pct_history *h, const struct pct_separating *found, const uint32_t *step)
{
    const char *these = found->orders == 1 ? "this ordering" : "all of these orderings";
    if (found->classes == found->failing)
        fprintf(out, "  cause, exact: each class that fails so (%llu) has %s, and none that passes (%llu):\n",
                (unsigned long long)found->failing, these, (unsigned long long)found->passing);
    else
        fprintf(out,
                "  cause, exact: of the classes that fail so, %llu of %llu have %s, and none that passes (%llu):\n",
                (unsigned long long)found->classes, (unsigned long long)found->failing, these,
                (unsigned long long)found->passing);
    for (unsigned i = 0; i < found->orders; i++) {
        pct_diagnosis_print_step(out, h, step[2 * i], "comes before");
        pct_diagnosis_print_step(out, h, step[2 * i + 1], i + 1 < found->orders ? "and" : NULL);
    }
}

char *pct_explorer_cause(const struct pct_explorer *e, struct pct_campaign *c, const struct pct_finding *finding)
{
    static struct pct_ended_run run; /* large */
    struct pct_separating found;
    struct pct_history history;
    uint32_t step[2 * PCT_SEPARATION_ORDERS];
    char *text = NULL;
    size_t size;
    if (!pct_separation_find(e->classes, finding->hash, &found) || !replay(c, finding, "on", &run, &history))
        return NULL;
    bool there = find_steps(&history, &found, step);
    char *stacks = there ? pct_diagnosis_stacks_of(&history, step, 2 * found.orders) : NULL;
    pct_history_close(&history);
    pct_ended_run_close(&run);
    FILE *out = NULL;
    if (there && replay(c, finding, stacks ? stacks : "on", &run, &history)) {
        if (find_steps(&history, &found, step) && (out = open_memstream(&text, &size)))
            print(out, &history, &found, step);
        pct_history_close(&history);
        pct_ended_run_close(&run);
    }
    free(stacks);
    return out && fclose(out) ? NULL : text;
}
