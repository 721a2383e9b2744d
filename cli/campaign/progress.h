/* How far a campaign is, or the work of minimize and explain: a line that changes on a terminal, a line a minute in a log. On standard error. */
#ifndef PCT_CLI_PROGRESS_H
#define PCT_CLI_PROGRESS_H

#include "campaign.h"
#include "trial.h"

/* Whoever waits for runs does so for so many seconds at a time, and draws. */
#define PCT_PROGRESS_TICK 0.2

/* Say it, if it is time to. begun: when this session began, on the clock of pct_cli_now(). *drawn: when it was last said, 0 at first;
 * kept here. */
void pct_progress_draw(const struct pct_campaign *c, double begun, size_t findings, double *drawn);

/* Say how far these trials are, if it is time to. */
void pct_progress_draw_trials(struct pct_trials *trials);

/* Make room for other lines. */
void pct_progress_clear(bool quiet);

#endif
