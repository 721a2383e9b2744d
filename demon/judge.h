/* The grade of a candidate, by what a real run of two threads showed. The failure must be the contract's: whatever else
 * fails is told, and is no confirmation. */
#ifndef PCT_DEMON_JUDGE_H
#define PCT_DEMON_JUDGE_H

#include "finding.h"
#include "run.h"

struct demon_judgement {
    enum demon_grade grade;
    /* Of DEMON_GRADE_CONFIRMED and DEMON_GRADE_CONTRACT_ONLY: what the test's thread broke first, behind the calls. */
    const struct demon_proc *proc;
    const struct demon_clause *clause;
    uint32_t point; /* the number of that point in the run, from 1 */
    bool deadlock;  /* confirmed without: the test and a call wait for each other's locks */
    bool helped;    /* where the test waited, the helper made calls */
    /* Of DEMON_GRADE_OTHER_FAILURE: why it is not the contract's. Of DEMON_GRADE_CONTRACT_ONLY: how the program did not
     * end, NULL: it did. */
    const char *reason;
    const char *advice; /* what to do about that; NULL: nothing */
};

/* Judge a run under this plan, which recorded points; result: with what its trace says. Whether it fails again in a
 * replay, and with the calls before the test, is for the caller to ask. */
struct demon_judgement demon_judge(const struct demon_model *model, const struct pct_demon_plan *plan,
                                   const struct demon_result *result);

/* Whether all that is required of the calls in this run held when they were made. */
bool demon_judge_met_requirements(const struct demon_model *model, const struct pct_demon_plan *plan);

/* Whether the calls of this run were such as the contracts let others make. */
bool demon_judge_allowed(const struct demon_model *model, const struct pct_demon_plan *plan,
                         const struct demon_result *result);

/* What the calls had left when they had been made, in place of what the solver took from their contracts. True: that is
 * something else. */
bool demon_judge_take_values(const struct demon_model *model, const struct pct_demon_plan *plan,
                             struct demon_candidate *candidate);

#endif
