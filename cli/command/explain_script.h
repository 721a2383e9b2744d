/* `pct explain --script`: the orderings that a bug needs as a script, which was tried. */
#ifndef PCT_CLI_EXPLAIN_SCRIPT_H
#define PCT_CLI_EXPLAIN_SCRIPT_H

#include <cli/analyze/analysis.h>

/* Write it to this file, and say how it is run. An existing file is replaced if the program fails under the new script
 * as it did before, and not otherwise. *found: there is one. Returns 0, or the exit status for the command, after a
 * message. */
int pct_explain_script(const struct pct_analysis *analysis, const char *path, bool *found);

/* For scripts of this failing run, by whoever writes them: */
struct pct_script_trial {
    const struct pct_query_runs *runs;
    const struct pct_process *process;       /* of one of them */
    bool (*write)(FILE *out, void *context); /* false: there is no such script */
    void *context;
};
/* Whether the program fails as before under what is written; *text: that, to be freed. Returns 1 or 0, or a negative
 * errno. */
int pct_explain_script_try(const struct pct_script_trial *trial, char **text);
/* Keep it in this file, and say how it is run. note: before that, or NULL. Returns 0, or the exit status. */
int pct_explain_script_keep(const struct pct_script_trial *trial, const char *path, const char *text, const char *note);

#endif
