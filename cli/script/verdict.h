/* What came of a run under a script: of the script, and of the program. Used by runs.c and all.c. */
#ifndef PCT_CLI_SCRIPT_VERDICT_H
#define PCT_CLI_SCRIPT_VERDICT_H

#include "script.h"

/* Why the script did not come to its end; the program has not failed. ending: of the run, by pct_outcome_format().
 * Lives as long as the channel, until the next call. */
const char *pct_script_why_unfit(const struct pct_script_channel *channel, const char *ending);

/* Which process that is about, "process 2: "; "" for the first. Lives until the next call. */
const char *pct_script_speaker(const struct pct_script_channel *channel);

/* How many steps it took to the end of the script, in words. Lives until the next call. */
const char *pct_script_steps(const struct pct_script_channel *channel);

/* The threads have begun, and could not do what the script says. failed: the program has. */
bool pct_script_is_unfit(const struct pct_script_channel *channel, bool failed);

/* The threads only spin, while the script keeps from going on whom they wait for. */
bool pct_script_only_waits(const struct pct_script_channel *channel, const struct pct_result *result);

/* The program has failed; one that only waits has not. */
bool pct_script_has_failed(const struct pct_script_runs *runs, const struct pct_script_channel *channel,
                           const struct pct_result *result);

/* Say it, and unless all is to be quiet, which steps each line of the script took. ending: that of the program, as
 * pct_outcome_format() has it. */
void pct_script_say(const struct pct_script_runs *runs, struct pct_script_channel *channel, bool failed,
                    const char *ending);

/* Make the run again, by its schedule and without the script, report its failure, and print the command that replays
 * it. Returns 0, or the exit status after a message; -1 after a message, too: it was another run, or its schedule is
 * too long for a token, and nothing was reported. */
int pct_script_repeat(struct pct_script_runs *runs, struct pct_script_channel *channel, const struct pct_result *result,
                      bool failed);

/* Keep its trace, if somebody wants that. */
void pct_script_keep_trace(const struct pct_script_runs *runs, struct pct_script_channel *channel,
                           const struct pct_ended_run *run);

/* Whether it did not fit, and the program, which went on without the script, did not end in the time that it then has
 * (pct_script_hurry()). */
bool pct_script_went_on(const struct pct_script_runs *runs, const struct pct_script_channel *c,
                        const struct pct_result *result);

enum { PCT_SCRIPT_UNFIT_SECONDS = 10 };

/* For a source's tick(): runs in which the script did not fit have so much time to end, if that is a failure anyway. */
void pct_script_hurry(struct pct_script_runs *runs, struct pct_engine *engine);

#endif
