/* What is known of how a program differs from the one that a schedule is from: said where a replay is not the recorded
 * run. */
#ifndef PCT_CLI_PROGRAM_CHANGED_H
#define PCT_CLI_PROGRAM_CHANGED_H

#include <common/config.h>

/* name: the token, trace or schedule file that the user gave; config: what it says, with the switches of a file in it;
 * program: the path of the one that is run now. Says whether that was written later, and which functions have changed,
 * or what would tell. */
void pct_program_changed_say(const char *name, const struct pct_config *config, const char *program);

/* Where the nearest schedule that fails may be found, if this is one that can be moved. */
void pct_program_changed_offer(const char *name, const struct pct_config *config);

#endif
