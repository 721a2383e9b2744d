/* What runs have as their standard input. A single run has ours. Of several, each reads the same from its start: a file
 * (--stdin, or a redirection), or what came by a pipe, which is kept in memory. So is a pipe that an argument names.
 * Other files that are inherited open for reading each run reads from where they stood. */
#ifndef PCT_CLI_INPUT_H
#define PCT_CLI_INPUT_H

struct pct_launch;

/* Where it is a pipe, which can be read once, put a file of what comes in the place of our own standard input; and,
 * for several runs, in that of each pipe which the command line names (`/dev/fd/63`, as a shell's <(...) does). Before
 * pct_supervise(), and before anything is started that has runs of its own. Returns 0, or an exit status for the
 * command, after a message. */
int pct_input_settle(struct pct_launch *launch);

/* Settle it where it is not that of a single run, and set `input`, `input_is_file`, `input_kept` and `inherited` of the
 * launch; and `stdin_file`, where a file was redirected. Returns likewise. */
int pct_input_prepare(struct pct_launch *launch);

/* What the next run reads from its start, -1: ours, as it is. The caller closes it. */
int pct_input_open(const struct pct_launch *launch);

void pct_input_close(struct pct_launch *launch);

#endif
