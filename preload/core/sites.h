/* Where in the target's code each step is made (PCT_SITES): the host's side of sched/sites.c. */
#ifndef PCT_PRELOAD_SITES_H
#define PCT_PRELOAD_SITES_H

#include <sched/sched.h>

/* Read the variable's value: "on"; "calls": without who called; "family"; or the numbers of the steps before which
 * stacks are to be kept too, rising, with commas between them. Returns false if it is none of these. At the start. */
bool pct_sites_parse(const char *value);

/* What the run records, whose environment does not say it: which, of common/forkserver.h. Before it begins. */
void pct_sites_want(unsigned which);

/* Whether it was "family": each child leaves a trace, too, however it ends. */
bool pct_sites_of_family(void);

/* Have the run that is about to begin recorded so. */
void pct_sites_begin(struct pct_sched *s);

/* The stacks that were kept: sections of the snapshot, whole. *size: bytes. NULL: none. At the end of the run. */
const void *pct_sites_stacks(size_t *size);

/* The thread stands at a point: at least so much of its stack, from here on, belongs to its own code; 0: not known. */
uint64_t pct_sites_stack_of(const struct pct_thread *thread);

uint64_t pct_sites_call(const struct pct_thread *thread);
uint16_t pct_sites_callers(const struct pct_thread *thread);
void pct_sites_keep_stack(const struct pct_thread *thread, uint64_t step);

#endif
