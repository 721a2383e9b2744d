/* Who has the terminal while a single run goes on: its process group, and behind that ours again, as a shell does it
 * for its jobs. */
#ifndef PCT_CLI_TERMINAL_H
#define PCT_CLI_TERMINAL_H

struct pct_launch;
struct pct_process;

/* The target's group has the terminal no longer. Where a shell has it since we were stopped (`bg`), it stays there. */
void pct_terminal_take(const struct pct_launch *launch);

/* The terminal's user has stopped the target by this signal (Ctrl-Z): stop with it, and go on with it. Where that was
 * behind a shell (`bg`), the target may want the terminal, which the shell may have given to us alone (`fg`). */
void pct_terminal_follow_stop(struct pct_launch *launch, const struct pct_process *process, int signal);

#endif
