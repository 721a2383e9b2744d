/* An entry of the file of schedules that names a sub-command in the place of a token, and is run by it:
 *
 *     Schedule: explore [OPTION...]        holds as long as `pct explore` with these options says "verified"
 *     Schedule: script [OPTION...] FILE    holds as long as the program passes when `pct script` has this schedule made
 *
 * Called by `pct add` and `pct check`. */
#ifndef PCT_CLI_SUBCOMMAND_ENTRY_H
#define PCT_CLI_SUBCOMMAND_ENTRY_H

#include <cli/analyze/schedules.h>

enum pct_subcommand_entry_kind { PCT_ENTRY_TOKEN, PCT_ENTRY_EXPLORE, PCT_ENTRY_SCRIPT };

enum pct_subcommand_entry_outcome {
    PCT_ENTRY_UNABLE, /* nothing is known */
    PCT_ENTRY_HOLDS,
    PCT_ENTRY_FAILS,
    PCT_ENTRY_DID_NOT_FIT /* the threads cannot do what the script says: whether the bug is there is not known */
};

struct pct_subcommand_entry {
    enum pct_subcommand_entry_outcome outcome;
    int status; /* of the sub-command */
    char *said; /* all that it said; to be freed */
    char *last; /* what came of it, in a line, without the name of the command in front; to be freed */
};

/* What the field Schedule names; TOKEN: no sub-command. */
enum pct_subcommand_entry_kind pct_subcommand_entry_kind(const char *schedule);

/* Whether its fields are words, and name a program: before anything is run. Returns 0, or an exit status after a
 * message. */
int pct_subcommand_entry_check(const struct pct_entry *entry, const char *place);

/* Run it; `pct explore` makes up to `jobs` runs at a time. place ("FILE:LINE") stands before messages. Returns 0, or an
 * exit status after a message: nothing is known then. */
int pct_subcommand_entry_run(struct pct_subcommand_entry *result, const struct pct_entry *entry, const char *place,
                             unsigned jobs);

#endif
