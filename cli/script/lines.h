/* The lines of a script beside the steps that they took. */
#ifndef PCT_CLI_SCRIPT_LINES_H
#define PCT_CLI_SCRIPT_LINES_H

#include <common/script.h>
#include <stdio.h>

/* Print what the script waited for, a row each: the line, from and to which step of the run (none: it was so already),
 * the threads that it was about, and its text. script: the whole text. */
void pct_script_print_lines(FILE *out, struct pct_script_channel *channel, const char *script);

#endif
