/* How often each object is used, by whom and how: counted in the first runs of a campaign, for the strategies that
 * look at one object in each run (surw-one, hold). From the counts the object of a run is drawn, by its seed. */
#ifndef PCT_CLI_OBJECTS_H
#define PCT_CLI_OBJECTS_H

#include <common/config.h>
#include <cli/trace/trace_read.h>
#include <stdio.h>

struct pct_object_counts; /* NULL: nothing is known */

/* Add the operations of a run, by the numbers of their objects; with the first call a table is made. Threads,
 * descriptors, and objects numbered above 1,024 are left out. Returns 0, or -ENOMEM: nothing is added. */
int pct_objects_add(struct pct_object_counts **counts, const struct pct_trace *trace);
struct pct_object_counts *pct_objects_copy(const struct pct_object_counts *counts); /* NULL: out of memory */
void pct_objects_free(struct pct_object_counts **counts);

/* Choose the run of this configuration's seed, of a strategy that is another one in each run (mixture): config and
 * *strategy become those of the member. And where the strategy has a parameter `object` that is not given, draw that,
 * with the kind of access and the estimates of its threads, from what was counted. Without counts it stays open: the
 * strategy draws it. The same for the same configuration and counts. */
void pct_objects_settle(const struct pct_object_counts *counts, struct pct_config *config,
                        const struct pct_strategy **strategy);

/* The counts as text, for the campaign file, "" for none; and back: NULL where the text is none of these. */
void pct_objects_print(FILE *out, const struct pct_object_counts *counts);
struct pct_object_counts *pct_objects_parse(const char *text);

#endif
