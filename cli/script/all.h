/* `pct script --all`. */
#ifndef PCT_CLI_SCRIPT_ALL_H
#define PCT_CLI_SCRIPT_ALL_H

#include "script.h"

/* A run for each way that the choices of the script can go. Returns the exit status, after messages. */
int pct_script_all(struct pct_script_runs *runs);

#endif
