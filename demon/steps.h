/* Operations of the test as points, besides the entries of functions and lines (--points): others may come in before
 * each. */
#ifndef PCT_DEMON_STEPS_H
#define PCT_DEMON_STEPS_H

#include "search.h"

/* Put the points of the undisturbed run in their order, with such operations between them, as the search wants. The
 * state at an operation is that of a run of its own. False after a message. */
bool demon_steps_add(struct demon_search *search);

#endif
