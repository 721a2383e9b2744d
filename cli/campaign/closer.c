/* Diagnosing a run that fails alike and shows accesses to memory: see closer.h. */
#include "closer.h"
#include "seeking.h"
#include "trials.h"
#include <cli/base/cli.h>
#include <cli/binary/memory_advice.h>

bool pct_closer_helps(const struct pct_diagnosing *d)
{
    struct pct_config config;
    char error[512];
    return d->have && !d->replay && !d->interrupted && !pct_trials_trust(d) && !pct_evidence_by_numbers(&d->evidence) &&
           !pct_evidence_by_choices(&d->evidence) && d->run.result.trace.header.threads > 1 &&
           !pct_config_parse_token(&config, d->token, pct_cli_find_strategy, error, sizeof error) &&
           pct_memory_is_unseen(&config, d->launch->command[0]);
}

int pct_closer_look(struct pct_closer *c, struct pct_diagnosing *d, double seconds)
{
    bool found = false;
    int failed = pct_seeking_run(d, seconds, c->token, sizeof c->token, &found);
    if (failed || !found)
        return failed;
    c->diagnosing = (struct pct_diagnosing){ .launch = d->launch,
                                             .jobs = d->jobs,
                                             .token = c->token,
                                             .ok = d->ok,
                                             .others = d->others,
                                             .seconds = seconds,
                                             .patience = d->patience,
                                             .quiet = d->quiet,
                                             .tell = d->tell,
                                             .context = d->context };
    failed = pct_diagnosing_run(&c->diagnosing);
    c->better = pct_trials_trust(&c->diagnosing) || (c->diagnosing.known && !d->known);
    return failed;
}

void pct_closer_close(struct pct_closer *c)
{
    pct_diagnosing_close(&c->diagnosing);
}
