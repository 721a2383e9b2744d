/* The lines of a script beside the steps that they took. */
#ifndef PCT_CLI_SCRIPT_LINES_H
#define PCT_CLI_SCRIPT_LINES_H

#include <cli/trace/trace_read.h>
#include <common/script.h>
#include <stdio.h>

/* Print what the script waited for, a row each: the line, from and to which step of the run (none: it was so already),
 * the threads that it was about, and its text. script: the whole text. */
void pct_script_print_lines(FILE *out, struct pct_script_channel *channel, const char *script);

/* The same for those who read the trace: save it, as pct_trace_save() does and returns, with the script and what it
 * waited for in a section of its own, and so the traces that other processes left, by trace_path, *others of them. That
 * of a run that was killed is saved as it is. */
int pct_script_save_trace(const struct pct_trace *trace, struct pct_script_channel *channel, const char *trace_path,
                          const char *path, unsigned *others, char *error, size_t error_size);

/* The script has lines for it, and it has left no trace: it was killed, or went on. */
bool pct_script_is_traceless(const struct pct_script_process *process);

#endif
