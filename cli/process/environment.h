/* The environment of a target: ours, with what the shim needs. Called by launch.c before it forks. */
#ifndef PCT_CLI_ENVIRONMENT_H
#define PCT_CLI_ENVIRONMENT_H

#include "launch.h"

/* Returns a vector for execve() in one block that the caller frees, or NULL when memory is short. trace: the path of
 * its trace. */
char **pct_environment_make(const struct pct_process *process, const char *trace);

/* Our environment without anything that pct or the dynamic linker would act upon: for a client. The vector is the
 * caller's to free, its strings are not; NULL when memory is short. */
char **pct_environment_plain(void);
/* The same with this TMPDIR, NULL: ours. */
char **pct_environment_around(const char *temporary);

/* Complain about a variable in our own environment that begins with PCT_ and is unknown, or that cannot go with the
 * command (`run` takes no PCT_TOKEN). Returns 0 or PCT_EXIT_USAGE. */
int pct_environment_check(bool replaying);

#endif
