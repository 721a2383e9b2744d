/* The token of a confirmed finding for a program in which threads make the calls at once, when the schedule lets them
 * run, as in the test that --emit-test writes (emit.h). */
#ifndef PCT_DEMON_DIRECT_H
#define PCT_DEMON_DIRECT_H

#include "search.h"

/* Whether the confirmed finding's calls come before an access to memory, so that the token has points there. */
bool demon_direct_has_accesses(const struct demon_search *search);

/* The runs that it takes add to those of the search's program. False: such a program does not fail so. */
bool demon_direct_find_token(const struct demon_search *search, const struct demon_finding *finding, char token[4096]);

#endif
