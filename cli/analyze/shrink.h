/* From a failing token or trace to the smallest schedule that fails in the same way. For minimize and explain. */
#ifndef PCT_CLI_SHRINK_H
#define PCT_CLI_SHRINK_H

#include <cli/trace/switches.h>
#include "query_run.h"
#include <argp.h>

/* How far a switch can be moved without the failure going away: in operations of its thread. */
struct pct_range {
    uint32_t earliest, latest;
};

/* What is known of a failing run, and of the smallest one. */
struct pct_shrink {
    struct pct_query_runs runs;
    uint64_t most;                /* steps and switches of a run that may take the place of the smallest so far */
    const char *name;             /* the token or file, as given */
    char recorded[PCT_TOKEN_MAX]; /* the token in it, if it is the file of a recorded run; otherwise "" */
    uint64_t steps, switches, preemptions; /* of the run as given */
    char *given;                           /* its token, with its hash; NULL: not known yet */
    struct pct_switches minimal;
    struct pct_switches awaited; /* of the run as given, with whom the process waited for */
    struct pct_range *ranges;    /* by switch */
    uint64_t minimal_steps, minimal_switches, minimal_preemptions;
    char *token; /* of the minimal schedule, with its hash; NULL: too long for one */
};

/* Its token: of a recorded run that this does not make again, the recorded one. */
static inline const char *pct_shrink_token_of_run(const struct pct_shrink *shrink)
{
    return shrink->given ? shrink->given : shrink->recorded;
}

/* The parser of the command line of minimize and explain: a token or file, options of the target, the command. Its
 * input is the struct pct_shrink. */
extern const struct argp_child pct_shrink_options[];

/* How large a run is: smaller is easier to read. A run that goes on for long says little, and so does one that goes to
 * and fro. */
uint64_t pct_shrink_size(const struct pct_trace_header *header);

/* Read the token or file, run it, and find out how it fails. Returns 0, or the exit status for the command, after a
 * message. */
int pct_shrink_open(struct pct_shrink *shrink);

/* Make it small. Returns likewise. */
int pct_shrink_run(struct pct_shrink *shrink);

/* Here is another schedule that failed, with another seed: *better says whether the minimal schedule was replaced by
 * what it became when it was made small. Returns likewise. */
int pct_shrink_consider(struct pct_shrink *shrink, const struct pct_switches *other, bool *better);

/* The smallest schedule as it is now, to be taken back or dropped. False: there is no memory. */
struct pct_shrunk {
    struct pct_switches minimal;
    struct pct_range *ranges;
    uint64_t steps, switches, preemptions;
    char *token;
};
bool pct_shrink_save(const struct pct_shrink *shrink, struct pct_shrunk *saved);
void pct_shrink_take_back(struct pct_shrink *shrink, struct pct_shrunk *saved);
void pct_shrunk_drop(struct pct_shrunk *saved);

/* Run the minimal schedule once more, with sites, and the stacks before these steps (PCT_SITES; NULL: none). */
int pct_shrink_show(struct pct_shrink *shrink, struct pct_query_run *run, const char *sites);

void pct_shrink_close(struct pct_shrink *shrink);

#endif
