/* What `pct campaign` prints at its end, and `pct campaign report` again. */
#ifndef PCT_CLI_CAMPAIGN_REPORT_H
#define PCT_CLI_CAMPAIGN_REPORT_H

#include <cli/campaign/store.h>
#include <stdio.h>

/* The campaign, its findings with the commands that replay them, or what a clean result is worth. whole: the stacks and
 * the last steps of each finding, too. Returns 0 or a negative errno: pct_store_error(). */
int pct_campaign_report_print(FILE *out, struct pct_store *store, bool whole);

/* The sub-commands of `pct campaign`, with argv[0] as their name. Return the exit status. command/campaign_files.c */
int pct_campaign_report_command(int argc, char **argv);
int pct_campaign_merge_command(int argc, char **argv);

#endif
