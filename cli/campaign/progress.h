/* How far a campaign is: a line that changes on a terminal, a line a minute in a log. On standard error. */
#ifndef PCT_CLI_PROGRESS_H
#define PCT_CLI_PROGRESS_H

#include "campaign.h"
#include <cli/base/status_line.h>

/* Say it, if it is time to. begun: when this session began, on the clock of pct_cli_now(). *drawn: when it was last
 * said, 0 at first; kept here. */
void pct_progress_draw(const struct pct_campaign *c, double begun, size_t findings, double *drawn);

/* Of `pct run -n`, whose failures have no numbers: on the line of a terminal (c->progress), whenever it is asked to. */
void pct_progress_draw_runs(const struct pct_campaign *c, double begun);

/* This run of it has failed, and counts when one before it that was cut is decided. */
void pct_progress_say_early(const struct pct_campaign *c, const struct pct_process *process,
                            const struct pct_result *result);

/* This campaign was interrupted: say, on standard error, what it has seen and does not count. */
void pct_progress_say_undecided(const struct pct_campaign *c);

#endif
