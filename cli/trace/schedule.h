/* The schedule as people read it: the steps of a trace, one column per thread, with the switches and their reasons.
 * Called by the report. */
#ifndef PCT_CLI_SCHEDULE_H
#define PCT_CLI_SCHEDULE_H

#include "snapshot.h"
#include <stdio.h>

/* The index of the record from which pct_schedule_print_last() prints at most this many lines of steps: one for a step
 * that is repeated, such as the 19 writes of a panic's message. */
uint64_t pct_schedule_last(const struct pct_trace *trace, uint64_t lines);

/* Print the steps from record index `from` to the end, those that are repeated on one line. snapshot tells what the
 * threads were about to do at the end; it may be empty. */
void pct_schedule_print_last(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot,
                             uint64_t from);

/* The same for the records from index `from` up to, and without, index `to` of the trace. */
void pct_schedule_print(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot, uint64_t from,
                        uint64_t to);

/* Print only the steps for which show (by record) is true, with `...` for the others; those for which mark is true get
 * a star. */
void pct_schedule_print_some(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot,
                             const bool *show, const bool *mark);

/* The shim does not note who takes a lock that nobody waits for. Where the snapshot does not know the holder of what a
 * thread waits for, take it from the steps. */
void pct_schedule_fill_holders(struct pct_snapshot *snapshot, const struct pct_trace *trace);

/* One operation in words: "lock mutex 3", "join thread 2 (timed out)". Returns buffer. */
const char *pct_schedule_format(char *buffer, size_t size, unsigned op, unsigned argument, uint32_t object);

/* The same of what a thread was about to do at the end, on an object that is not always known (0): "unlock mutex". */
const char *pct_schedule_format_next(char *buffer, size_t size, unsigned op, uint32_t object);

/* A word for objects of this class, as it stands in those: "mutex". "" for none. */
const char *pct_schedule_word(unsigned class_);

#endif
