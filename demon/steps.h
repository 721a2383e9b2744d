/* Operations of the test as points, besides the entries of functions and lines (--points): others may come in before
 * each. */
#ifndef PCT_DEMON_STEPS_H
#define PCT_DEMON_STEPS_H

#include "search.h"

/* Put the points of the undisturbed run in their order, with such operations between them, as the search wants. The
 * state at an operation is that of a run of its own. False after a message. */
bool demon_steps_add(struct demon_search *search);

/* With points at calls alone: how many operations on locks there are between them, where others were not let in. */
uint64_t demon_steps_left_out(const struct demon_search *search);

/* Whether an operation of a trace is such a point; direct: of a run under a direct plan (common/demon.h). */
bool demon_steps_is_wanted(enum demon_points points, const char *line, bool direct);

#endif
