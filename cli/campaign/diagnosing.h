/* Diagnosing a run that failed: it is run again, with the places of its steps, and others beside it, most of which
 * pass; what the rules (cli/diagnose/) find in it is weighed by those. */
#ifndef PCT_CLI_DIAGNOSING_H
#define PCT_CLI_DIAGNOSING_H

#include "engine.h"
#include <cli/diagnose/evidence.h>
#include <cli/diagnose/print.h>
#include <stdio.h>

struct pct_diagnosing {
    /* What the caller chooses. */
    struct pct_launch *launch; /* prepared */
    unsigned jobs;
    const char *token;  /* of the failing run, as in its header */
    const char *replay; /* its trace, where what came from outside has to come again; NULL: the token is enough */
    const bool *ok;     /* [256]: exit statuses that are no failure; NULL: 0 alone */
    unsigned others;    /* runs beside it, at most */
    double seconds;     /* behind these no other run begins, if there are some; behind twice these all but names end */
    double patience;    /* on a busy machine those are up to this many times as long (busy_clock.h) */
    bool quiet;         /* there is no progress line that has to make room */
    /* Called five times a second, with the number of runs so far: for who waits. NULL: nobody wants to know. */
    void (*tell)(void *context, uint64_t made);
    void *context;
    bool first; /* only the best one matters: no other run is made where none could change which one that is */
    /* What came of it. */
    bool known;           /* diagnoses has at least one */
    bool late;            /* there was no time for all */
    bool too_long;        /* the run has more steps than the rules look at */
    unsigned interrupted; /* the signal that told us to end, 0: none */
    struct pct_history history;
    struct pct_diagnoses diagnoses; /* best first */
    struct pct_evidence evidence;
    /* Private. */
    struct pct_ended_run run;
    bool have;
};

/* Other runs that are enough, and the time and patience that the first screen has for it. */
enum { PCT_DIAGNOSING_OTHERS = 20, PCT_DIAGNOSING_SECONDS = 2, PCT_DIAGNOSING_PATIENCE = 15 };

/* The best diagnoses, of which the stacks are known. */
enum { PCT_DIAGNOSING_STACKS = 16 };

/* Do it: nothing is known where the run does not replay. Returns 0, or an exit status after a message. To be closed in
 * any case. */
int pct_diagnosing_run(struct pct_diagnosing *diagnosing);
void pct_diagnosing_close(struct pct_diagnosing *diagnosing);

/* Make the runs of this source; diagnosing->interrupted. They leave no core, since they crash as the one did that is
 * known: where they would, they start by exec, as a fork server, and all that it forks, keep the limit with which it
 * began; so where they replay a trace, of which a fork server does not know. None is restored: what goes on may restore
 * its own further ones. Returns as the engine does. */
int pct_diagnosing_make_runs(struct pct_diagnosing *diagnosing, struct pct_run_source *source);

/* Make the configuration of a run that has nothing to do with the failing one, whose configuration is given and which
 * had that number of points: a random walk or PCT, by the number of the run. */
void pct_diagnosing_make_other(const struct pct_config *given, uint64_t points, uint64_t number,
                               struct pct_config *config);

/* Whether this run of the program is no failure. */
bool pct_diagnosing_passes(const struct pct_diagnosing *diagnosing, const struct pct_result *result);

/* What libraries do among themselves comes behind what the program has a part in, or is not worth saying: it is seldom
 * a bug of theirs. */
void pct_diagnosing_put_foreign_last(struct pct_diagnosing *diagnosing);

/* The best of them, and briefly up to two that are nearly as good, unless one run decides it; or the best three.
 * Nothing if there are none. */
void pct_diagnosing_print(FILE *out, const struct pct_diagnosing *diagnosing, bool all);

/* Say on standard error that somebody has ended it before its end, if so. */
void pct_diagnosing_say_interrupted(const struct pct_diagnosing *diagnosing);

/* What the rules that need no other run find in a recorded trace, which stays open until it is closed; printed, too:
 * nothing if there is nothing. */
void pct_diagnosing_of_trace(struct pct_diagnosing *diagnosing, const struct pct_trace *trace);
void pct_diagnosing_recorded(FILE *out, const struct pct_trace *trace, bool all);

/* Whether its trace has all of a run, and it is no replay. */
bool pct_diagnosing_is_whole(const struct pct_launch *launch, const struct pct_result *result);

/* Whether such a run may simply be made again: it is short, but for what it waits for a CPU, has threads, and nothing
 * is set up for it that could be made but once. */
bool pct_diagnosing_is_cheap(const struct pct_launch *launch, const struct pct_process *process,
                             const struct pct_result *result);

/* For the first screen of a run that has just failed: all of the above, as far as it is cheap and can do no harm;
 * otherwise what its trace alone tells. */
void pct_diagnosing_show(FILE *out, struct pct_launch *launch, const struct pct_process *process,
                         const struct pct_result *result, const bool *ok);

#endif
