/* Programs that pct runs to their end, not under control: its own sub-commands, and what names test cases. Called by
 * --each-test, --explore, `pct add`, `pct check` and `pct explain`. */
#ifndef PCT_CLI_SUBCOMMAND_H
#define PCT_CLI_SUBCOMMAND_H

#include <sys/types.h>

#define PCT_SUBCOMMAND_SELF "/proc/self/exe" /* the file of pct */

/* Start it; it ends with us. words: ended by NULL; out, error: its standard output and error, or -1: ours. Returns its
 * process id, or a negative errno. */
pid_t pct_subcommand_start(const char *file, char *const *words, int out, int error);

/* Returns its exit status, or 128 + the signal that has ended it. */
int pct_subcommand_wait(pid_t pid);

/* Run pct with these words, which are split as a shell would; its standard output is ours. *said: what it has said on
 * standard error, to be freed; *status: as above. Returns 0; -EINVAL: no shell would take them; or another negative
 * errno: it could not be started. */
int pct_subcommand_read(const char *words, char **said, int *status);

#endif
