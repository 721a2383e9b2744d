/* The runs of `pct explore`: a campaign whose observer tells each run how to begin (explorer.c), gives what came of it
 * to the search, in the order in which that asks, and notes what failed (taken.c). Several workers make runs that the
 * search has not asked for yet, but will; these are kept until it does, so that the search, and all that is said of it,
 * is the same with any number of workers. What it can say at the end: verdict.c. A file that keeps all of it: keep.h.
 */
#ifndef PCT_CLI_EXPLORER_H
#define PCT_CLI_EXPLORER_H

#include "estimate.h"
#include "explored.h"
#include "search.h"
#include "separate.h"
#include "walks.h"
#include <cli/campaign/campaign.h>
#include <cli/campaign/signature.h>
#include <cli/campaign/store.h>
#include <limits.h>

struct pct_finding {
    uint64_t hash;  /* of its signature */
    uint64_t count; /* classes that fail like that, */
    uint64_t walks; /* and random schedules beside the search */
    char title[512];
    char token[PCT_TOKEN_MAX]; /* "": its schedule is too long for one, or it did not replay */
    bool too_long;
    uint64_t run;           /* the first that failed so, from 1 */
    struct pct_tuple tuple; /* its, with a bound */
    bool replayed;          /* the token was, and the run failed alike */
    char *cause;            /* pct_explorer_cause(), or NULL */
};

/* A run that was made, or is. */
struct pct_made {
    bool used;
    bool walk;        /* it is one of the random schedules beside the search */
    bool plain;       /* it has no plan, and tells whether runs are alike */
    bool whole;       /* it left all of a log and a trace */
    uint64_t index;   /* of the campaign's run */
    uint64_t plan;    /* a hash of its plan */
    unsigned began;   /* programs that have begun to write the log */
    unsigned awaited; /* enum pct_awaited */
    struct pct_explored run;
    struct pct_store_run row; /* of the file */
    uint64_t uncontrolled[PCT_UNCONTROLLED_COUNT];
    /* While it is looked at, and until then: */
    struct pct_process *process;
    const struct pct_result *result;
    const struct pct_signature *signature; /* if it failed */
};

struct pct_explorer_channel {
    int file; /* -1: none */
    char path[PATH_MAX];
    struct pct_channel *at;
};

struct pct_explorer_keep;

enum { PCT_EXPLORER_PLAN_MAX = 1 << 16 }; /* steps that a run may be told */

/* How often the first run is made once more behind the search, to see whether it is the same. */
enum { PCT_EXPLORER_AGAIN = 3 };

/* An exploration: an observer of a campaign whose runs the search asks for. The command fills in what is to be done.
 * What came of it is written as runs are taken (explorer.c, taken.c), of an estimate by probe.c, in the end by
 * verdict.c. */
/* At which points threads are switched, from the fewest. */
enum pct_level { PCT_LEVEL_CALLS, PCT_LEVEL_ATOMICS, PCT_LEVEL_ACCESSES, PCT_LEVEL_COUNT };

struct pct_explorer {
    struct pct_campaign_observer observer; /* first */
    /* What to do. */
    bool first;    /* stop at the first finding */
    bool progress; /* draw the progress line */
    bool quiet;
    bool tells; /* the exit status says whether all was explored, also where there are findings */
    /* For a campaign, which goes on: end at the first finding, and when nothing can be verified any more; the last line
     * is the number of runs, and a finding's token or the verdict; the exit status says whether "verified" rests on
     * what other runs may show not to hold. */
    bool serves;
    int bound; /* at most this many preemptions; PCT_UNBOUNDED */
    enum pct_search_order order;
    enum pct_level level; /* verified is only what has scheduling points at least there */
    unsigned shard, of;   /* explore this part of it, from 1, of this many; of: 0 or 1: all */
    uint64_t probes;      /* not to explore, but to estimate by this many how many classes there are; 0: to explore */
    double afford;        /* of an estimate: the exit status says whether there is work for more seconds; 0: no */
    double budget;        /* seconds, 0: no bound */
    uint64_t limit;       /* runs, 0: no bound */
    const char *save;     /* a file for the trace of the first failing run, or NULL */
    struct pct_explorer_keep *keep; /* keep.h: the oracle, and the file, if there is one */
    /* What came of it. */
    struct pct_search *search;
    struct pct_separation *classes; /* all of them, to tell what fails from what passes; NULL: that is not done */
    const struct pct_search_facts *merged; /* in the place of its facts: those of all shards */
    struct pct_walks walks;
    struct pct_estimate estimate; /* of `probes` */
    struct pct_finding *finding;
    size_t findings;
    uint64_t failing;                 /* classes, or probes */
    uint64_t cut;                     /* runs that a bound or a time limit has ended */
    char cut_title[512];              /* what the first of them is called, with its place; "": not known */
    char loop[512];                   /* where the search has cut off a loop; "": not known */
    char moved[512];                  /* where objects were others in other runs; likewise */
    char doubt[PCT_DOUBT_COUNT][512]; /* where it was done that speaks against "verified"; likewise */
    uint64_t passed;                  /* runs that neither failed nor were cut off */
    uint64_t resumed;                 /* runs that the file had */
    bool complete;                    /* the search is over */
    bool used_up;                     /* the budget is, or the runs are */
    bool unreadable;                  /* a run left no log, or one that does not fit its trace */
    bool differs;                     /* runs without a plan were not all the same */
    uint32_t flags;                   /* enum pct_explored_flag of any run */
    uint32_t assumes;                 /* of all runs: bit i: enum pct_assumption i */
    bool frees;                       /* in any run, a block of memory was given back while other threads went on */
    uint32_t threads;
    uint64_t uncontrolled[PCT_UNCONTROLLED_COUNT]; /* of all runs that were taken, however many others were made */
    double seconds;
    /* Of its own. */
    double began;
    struct pct_execution plain; /* of the first run without a plan; count 0: none */
    uint64_t begun;             /* runs of searches that began again, of which no class counts */
    unsigned again;             /* such runs made behind the search, to compare: PCT_EXPLORER_AGAIN are to be */
    const uint32_t *plan;       /* of the run that the search asks for */
    uint32_t plan_count;
    uint64_t wanted;   /* its hash */
    bool asked;        /* it is being made */
    uint64_t failure;  /* it was made ahead and failed like this, which nobody has seen so far; 0: no */
    bool first_failed; /* the first run that was taken */
    bool warned;       /* it is said that nothing will be verified */
    bool fresh;        /* there are findings that were not replayed */
    struct pct_explorer_channel *channel; /* by worker */
    unsigned channels;
    struct pct_made *making;     /* runs under way */
    struct pct_made *ahead;      /* that were made, and not asked for yet */
    size_t making_count, aheads; /* places, all of which may be used; those that are */
    size_t ahead_bytes;
};

/* Prepare, when all that is to be done is known. Returns 0, or an exit status after a message. */
int pct_explorer_open(struct pct_explorer *explorer, struct pct_campaign *campaign);
void pct_explorer_close(struct pct_explorer *explorer);

/* Explore. Returns as pct_campaign_run(). */
int pct_explorer_run(struct pct_explorer *explorer, struct pct_campaign *campaign);

/* taken.c: a run that the search has asked for: give it to the search, and note what came of it. Returns 0,
 * PCT_RUNS_ENOUGH, or an exit status after a message. */
int pct_explorer_take(struct pct_explorer *explorer, struct pct_campaign *campaign, struct pct_made *made);

/* taken.c: have the search name the next run, e->plan. False: it is over. */
bool pct_explorer_search_next(struct pct_explorer *explorer);

/* taken.c: a class fails, or a probe; or a run that counts as none (known): it is like one that was made before, which
 * failed alike, or one of the random ones. Returns 0 or an exit status after a message. */
int pct_explorer_take_failure(struct pct_explorer *explorer, const struct pct_made *made, bool known);

/* taken.c: behind that: see what is asked for next, and take it if it was made already. Returns likewise. */
int pct_explorer_go_on(struct pct_explorer *explorer, struct pct_campaign *campaign);

/* taken.c: all runs that were made, those of the file too. */
uint64_t pct_explorer_runs(const struct pct_explorer *explorer);

/* taken.c: whether the time is used up, though the first run may still go on. */
bool pct_explorer_is_late(const struct pct_explorer *explorer);

/* taken.c: nothing runs: replay what was found and not replayed yet. Returns 0 or an exit status after a message. */
int pct_explorer_replay(struct pct_explorer *explorer, struct pct_campaign *campaign);

/* The hash of a plan. */
uint64_t pct_explorer_plan(const uint32_t *plan, uint32_t count);

/* taken.c: the finding of this signature, new or not. NULL: no memory. */
struct pct_finding *pct_explorer_finding(struct pct_explorer *explorer, uint64_t hash);

/* place.c: give e->loop, moved and doubt their values, as far as they are in this program. */
void pct_explorer_name_places(struct pct_explorer *explorer, const char *program);

/* verdict.c: behind runs 1, 2, 4, ...: say so, once, if it is known already that nothing will be verified. Where that
 * is for nobody to read, e->warned is all. */
void pct_explorer_warn(struct pct_explorer *explorer, const struct pct_campaign *campaign);

/* Exit statuses seen by nobody but explore_first.c. */
enum {
    PCT_EXPLORER_TOO_MANY = 114,   /* of an estimate: more classes than can be afforded */
    PCT_EXPLORER_FOUND_SOME = 115, /* with `tells`: found, and not all was explored */
    PCT_EXPLORER_VERIFIED_IF = 116 /* with `serves`: verified, if something holds that other runs may show not to */
};

/* verdict.c: say on standard error what is known now, the last line first in importance. Returns the exit status: 0
 * verified, 1 found, PCT_EXIT_CONFIDENCE not verified, PCT_EXPLORER_FOUND_SOME. interrupted: by this signal, 0: not.
 * The file keeps the line. */
int pct_explorer_verdict(struct pct_explorer *explorer, struct pct_campaign *campaign, int interrupted);

/* verdict.c: the level of this name (PCT_LEVEL_*), or -1. */
int pct_explorer_level(const char *name);

/* verdict.c: the name of the level of which this last line says "verified"; NULL: it does not. */
const char *pct_explorer_level_in(const char *line);

/* verdict.c: print the findings, each with the command that replays it. whole: all was explored. */
void pct_explorer_print_findings(const struct pct_explorer *explorer, const struct pct_campaign *campaign, bool whole);

/* verdict.c: what `pct campaign merge` says of the shards of an exploration: facts is their sum; patched: PCT_PATCH_*;
 * reasons: why the whole is not known, or "". *status: as of pct_explorer_verdict(). To be freed; NULL: no memory. */
char *pct_explorer_merged_line(struct pct_explorer *sum, int patched, const char *reasons, int *status);

/* probe.c: to estimate: a random schedule was made. Returns 0, PCT_RUNS_ENOUGH, or an exit status after a message. */
int pct_explorer_probe(struct pct_explorer *explorer, const struct pct_made *made);

/* probe.c: in the place of the verdict. Returns 0; PCT_EXIT_CONFIDENCE: there is no estimate; 1: a probe has failed; or
 * PCT_EXPLORER_TOO_MANY.
 * interrupted: as above. */
int pct_explorer_say_estimate(const struct pct_explorer *explorer, const struct pct_campaign *campaign,
                              int interrupted);

/* token.c: the token of a run's schedule, with which it replays without us: all its switches, or, where these are too
 * many, those that are not made anyway. log: of the run. False: it is too long for one. */
bool pct_explorer_token(const struct pct_trace *trace, const struct pct_explored *run, char *token, size_t size);

/* cause.c: which orderings tell the classes that fail like this from all that pass, in lines, of an exploration that is
 * complete. To be freed; NULL: a few orderings do not, or the finding does not come again. */
char *pct_explorer_cause(const struct pct_explorer *explorer, struct pct_campaign *campaign,
                         const struct pct_finding *finding);

#endif
