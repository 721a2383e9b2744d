/* The runs of `pct script --all` from when their ways are known until they were looked at. With --all=dpor some of them
 * are guessed, and may never be looked at. */
#ifndef PCT_CLI_SCRIPT_SLOTS_H
#define PCT_CLI_SCRIPT_SLOTS_H

#include "dpor.h"

enum pct_slot_state { PCT_SLOT_FREE, PCT_SLOT_PICKED, PCT_SLOT_BEGUN };

struct pct_slot {
    enum pct_slot_state state;
    bool over;                      /* it has ended, and waits to be looked at */
    uint64_t index;                 /* of those that were picked */
    struct pct_script_choice *plan; /* with room for all */
    uint32_t planned;
    struct pct_dpor_way way;            /* with --all=dpor */
    struct pct_script_channel *channel; /* what its worker's had when the run ended */
};

struct pct_slots {
    struct pct_slot *slot;
    unsigned count;
    uint64_t picked;
};

/* This many, each with a channel of this many bytes. False: no memory. To be freed in any case. */
bool pct_slots_make(struct pct_slots *slots, unsigned count, size_t channel_size);
void pct_slots_free(struct pct_slots *slots);

/* The one in this state of the run that was picked first; NULL: there is none. */
struct pct_slot *pct_slots_find(const struct pct_slots *slots, enum pct_slot_state state);

/* That of the run with this index, and of a run that goes this way; NULL: there is none. */
struct pct_slot *pct_slots_of(const struct pct_slots *slots, uint64_t index);
struct pct_slot *pct_slots_of_way(const struct pct_slots *slots, const struct pct_dpor_way *way);

/* A run is picked for this free slot. */
void pct_slots_take(struct pct_slots *slots, struct pct_slot *slot);

/* How many are not free. ahead: but for those that are over. */
unsigned pct_slots_open_runs(const struct pct_slots *slots, bool ahead);

#endif
