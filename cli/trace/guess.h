/* Patterns that nothing predicts (predict.h), and that may be possible all the same: guessed from what runs have
 * exposed. A run that is to force one, and exposes it, proves it. Pure functions, with memory from malloc.
 *
 *     combined  (iroots.h, idioms 7 to 10) two dependencies that were exposed, and a thread that, in this run, makes an
 *               access of the first one and later one of the second; where in this run two more threads make the
 * others, and neither what orders threads nor a lock that the one thread holds forbids the order swapped   an iRoot
 * that was exposed, of idiom 1, 4 or 6, with one or both dependencies the other way round, each of which was exposed by
 * itself (but for idiom 1) and matters */
#ifndef PCT_CLI_GUESS_H
#define PCT_CLI_GUESS_H

#include "accesses.h"
#include "orderings.h"

/* Add to `guessed` the combined patterns that this run and the dependencies (those of idiom 1 in `exposed`) make
 * likely. The accesses are those of its trace, with these places and orderings. Of what would be too much not all is
 * taken. Runs come in their order. Returns 0, or -ENOMEM. */
int pct_guess_combined(struct pct_iroots *guessed, const struct pct_iroots *exposed,
                       const struct pct_orderings *orderings, const struct pct_access_places *places,
                       const struct pct_access *accesses, size_t count, uint32_t window, uint64_t run);

/* Likewise what is swapped of all that was exposed, unless it was exposed or predicted, too. */
int pct_guess_swapped(struct pct_iroots *guessed, const struct pct_iroots *exposed, const struct pct_iroots *predicted,
                      const struct pct_access_places *places, uint64_t run);

#endif
