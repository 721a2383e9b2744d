/* All that minimize and explain find out about a failing run: the smallest schedule that fails, the one nearest to it
 * that passes, both with sites and stacks, and the orderings that the bug needs. */
#ifndef PCT_CLI_ANALYSIS_H
#define PCT_CLI_ANALYSIS_H

#include "depth.h"
#include "shrink.h"
#include <cli/trace/narrative.h>

enum { PCT_CYCLE_MOST = 16 };         /* threads of a deadlock's cycle that are told of */
enum { PCT_ANALYSIS_BEGINNING = 32 }; /* operations within which a library comes to what a thread was given */

struct pct_analysis {
    struct pct_shrink shrink;
    struct pct_depth depth;
    bool passes; /* there is a run that passes: pass, pass_run */
    struct pct_query_run run, pass_run;
    struct pct_narrative narrative, pass;
    /* Private: how the passing run is made. */
    const char *pass_strategy;
    char *pass_list;
    uint64_t pass_seed;
};

/* Do it all, with a run that pct_shrink_open() has found to fail: depth says whether the orderings are wanted. Returns
 * 0, or the exit status for the command, after a message. To be closed in any case. The structure is large: static,
 * zeroed, with the command line parsed into shrink. */
int pct_analysis_run(struct pct_analysis *analysis, bool depth, bool quiet);
void pct_analysis_close(struct pct_analysis *analysis);

/* "after lock mutex 1 `a`, fig.c:21 (thread1): thread 2 goes on". */
void pct_analysis_print_switch(FILE *out, const struct pct_narrative *narrative, const struct pct_switch *item);

/* "thread 1's lock mutex 1 `a`, fig.c:21 (thread1)". */
void pct_analysis_print_event(FILE *out, const struct pct_narrative *narrative, const struct pct_event *event);

/* What must come behind the first operation of an ordering, or whom it wakes: "before thread 2's ...", and the end of
 * the line. */
void pct_analysis_print_then(FILE *out, const struct pct_narrative *narrative, const struct pct_order *order);

/* What becomes of the run when this ordering is reversed: lines that begin with a margin. */
void pct_analysis_print_negated(FILE *out, const struct pct_analysis *analysis, const struct pct_need *need);

#endif
