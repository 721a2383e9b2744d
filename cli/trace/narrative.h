/* What happened in a recorded run, in words: operations with the names of their objects and the places in the source
 * that made them. For minimize and explain, from a trace with sites. */
#ifndef PCT_CLI_NARRATIVE_H
#define PCT_CLI_NARRATIVE_H

#include "orders.h"
#include "switches.h"
#include "unwind.h"
#include <stdio.h>

struct pct_narrative {
    const struct pct_trace *trace;
    struct pct_snapshot snapshot;
    struct pct_unwinder *unwinder;     /* NULL: there is no memory map, so there are no names */
    uint32_t *number;                  /* by record: which of its thread's operations it is */
    const struct pct_narrative *later; /* a run that makes the operations that did not come in this one, or NULL */
};

/* The trace must stay. Returns 0, or -ENOMEM. */
int pct_narrative_open(struct pct_narrative *narrative, const struct pct_trace *trace);
void pct_narrative_close(struct pct_narrative *narrative);

/* The value for PCT_SITES that keeps the stacks before the steps of these records; "on" if there are none. To be freed.
 */
char *pct_narrative_stacks(const uint64_t *steps, size_t count);

/* The index of the record of this operation of a thread; trace->count if it is not there. */
uint64_t pct_narrative_find(const struct pct_narrative *narrative, uint32_t thread, uint32_t number);

/* "lock mutex 2 `queue`": what this operation is. Returns buffer. */
const char *pct_narrative_operation(const struct pct_narrative *narrative, char *buffer, size_t size,
                                    const struct pct_event *event);

/* "wsq.c:83 (steal)": where it was made; the innermost place in the program's own source that says something, or the
 * module if there is no debug information. "" if nothing is known. Returns buffer. */
const char *pct_narrative_place(const struct pct_narrative *narrative, char *buffer, size_t size,
                                const struct pct_event *event);

/* The stack of an operation; frames of libraries are left out where others are known. False: nothing is known. */
bool pct_narrative_stack(const struct pct_narrative *narrative, const struct pct_event *event, struct pct_stack *stack);

/* The same, a line a frame, each behind this margin; at most `most` frames. */
void pct_narrative_print_stack(const struct pct_narrative *narrative, FILE *out, const struct pct_event *event,
                               const char *margin, unsigned most);

/* The index of the record by which this thread locked what the waiter waits for in the end; trace->count if it is not
 * there, or no lock is waited for. */
uint64_t pct_narrative_find_lock(const struct pct_narrative *narrative, uint32_t thread,
                                 const struct pct_snap_thread *waiter);

/* The operation of this record. */
struct pct_event pct_narrative_event(const struct pct_narrative *narrative, uint64_t step);

/* "`queue`", or "first used at file.c:12 (main)": what the object of this operation is called; "" if nothing is known.
 */
const char *pct_narrative_object(const struct pct_narrative *narrative, char *buffer, size_t size,
                                 const struct pct_event *event);

#endif
