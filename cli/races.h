/* The data races of a snapshot in a report: both accesses with their stacks, threads and locks. */
#ifndef PCT_CLI_RACES_H
#define PCT_CLI_RACES_H

#include "unwind.h"
#include <stdio.h>

/* unwinder may be NULL: then there are addresses only. */
void pct_races_print(FILE *out, const struct pct_snapshot *snapshot, struct pct_unwinder *unwinder);

#endif
