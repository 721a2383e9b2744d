/* A finding of a campaign, looked at again: is it replayed, and what is its cause? Called by recorder.c. */
#ifndef PCT_CLI_CONFIRMING_H
#define PCT_CLI_CONFIRMING_H

#include "recorder.h"
#include "store.h"

/* Replay the finding, into the numbers of *row; what pct could not order then is added to the finding's own. Where all
 * replays are the same, and runs are short, diagnose it: row->report is then the cause in words, and row->file and line
 * the place in the source that it speaks of first; otherwise NULL. Returns 0, or an exit status after a message. The
 * strings are freed by pct_confirming_close(), in any case. */
int pct_confirming_run(struct pct_recorder *recorder, struct pct_campaign *c, struct pct_recorder_finding *finding,
                       struct pct_store_finding *row);
void pct_confirming_close(struct pct_store_finding *row);

#endif
