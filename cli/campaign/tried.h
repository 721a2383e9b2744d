/* What a campaign of maple (directed.h) has tried to force, as the sources have it: places are lines here, so that of
 * several iRoots of one line's instructions one is left. */
#ifndef PCT_CLI_TRIED_H
#define PCT_CLI_TRIED_H

#include "iroot_sets.h"

struct pct_directed;

struct pct_tried {
    struct pct_iroots missed; /* predicted, and not exposed in PCT_DIRECTED_TRIES tries: of no such iRoot of these lines
                                 one was exposed, or is to be tried again */
    struct pct_iroots further; /* guessed patterns (cli/trace/guess.h) that were tried, exposed or not */
};

/* The same iRoot, of a set with `from`, in the lines `to`. Returns 0 or -ENOMEM. */
int pct_iroot_by_line(struct pct_iroot *line, const struct pct_iroot *root, const struct pct_access_places *from,
                      struct pct_access_places *to);

/* Fill in *tried, which is empty. directed: NULL: the campaign is of another strategy, and tries nothing. exposed: what
 * its runs have, in these places. Between runs. Returns 0 or -ENOMEM. In any case pct_tried_free(). */
int pct_tried_read(struct pct_tried *tried, const struct pct_directed *directed, const struct pct_iroots *exposed,
                   struct pct_access_places *places);
void pct_tried_free(struct pct_tried *tried);

#endif
