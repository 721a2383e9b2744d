/* The search: for which points of the test is there interference that breaks what a later point requires, and does it
 * in a real run of two threads? */
#ifndef PCT_DEMON_SEARCH_H
#define PCT_DEMON_SEARCH_H

#include "finding.h"
#include "run.h"

/* What are points, besides lines that something is asserted at; each has those before it. */
enum demon_points { DEMON_POINTS_CALLS, DEMON_POINTS_LOCKS, DEMON_POINTS_ACCESSES };

/* A way of the test, undisturbed or behind an earlier call of others. */
struct demon_way {
    const struct pct_demon_plan *record;              /* its points: those of the test's thread alone */
    const struct demon_proc *place[PCT_DEMON_POINTS]; /* of an operation; NULL: the function of the point */
    uint64_t operations[PCT_DEMON_POINTS];            /* that the test's thread has made at each */
    uint32_t from;                                    /* others may make calls from this point on */
    struct demon_earlier earlier;
    uint64_t earlier_operations;
    struct demon_call help[DEMON_LONGEST]; /* as of struct demon_search */
    int helps;
};

/* Calls of others that were made. */
struct demon_made {
    struct demon_call call[DEMON_LONGEST];
    int count; /* 0: there were none */
    /* Where, but for those of a helper. */
    const struct demon_proc *at;
    uint32_t times;      /* of a function: as in struct pct_demon_point */
    uint64_t operations; /* of another operation: that the first thread had made in the undisturbed run */
};

struct demon_search {
    struct demon_model model;
    struct demon_program *program;
    struct pct_demon_plan *record; /* the undisturbed run, */
    struct pct_demon_plan *mapped; /* without points that were added, and */
    char trace[4096];              /* its trace */
    struct demon_proc **place;     /* those of all points that were added */
    size_t places;
    const char *keep; /* the plan of the finding is kept in this file */
    int longest;      /* calls in a sequence */
    enum demon_points points;
    bool fixed;                  /* more points are not looked for where nothing was found */
    int depth;                   /* times that others come in between, 1 or 2 */
    double seconds;              /* for all, 0: no bound */
    double begun, until;         /* on the clock of pct_cli_now(); until 0: no bound, or it has not begun */
    double drawn;                /* when its progress was last said; then, of the pairs of points that are looked at: */
    uint64_t all, done;          /* all, and those that were */
    bool again;                  /* points were added, and only these are looked at as those where others come in: */
    enum demon_points looked_at; /* not these */
    FILE *out;                   /* what people read */
    /* What came of it. */
    uint64_t pairs, stable, questions, refuted, unreached, unanswered, without, cut;
    uint64_t unasked;                      /* questions about calls whose contracts speak of what is not there */
    uint64_t ways, ways_left, ways_failed; /* behind earlier calls: looked at; not, as they are too many; and those
                                              calls that made the program fail, but broke no contract */
    uint64_t unlike;                  /* of the refuted: the calls left other values than their contracts let expect */
    uint64_t killed;                  /* of the refuted: the run was, as it took too long */
    const struct demon_proc *unnamed; /* a function that requires something of an object that no call of others */
    uint32_t unnamed_parameter;       /* can name; NULL: there is none; and which parameter that is */
    unsigned others;                  /* plans of failures that are not the contract's */
    uint64_t ways_wrong;              /* of ways_failed: a contract was broken, but not by what others may do; and */
    const char *why_wrong;            /* why the first is not the contract's failure */
    uint64_t as_before;               /* of the refuted: the program failed as with these calls before the test */
    bool unsure;                      /* what may be a list's head was passed to no call */
    bool out_of_time;                 /* or told to end: demon_program_stopped() */
    struct demon_finding *finding;    /* candidates that were tried, of all grades */
    size_t findings;
    struct demon_call help[DEMON_LONGEST]; /* what lets the undisturbed test go on where it waits */
    int helps;
    uint32_t helped; /* the first point behind that */
    struct demon_way undisturbed;
    struct demon_made earlier, later, helped_by; /* of the confirmed one */
    double took;                                 /* seconds */
};

enum demon_verdict {
    DEMON_STABLE = 0,
    DEMON_CONFIRMED = 1,
    DEMON_WRONG = 2,
    DEMON_CONTRACT_ONLY = 3,
    DEMON_OTHER_FAILURE /* the exit status is that of DEMON_CONTRACT_ONLY */
};

/* Record the undisturbed run. False after a message. */
bool demon_search_record(struct demon_search *search);

/* With points at calls alone, and nothing confirmed: then at operations on locks, too, where there are any between
 * them; then, where the program tells of them, at accesses. But where the points are fixed. */
enum demon_verdict demon_search_run(struct demon_search *search);

/* What this point of the way is. */
const struct demon_proc *demon_way_place(const struct demon_search *search, const struct demon_way *way,
                                         uint32_t point);

/* Begin a plan of other runs by that of the run that records. */
void demon_search_copy_head(struct pct_demon_plan *to, const struct pct_demon_plan *from);

/* These are its next actions. */
void demon_search_put_calls(const struct demon_model *model, const struct demon_call *calls, int count,
                            struct pct_demon_plan *plan);

/* Give back what it found. */
void demon_search_free(struct demon_search *search);

/* One line to standard error. */
void demon_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* To standard error, too: lines that pct or the program has written, without what would move the cursor. */
void demon_show(const char *text);

#endif
