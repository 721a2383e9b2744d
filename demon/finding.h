/* What a candidate, the calls of others at a point, came to: in words, once, for all who tell of it. */
#ifndef PCT_DEMON_FINDING_H
#define PCT_DEMON_FINDING_H

#include "query.h"
#include "run.h"
#include <stdio.h>

/* Calls of others at an earlier point, behind which the test went another way. */
struct demon_earlier {
    uint32_t entry;              /* of that point, as in struct pct_demon_point */
    const struct demon_proc *at; /* what it is */
    struct demon_call call[DEMON_LONGEST];
    int calls; /* 0: there are none */
};

/* Calls of others at a point of the recorded run that may break what a later one requires. */
struct demon_candidate {
    const struct demon_model *model;
    struct demon_earlier earlier;
    uint32_t i, j;               /* those points, from 0 */
    const struct demon_proc *at; /* what point i is */
    struct demon_state state;
    struct demon_binding test, goal;
    struct demon_call calls[DEMON_LONGEST];
    int count;
    struct demon_call help[DEMON_LONGEST]; /* what lets the test go on where it waits, */
    int helps;                             /* this many calls; 0: it does not wait, as far as is known */
    uint64_t after[PCT_DEMON_CELLS];       /* what each scalar of the state is after them */
};

/* The grades of pct-demon(1), which no output mixes. */
enum demon_grade {
    DEMON_GRADE_CONFIRMED,
    DEMON_GRADE_CONTRACT_ONLY,
    DEMON_GRADE_OTHER_FAILURE, /* the run failed, but not by what the contract requires */
    DEMON_GRADE_REFUTED
};

struct demon_change {
    char place[DEMON_NAME + DEMON_PATH];
    uint64_t before, after; /* of a signed one: as 64 bits with a sign */
    bool is_signed, pointer;
};

struct demon_finding {
    enum demon_grade grade;
    uint32_t point, goal_point;                    /* from 1 */
    const struct demon_proc *test, *enters, *goal; /* of the specification, which must live as long */
    const struct demon_clause *broken;             /* of goal, what the run broke; NULL: nothing was seen to be */
    const struct demon_proc *earlier_enters;       /* where others made calls before; NULL: nowhere */
    char earlier[DEMON_LONGEST][256];
    int earliers;
    bool deadlock;      /* confirmed, but no contract's: the two wait for each other */
    const char *reason; /* as of struct demon_judgement */
    const char *advice; /* what to do about that; NULL: nothing */
    char call[DEMON_LONGEST][256];
    int calls;
    char help[DEMON_LONGEST][256];
    int helps;
    struct demon_change *change;
    size_t changes;
    const char *free_lock[DEMON_CLAUSES]; /* locks that the rely names, not held at the point */
    size_t free_locks;
    /* Of what failed: how the program ended; and where it failed again, the plan and the line that show it. */
    char *verdict, *token, *plan, *replay;
    /* That the first thread makes before the calls come, in the run that the token replays. */
    uint64_t operations[DEMON_TIMES];
};

/* Describe it; what a run has shown is the caller's to add. False: memory is short. */
bool demon_finding_describe(struct demon_finding *finding, enum demon_grade grade,
                            const struct demon_candidate *candidate);
void demon_finding_free(struct demon_finding *finding);

/* Of a confirmed one: what breaks the contract, as the cause stands in a campaign file (cli/diagnose/print.h). */
void demon_finding_print_cause(FILE *out, const struct demon_finding *finding);

/* For people. */
void demon_finding_print(FILE *out, const struct demon_finding *finding);

/* "interference where F enters G: another thread calls H(q)": a line without its end. */
void demon_finding_title(FILE *out, const struct demon_finding *finding);

#endif
