/* Where in the target's code the steps of a trace were made, and what their objects are called, if the run recorded
 * that
 * (`--sites`): each place is looked up once, and has a number. Called by the exports of `pct trace`. */
#ifndef PCT_CLI_STEP_PLACES_H
#define PCT_CLI_STEP_PLACES_H

#include "unwind.h"

struct pct_step_places;

/* NULL: out of memory. The snapshot must stay; without sites in it, no step has a place. */
struct pct_step_places *pct_step_places_open(const struct pct_snapshot *snapshot);
void pct_step_places_close(struct pct_step_places *places);

/* The number of the place, from 1, at which the step with this record and index of the trace was made. 0: not known. */
uint32_t pct_step_places_of(struct pct_step_places *places, uint64_t index, uint64_t record);

/* The place with this number, from 1 to pct_step_places_count(). */
const struct pct_frame *pct_step_places_get(const struct pct_step_places *places, uint32_t number);
uint32_t pct_step_places_count(const struct pct_step_places *places);

/* The name of the variable that the step's object is, by the symbols of its file; writes at most `size` bytes. False:
 * it is no variable with a symbol, or not known. */
bool pct_step_places_object(const struct pct_step_places *places, uint64_t index, char *name, size_t size);

/* The same for a point of the program's, by its number. */
bool pct_step_places_point(const struct pct_step_places *places, uint32_t number, char *name, size_t size);

#endif
