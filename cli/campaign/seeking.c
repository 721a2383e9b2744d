/* Looking for a failure like one that is known: see seeking.h. */
#include "seeking.h"
#include "busy_clock.h"
#include "signature.h"
#include <cli/base/cli.h>
#include <stdio.h>

enum { MOST = 1000 };

struct seeking {
    struct pct_run_source base; /* the first member */
    const struct pct_diagnosing *d;
    struct pct_config config; /* of the failing run */
    uint64_t points;          /* the most that a run had so far */
    uint64_t signature;       /* of its failure */
    uint64_t next;
    struct pct_busy_clock clock;
    double seconds;
    char *token;
    size_t size;
    bool found;
};

static int next(struct pct_run_source *source, struct pct_run_spec *spec)
{
    struct seeking *s = (struct seeking *)source;
    if (s->found || s->next > MOST || pct_busy_clock_now(&s->clock) > s->seconds)
        return PCT_RUNS_WAIT;
    spec->index = s->next++;
    pct_diagnosing_make_other(&s->config, s->points, spec->index, &spec->config);
    return PCT_RUNS_ON;
}

static int ended(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct seeking *s = (struct seeking *)source;
    uint64_t points = pct_trace_points(&run->result.trace);
    s->points = points > s->points ? points : s->points;
    s->found =
        !pct_diagnosing_passes(s->d, &run->result) && pct_signature_of(&run->process, &run->result) == s->signature;
    if (s->found)
        snprintf(s->token, s->size, "%s", run->result.trace.header.token);
    return s->found ? PCT_RUNS_ENOUGH : PCT_RUNS_ON;
}

int pct_seeking_run(struct pct_diagnosing *d, double seconds, char *token, size_t size, bool *found)
{
    struct seeking s = { .base = { .next = next, .ended = ended },
                         .d = d,
                         .points = pct_trace_points(&d->run.result.trace),
                         .next = 1,
                         .seconds = seconds,
                         .token = token,
                         .size = size };
    char error[512];
    *found = false;
    if (!d->have || pct_config_parse_token(&s.config, d->token, pct_cli_find_strategy, error, sizeof error) ||
        !(s.signature = pct_signature_of(&d->run.process, &d->run.result)))
        return 0;
    s.config.memory = PCT_PATCH_ALL;
    pct_busy_clock_start(&s.clock, d->patience, d->jobs);
    int failed = pct_diagnosing_make_runs(d, &s.base);
    *found = s.found;
    return failed;
}
