/* A set of hashes, each with the smallest number that it was noted with. Memory from malloc. */
#ifndef PCT_CLI_STATES_H
#define PCT_CLI_STATES_H

#include <cli/base/table.h>

/* Begin with zeroes. */
struct pct_states {
    struct pct_table least; /* uint8_t */
};

/* Note the hash with this number, up to 255. Returns 1: never with one as small before; 0: it was; -ENOMEM. */
int pct_states_note(struct pct_states *states, uint64_t hash, unsigned number);

/* How many were noted with this number, and none that is smaller. */
size_t pct_states_count(const struct pct_states *states, unsigned number);

void pct_states_free(struct pct_states *states);

#endif
