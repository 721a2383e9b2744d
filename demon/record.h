/* The undisturbed run of the test, and what lets it go on where it waits for others. */
#ifndef PCT_DEMON_RECORD_H
#define PCT_DEMON_RECORD_H

#include "search.h"

/* Find calls after which all that the test may wait for holds in this state. Returns how many; 0: there are none of at
 * most search->longest. */
int demon_record_find_help(const struct demon_search *search, const struct demon_state *state,
                           const struct demon_binding *test, struct demon_call calls[DEMON_LONGEST]);

/* Give the record back. */
void demon_record_release(struct demon_search *search);

#endif
