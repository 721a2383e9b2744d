/* A candidate that is tried, and what is kept of it. */
#ifndef PCT_DEMON_ATTEMPT_H
#define PCT_DEMON_ATTEMPT_H

#include "judge.h"
#include "search.h"

struct demon_attempt {
    struct demon_search *search;
    const struct demon_way *way;
    bool explores; /* the call need not break anything: where does the test go behind it? */
    struct demon_query query;
    uint64_t moved[PCT_DEMON_CELLS]; /* of the query */
    struct demon_candidate candidate;
    uint64_t asked;
    enum demon_verdict verdict;
    bool explored; /* what it has found is of the way behind it, and told */
};

/* These are the actions of the plan: first the interference, the earlier one before the later, then the helper's. */
void demon_attempt_put(const struct demon_attempt *attempt, struct pct_demon_plan *plan);

/* Keep what came of the candidate in this run. False: memory is short, or the plan cannot be written. */
bool demon_attempt_keep(struct demon_attempt *attempt, const struct demon_judgement *judgement,
                        const struct demon_result *run);

/* Whether who has read one of these findings learns nothing by the other: the same clause is broken without a failure,
 * or the program fails with the same words. */
bool demon_attempt_is_same(const struct demon_finding *a, const struct demon_finding *b);

/* Whether the search has such a one from before this one, which is one of its own. */
bool demon_attempt_is_known(const struct demon_search *search, const struct demon_finding *finding);

/* It is the confirmed one; helped: the helper has made its calls. */
void demon_attempt_confirm(const struct demon_attempt *attempt, bool helped);

#endif
