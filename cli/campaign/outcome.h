/* What run and replay print about a run that failed: the output that was captured, the report, the line that replays
 * it. */
#ifndef PCT_CLI_OUTCOME_H
#define PCT_CLI_OUTCOME_H

#include <cli/process/launch.h>

/* "deadlock", "exit status 3", "killed by signal 9 (Killed)": the ending in a few words. Returns buffer. */
const char *pct_outcome_format(char *buffer, size_t size, const struct pct_process *process,
                               const struct pct_result *result);

/* What was collected of the output of a run, with headings if there is a client, or if told to. */
void pct_outcome_show_output(const struct pct_process *process, bool heading);

/* How it ended in a line, where the trace does not say it itself, or not as well: the client failed, it was killed.
 * False: the trace says it. */
bool pct_outcome_headline(char *buffer, size_t size, const struct pct_process *process,
                          const struct pct_result *result);

/* The report of a failing run, on standard error. */
void pct_outcome_report(const struct pct_process *process, const struct pct_result *result);

/* Of that only how the run ended, and who waits for whom in a cycle: see pct_report_print_ending(). */
void pct_outcome_report_briefly(const struct pct_process *process, const struct pct_result *result);

/* The same to another place. */
void pct_outcome_write_report(FILE *out, const struct pct_process *process, const struct pct_result *result);

/* The command that replays the run by this token, without `pct` in front and without a line end. */
void pct_outcome_write_replay(FILE *out, const struct pct_launch *launch, const struct pct_process *process,
                              const struct pct_result *result, const char *token);

/* The command that replays the run, on standard error: nothing but it on its line, to be copied. */
void pct_outcome_print_replay(const struct pct_launch *launch, const struct pct_process *process,
                              const struct pct_result *result);

/* The same, of this token: the header's, with a list that is too long for it. */
void pct_outcome_print_replay_of(const struct pct_launch *launch, const struct pct_process *process,
                                 const struct pct_result *result, const char *token);

/* This run tells nothing, and the next one would not either: it left no trace, or none that can be read, or its client
 * cannot be run, or a trap of pct's own has killed it. */
bool pct_outcome_is_void(const struct pct_result *result);

/* Say why, and return the exit status for it. Also shows what the target wrote, which may say more. */
int pct_outcome_explain(const struct pct_launch *launch, const struct pct_process *process,
                        const struct pct_result *result);

#endif
