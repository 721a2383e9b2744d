/* An entry of the file of schedules that stands for all of them: `Schedule: explore [OPTION...]`. It holds as long as
 * `pct explore` with these options says "verified". Called by `pct add` and `pct check`. */
#ifndef PCT_CLI_EXPLORED_ENTRY_H
#define PCT_CLI_EXPLORED_ENTRY_H

#include <cli/analyze/schedules.h>

struct pct_explored_entry {
    int status; /* of `pct explore` */
    char *said; /* all that it said; to be freed */
    char *last; /* its last line, without the name of the command in front; to be freed */
};

/* Whether the field Schedule says so. */
bool pct_explored_entry_is(const char *schedule);

/* Explore, with up to `jobs` runs at a time. place ("FILE:LINE") stands before messages. Returns 0, or an exit status
 * after a message: nothing is known then. */
int pct_explored_entry_run(struct pct_explored_entry *result, const struct pct_entry *entry, const char *place,
                           unsigned jobs);

#endif
