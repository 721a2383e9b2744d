/* The data races of a snapshot in a report: both accesses with their stacks, threads and locks. */
#ifndef PCT_CLI_RACES_H
#define PCT_CLI_RACES_H

#include "unwind.h"
#include <stdio.h>

/* unwinder may be NULL: then there are addresses only. */
void pct_races_print(FILE *out, const struct pct_snapshot *snapshot, struct pct_unwinder *unwinder);

/* How many races were not counted because the user does not want them to be; nothing if none was. */
void pct_races_print_suppressed(FILE *out, uint32_t count);

/* The same of the run that had the most, of one or several, on standard error. */
void pct_races_say_suppressed(uint32_t count, bool several);

#endif
