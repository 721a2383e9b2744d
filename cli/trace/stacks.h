/* The threads of a snapshot in a report: state, what each was about to do, and its stack. Called by report.c. */
#ifndef PCT_CLI_STACKS_H
#define PCT_CLI_STACKS_H

#include "unwind.h"
#include <stdio.h>

/* "waits for mutex 3 `queue.lock` (lock), held by thread 2": what a blocked thread waits for. No line end. unwinder may
 * be NULL: there are no names then. */
void pct_stacks_print_wait(FILE *out, const struct pct_snapshot *snapshot, const struct pct_snap_thread *thread,
                           struct pct_unwinder *unwinder);

/* ", at FILE:LINE" or ", in FUNCTION": where the thread at this index stands; nothing if that is not known. */
void pct_stacks_print_place(FILE *out, struct pct_unwinder *unwinder, size_t index);

/* All threads that have not finished, those last that join others; of more than 20, those with the same stack together.
 * unwinder may be NULL. */
void pct_stacks_print(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot,
                      struct pct_unwinder *unwinder);

/* Print a stack, a frame a line; behind the first, frames of libraries only if there is nothing else, or they are asked
 * for (frames.h). Returns how many were left out. */
size_t pct_stacks_print_frames(FILE *out, const struct pct_stack *stack);

/* The objects of the steps from record index `from` on that have names, on one line; nothing if none has. */
void pct_stacks_print_objects(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot,
                              struct pct_unwinder *unwinder, uint64_t from);

/* Whether the thread waits for the end of another one: what it does says little about a failure. */
bool pct_stacks_is_joining(const struct pct_snapshot *snapshot, const struct pct_snap_thread *thread);

#endif
