/* A campaign: many runs of one target with consecutive seeds, by parallel workers. Called by `pct run`, also for one
 * run, and by `pct campaign`, which has an observer.
 *
 * Its outcome does not depend on timing: runs are started in the order of their seeds, and looked at in that order,
 * however they finish. When it stops at the first failure, that is the failure of the lowest seed, with any number of
 * workers. */
#ifndef PCT_CLI_CAMPAIGN_H
#define PCT_CLI_CAMPAIGN_H

#include <cli/base/cli.h>
#include "cycles.h"
#include "directed.h"
#include "engine.h"
#include "exploring.h"
#include "guarantee.h"
#include "other_points.h"
#include <cli/process/launch.h>
#include <cli/process/learned_sites.h>
#include "state.h"
#include "systematic.h"

struct pct_campaign;
struct pct_object_counts;

/* Somebody who follows a campaign: recorder.c. Functions that return int return 0, or an exit status that ends the
 * campaign. Each may be NULL, but idle() not where looked() sets *hold. */
struct pct_campaign_observer {
    /* A run is about to begin: say more of what it is. May return PCT_RUNS_WAIT: not before another run was looked at.
     */
    int (*next)(struct pct_campaign_observer *observer, struct pct_campaign *c, struct pct_run_spec *spec);
    /* It has ended: at once, in any order, before its worker begins another one. */
    void (*over)(struct pct_campaign_observer *observer, struct pct_campaign *c, const struct pct_process *process);
    /* A run that left a trace has ended: make it a failure of some kind, if it is one for a reason that only the
     * observer knows. */
    int (*classify)(struct pct_campaign_observer *observer, struct pct_campaign *c, struct pct_process *process,
                    struct pct_result *result);
    /* It failed, and waits for its turn behind a run that was cut and is made again: what of it is said already. */
    int (*early)(struct pct_campaign_observer *observer, struct pct_campaign *c, const struct pct_process *process,
                 const struct pct_result *result);
    /* It was looked at, in its order, and counted. hold: start no more runs, and call idle() when none is left. */
    int (*looked)(struct pct_campaign_observer *observer, struct pct_campaign *c, struct pct_process *process,
                  const struct pct_result *result, bool failed, bool *hold);
    int (*idle)(struct pct_campaign_observer *observer, struct pct_campaign *c);
    /* All schedules were explored, or some: c->exploring has what came of it. */
    int (*explored)(struct pct_campaign_observer *observer, struct pct_campaign *c);
    /* Several times a second. */
    int (*tick)(struct pct_campaign_observer *observer, struct pct_campaign *c);
};

/* Where a campaign's own scheduling points are, as far as its first runs have shown; the more the larger. */
enum pct_points_at { PCT_POINTS_AT_UNKNOWN, PCT_POINTS_AT_CALLS, PCT_POINTS_AT_MEMORY };

/* A campaign. The command fills in what is to be done; what came of it campaign.c writes, in the order of the runs,
 * and, of runs that its file has already, campaign_file.c and recorder.c. A member that is a struct is that file's. */
struct pct_campaign {
    /* What to do. */
    struct pct_launch launch;
    struct pct_config config; /* its seed is that of the first run */
    const struct pct_strategy *strategy;
    uint64_t runs;
    uint64_t offset, stride; /* the seed of run i is that of the config + offset + i * stride */
    uint64_t resumed;        /* this many runs were done before; what came of them stands below already */
    struct pct_campaign_observer *observer; /* NULL: nobody */
    unsigned jobs;
    int k, depth; /* indices of the strategy's parameters of these names, -1: it has none */
    bool keep_going;
    bool pass_output;    /* show what the targets write as they write it */
    bool progress;       /* draw the progress line */
    bool tells;          /* say if one of several runs takes long */
    bool learns;         /* k is not given: it is learned as the runs go */
    bool kept;           /* in a campaign file */
    bool calibrated;     /* k is not given: it was measured before the first run, and stays */
    bool may_patch;      /* nobody has said what --memory shall be */
    bool found;          /* pct explore has found a failure of the program before */
    bool may_sample;     /* nobody has said which memory accesses count: a sample may switch itself on (sampling.h) */
    bool may_take_slack; /* nobody has said how much slack deadlines have: that of a campaign file holds */
    bool repeat;         /* after a clean campaign, repeat its first run: does the schedule decide all? */
    /* What is known of objects, for the next runs; NULL: nothing. Of its owner, as the next. */
    struct pct_object_counts *objects;
    struct pct_other_points other;    /* runs that have other scheduling points */
    struct pct_systematic systematic; /* runs that are schedules with few preemptions */
    struct pct_cycles cycles;         /* runs that force cycles of locks */
    struct pct_exploring exploring;   /* all schedules, if these are few */
    struct pct_directed *directed;    /* of maple and, in part, others: what each run is to force; NULL: nothing */
    uint64_t until_saturated;         /* --until-saturated: end when this many runs bring nothing new; 0: never */
    bool ok[256];                     /* exit statuses that are no failure */
    struct pct_learned before;        /* what earlier campaigns have learned */
    double confidence; /* above 0: do as many runs as give this confidence for bugs of the strategy's depth (of one that
                          is kept in a file, `runs` says how many that are), */
    double budget;     /* if that takes no more than this many seconds, */
    uint64_t limit;    /* nor more than this many runs */
    const char *save;  /* a directory for the traces of failing runs, or NULL */
    const char *keep;  /* a file for the trace of the first failing run, or of the only one, or NULL */

    /* What came of it. */
    uint64_t done;                        /* runs that count */
    uint64_t failures;                    /* of these */
    uint64_t by_ending[PCT_ENDING_COUNT]; /* failures only */
    uint64_t max_steps;
    uint64_t uncontrolled[PCT_UNCONTROLLED_COUNT];
    double seconds;
    uint64_t unrecorded;        /* runs that left no trace, for want of space */
    uint64_t lost;              /* runs whose target exited unseen: their traces end before that */
    uint64_t incomplete;        /* runs whose trace lacks steps, these included */
    struct pct_learned learned; /* steps and threads of these runs */
    struct pct_learned whole;   /* the same of runs before a sample switched itself on, and of earlier campaigns */
    uint64_t sample_from;       /* the first run that has a sample */
    uint64_t sample_points;     /* k of the runs that have the same sample as the one before */
    struct pct_object_counts *counting; /* of the first runs */
    struct pct_ordered ordered;         /* with --memory-points=learned: what these and earlier runs have taught */
    struct pct_guarantee guarantee; /* what theorem 9 needs to know of them; guarantee_report.c draws the conclusion */
    struct {
        char token[PCT_TOKEN_MAX];
        uint64_t hash;
    } origin;       /* the first run: of a campaign that is kept, that of its calibration; "": not known */
    uint64_t price; /* this many runs would give the confidence, */
    double pace;    /* at this many a second */
    uint32_t max_threads;
    bool unaffordable;        /* that is more than budget or limit allow */
    uint64_t cut;             /* runs that were, because they took far longer than the others; */
    uint64_t again;           /* and that ended by themselves when they were made again; */
    uint64_t undecided;       /* and that were not made again when it ended: they do not count */
    bool open;                /* it ended with some of these, or of the next: it is not clean */
    uint64_t ahead;           /* failures behind a run that was cut, which were said and are not counted */
    uint64_t choices;         /* in a run, at most: signals that had several waiters to choose from, and pct_choose() */
    uint64_t left;            /* threads that lived on when the process ended, at most */
    uint64_t deadlines;       /* in a run, at most: waits with a deadline that slack applies to; */
    uint64_t fixed_deadlines; /* and others, with timers */
    /* In a run, at most: points within handlers and the like, at which no other thread is asked for. */
    uint64_t passed_over;
    uint64_t randoms; /* likewise: random numbers that the program got from the seed */
    uint64_t directed_steps,
        directed_spins;       /* of runs that were directed, at most; the guarantee's are of the others */
    uint64_t images_open;     /* 1: the process was another program before, of which the guarantee would have to know */
    char image[256];          /* the program that it became, which was looked at; "": none */
    uint64_t hardware;        /* instructions of the program that read the processor's clock or random numbers */
    uint64_t locks_inline;    /* 1: the program has locks whose taking is no scheduling point */
    bool locks_patched;       /* it is one, and --memory=atomics was chosen for these, not asked for */
    uint64_t points_at;       /* enum pct_points_at: of these runs */
    bool differs;             /* the first run was repeated, and took other steps; */
    bool unrepeated;          /* it was to be, but there was no time for it */
    bool failed;              /* there is a first failing run: */
    struct pct_process first; /* not yet closed */
    struct pct_result first_result;
    uint32_t suppressed;     /* data races that were suppressed, in the run with the most */
    uint64_t raced;          /* runs that did not fail, but had data races (--races=report); */
    uint64_t possibly_raced; /* others, which possibly had some. The first of the former, else of the latter: */
    struct pct_process race; /* not yet closed */
    struct pct_result race_result;
    char last_token[PCT_TOKEN_MAX]; /* of the last run that counted */
    char (*failing)[PCT_TOKEN_MAX]; /* of runs that have failed before the first that counts (calibrate.h) */
    size_t failing_count;
};

/* The seed of a run. */
uint64_t pct_campaign_seed(const struct pct_campaign *c, uint64_t index);

/* What the run of this number is. *spec is zeroed. */
void pct_campaign_make_spec(const struct pct_campaign *c, uint64_t index, struct pct_run_spec *spec);

/* This run, which *spec says, has no drawn schedule but one of a list of this strategy. list must stay. */
void pct_campaign_make_listed(const struct pct_campaign *c, struct pct_run_spec *spec,
                              const struct pct_strategy *strategy, const char *list);

/* Make the run of this number again, as *spec says, which was made before the campaign was resumed, and give its result
 * to `take`. Returns what that does, or the exit status of a failure to make it (after a message). */
int pct_campaign_repeat(struct pct_campaign *c, uint64_t index, const struct pct_run_spec *spec,
                        int (*take)(struct pct_campaign *c, uint64_t index, const struct pct_result *result));

/* Make the run of this token, when nothing is under way: a failure is one like any other, and if it is the first, *c
 * has it, by this number. *hash: of its trace. Returns 0 or an exit status after a message. */
int pct_campaign_try(struct pct_campaign *c, const char *token, uint64_t index, uint64_t *hash);

/* How many threads a run had. */
uint32_t pct_campaign_threads(const struct pct_result *result);

/* When the configuration is complete: find the program, and decide which runs are directed. Returns 0, or an exit
 * status after a message. */
int pct_campaign_prepare(struct pct_campaign *campaign);

/* Run it. Returns 0, the exit status of a failure to start anything (after a message), or 128 + the number of the
 * signal that told us to end. What came of it so far is valid in any case. */
int pct_campaign_run(struct pct_campaign *campaign);

/* Give back the scratch files of the runs that were kept. */
void pct_campaign_close(struct pct_campaign *campaign);

#endif
