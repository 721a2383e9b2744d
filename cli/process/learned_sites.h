/* What the runs of a campaign teach about places in the code (common/ordered.h), kept from one campaign to the next. */
#ifndef PCT_CLI_LEARNED_SITES_H
#define PCT_CLI_LEARNED_SITES_H

#include <cli/trace/trace_read.h>

struct pct_ordered {
    struct pct_snap_place *item; /* in rising order of names */
    size_t count;
};

/* Add what a run has taught. Returns 0 or -ENOMEM. */
int pct_ordered_add(struct pct_ordered *ordered, const struct pct_trace *trace);

/* How many of them are skipped in later runs. */
size_t pct_ordered_skipped(const struct pct_ordered *ordered);

/* The directory of the files; "" if there is no place for one. */
void pct_ordered_find(char *path, size_t size);

/* Keep them in a file named by their digest, which is returned; 0: nothing is skipped yet, or (after a message) it
 * could not be written. */
uint64_t pct_ordered_save(const struct pct_ordered *ordered);

/* Read the file of this digest. False: it is not there, or not what its name says. */
bool pct_ordered_load(struct pct_ordered *ordered, uint64_t digest);

/* Whether a replay of a token with this digest (0: none) has what it needs. Else the status for usage, after a message.
 */
int pct_ordered_check(uint64_t digest);

void pct_ordered_free(struct pct_ordered *ordered);

#endif
