/* A diagnosis on the screen: a sentence, and its steps with their places in the source. */
#ifndef PCT_CLI_DIAGNOSIS_PRINT_H
#define PCT_CLI_DIAGNOSIS_PRINT_H

#include "diagnosis.h"
#include <stdio.h>

struct pct_frame;

/* "use after destroy: thread 0 destroys mutex 4 (step 76) while ..." of at most `size` bytes. Text of the target in it
 * is not clean yet. Returns buffer. */
const char *pct_diagnosis_format(char *buffer, size_t size, const struct pct_history *history,
                                 const struct pct_diagnosis *diagnosis);

/* That, after `lead`, and a line a step. */
void pct_diagnosis_print(FILE *out, const char *lead, const struct pct_history *history,
                         const struct pct_diagnosis *diagnosis);

/* That, and a line with its places: of one that may be the cause as well. */
void pct_diagnosis_print_brief(FILE *out, const char *lead, const struct pct_history *history,
                               const struct pct_diagnosis *diagnosis);

/* Whether it speaks of a line of the source that the other one does not speak of; of the same rule, by the thread that
 * its sentence begins with. */
bool pct_diagnosis_adds(const struct pct_history *history, const struct pct_diagnosis *diagnosis,
                        const struct pct_diagnosis *other);

/* One such line, with its place; beside the operation stands the note, which may be NULL. */
void pct_diagnosis_print_step(FILE *out, const struct pct_history *history, uint32_t step, const char *note);

/* "lock mutex 4 `queue.lock`": what a step is. Not clean, either. Returns buffer. */
const char *pct_diagnosis_operation(char *buffer, size_t size, const struct pct_history *history, uint32_t step);

/* The value for PCT_SITES that keeps the stacks before these steps of the best `most` diagnoses; NULL: there are none,
 * or no memory. To be freed. */
char *pct_diagnoses_stacks(const struct pct_diagnoses *diagnoses, size_t most);

/* The same of these steps; the pending ones among them have stacks anyway. */
char *pct_diagnosis_stacks_of(const struct pct_history *history, const uint32_t *step, size_t count);

/* The frames of a step, the program's own first: libraries' are left out where others are known. */
struct pct_stack;
void pct_diagnosis_stack(const struct pct_history *history, uint32_t step, struct pct_stack *stack);

/* Whether libraries do what it speaks of among themselves, as far as frames are known: the program calls for one of the
 * steps at most. */
bool pct_diagnosis_is_foreign(const struct pct_history *history, const struct pct_diagnosis *diagnosis);

/* The place in the source that the diagnosis speaks of first: where something is to be changed, as far as rules know.
 * False: it is not known. */
bool pct_diagnosis_place(const struct pct_history *history, const struct pct_diagnosis *diagnosis,
                         struct pct_frame *place);

/* The cause at the beginning of a stored report, as pct_diagnosis_print() has written it: its length, and in *title
 * that of its first line; 0: there is none. */
size_t pct_diagnosis_in_report(const char *report, size_t *title);

#endif
