/* A set of hashes, each with the smallest number that it was noted with. Memory from malloc. */
#ifndef PCT_CLI_STATES_H
#define PCT_CLI_STATES_H

#include <stddef.h>
#include <stdint.h>

/* Begin with zeroes. */
struct pct_states {
    uint64_t *key; /* open addressing; 0: none */
    uint8_t *least;
    size_t count, room;
};

/* Note the hash with this number, up to 255. Returns 1: never with one as small before; 0: it was; -ENOMEM. */
int pct_states_note(struct pct_states *states, uint64_t hash, unsigned number);

/* How many were noted with this number, and none that is smaller. */
size_t pct_states_count(const struct pct_states *states, unsigned number);

void pct_states_free(struct pct_states *states);

#endif
