/* The threads of a snapshot in a report: state, what each was about to do, and its stack. Called by report.c. */
#ifndef PCT_CLI_STACKS_H
#define PCT_CLI_STACKS_H

#include "unwind.h"
#include <stdio.h>

/* "waits for mutex 3, held by thread 2": what a blocked thread waits for. No line end. */
void pct_stacks_print_wait(FILE *out, const struct pct_snapshot *snapshot, const struct pct_snap_thread *thread);

/* ", at FILE:LINE" or ", in FUNCTION": where the thread at this index stands; nothing if that is not known. */
void pct_stacks_print_place(FILE *out, struct pct_unwinder *unwinder, size_t index);

/* All threads that have not finished; of more than 20, those with the same stack together. unwinder may be NULL. */
void pct_stacks_print(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot,
                      struct pct_unwinder *unwinder);

/* Print a stack, a frame a line. */
void pct_stacks_print_frames(FILE *out, const struct pct_stack *stack);

#endif
