/* The engine that makes runs. A source says which run is next, and hears how it ended; the engine has all the rest: the
 * workers and the CPUs that they are on, fork servers and exec, time limits, scratch files, what has to happen when we
 * are told to end. Everything that runs a target many times is a source: `pct run` and `pct campaign` (campaign.c),
 * lists of tokens (batch.c), the queries of minimize and explain (cli/analyze/queries.c), `pct check`, `pct replay`.
 *
 *     next(), next(), ...   as long as there are workers for more: what the next run is
 *     over()                a run has ended: at once, and before its worker begins another one
 *     classify(), ended()      it is this run's turn: in the order of their numbers, however they end
 *
 * All of a source is called on the command's only thread, one function at a time. A source may use another engine in
 * next() when nothing is under way, for runs in between. Behind launch->ends there are no runs, whatever a source
 * wants. */
#ifndef PCT_CLI_ENGINE_H
#define PCT_CLI_ENGINE_H

#include <cli/process/launch.h>
#include <common/config.h>

/* What a run is. Zeroed before next(), but for `worker`. Its strings are read before next() is called again; `channel`
 * is read until the run has ended. */
struct pct_run_spec {
    uint64_t index;                      /* the source's number of the run: later ones are higher */
    unsigned worker;                     /* who makes it, from 0: set by the engine */
    struct pct_config config;            /* what its token says: strategy, parameters, list and seed, slack, ... */
    const struct pct_strategy *strategy; /* of this configuration; NULL: it is looked for */
    const char *list;                    /* the strategy's list, of any length; NULL: the one in the configuration */
    /* Of the strategy `explore`: the file with its plan, and for its log; always the same for a worker. */
    const char *channel;
    struct pct_channel *log; /* as it is mapped here, NULL: it is none that a run can write anew */
    const char *sites;       /* record where these steps are made (PCT_SITES); NULL: as the launch has it */
};

/* The run that a token names. Returns 0, or -EINVAL with a message in error. */
int pct_run_spec_parse(struct pct_run_spec *spec, const char *token, char *error, size_t size);

/* A run that has ended. */
struct pct_ended_run {
    struct pct_process process;
    struct pct_result result;
    bool taken;  /* the source has kept a copy of both, and will close them */
    bool judged; /* of the source: early() has done what classify() does with the result, */
    bool told;   /* and has said that it fails */
};

void pct_ended_run_close(struct pct_ended_run *run);

/* What a source returns: PCT_RUNS_ON; PCT_RUNS_WAIT from next(): no run before another one was looked at (where none is
 * under way, there is none any more); PCT_RUNS_ENOUGH: no more runs, and those under way are ended; or above 0 the exit
 * status of a failure, after a message, with which the engine returns. */
enum { PCT_RUNS_ON = 0, PCT_RUNS_WAIT = -1, PCT_RUNS_ENOUGH = -2 };

struct pct_run_source {
    int (*next)(struct pct_run_source *source, struct pct_run_spec *spec);
    /* The result of this run, before the run may be repeated to see whether runs can be forked; it may be changed.
     * PCT_RUNS_ENOUGH: this is the last one that is wanted, so there is no use in that. NULL: nothing to do. */
    int (*classify)(struct pct_run_source *source, struct pct_ended_run *run);
    /* It waits for its turn behind a run that was cut and is made again, which may take long: what of it is to be said
     * already. The result may be changed. NULL: nothing. */
    int (*early)(struct pct_run_source *source, struct pct_ended_run *run);
    /* What is to be made of it. */
    int (*ended)(struct pct_run_source *source, struct pct_ended_run *run);
    /* NULL: nobody wants to know. Where somebody does, no run waits in a fork server behind another one. */
    void (*over)(struct pct_run_source *source, const struct pct_process *process);
    /* Five times a second; NULL: never. */
    int (*tick)(struct pct_run_source *source);
    /* The number of the run whose turn it is. NULL: the lowest of those that were begun. */
    uint64_t (*turn)(const struct pct_run_source *source);
};

struct pct_engine_state;

struct pct_engine {
    /* How runs are to be made. */
    struct pct_launch *launch; /* prepared */
    unsigned jobs;             /* this many at a time */
    unsigned width;            /* each on a CPU of its own, of this many; 0: as there are jobs; 1: on any CPU */
    /* This many may be under way, or wait for their turn; 0: some for each worker, so that nobody waits long. */
    unsigned room;
    bool sure; /* the next run is mostly wanted, whatever comes of those under way: workers go on as soon as they can */
    bool ahead;  /* of `sure`: to look at a run takes long, so a worker that is alone goes on before that, too */
    bool defers; /* a run that was cut is made again when no other can begin; not where over() wants to know, or where
                    a run has a channel */
    bool exec;   /* by exec, whatever others are */
    bool pass;   /* what they write is passed through */
    bool single; /* there is but one: a signal that ends us is passed on to it, so that it can clean up */
    bool quiet;  /* there is no progress line that has to make room for messages */
    bool tells;  /* if a run takes long, say so, once; and of each that is made again */
    /* What came of it. */
    int signal;         /* the one that told us to end, 0: none */
    uint64_t dropped;   /* runs that were begun, and ended() has not heard of; */
    uint64_t undecided; /* of these: were cut, and not, or not to the end, made again */
    bool late;          /* launch->ends was over: those under way were ended, and there are no more */
    struct pct_engine_state *state;
};

/* Make all runs of this source. Returns 0, a source's exit status, that of a run that could not be made (after a
 * message), or 128 + the number of the signal that told us to end. */
int pct_engine_run(struct pct_engine *engine, struct pct_run_source *source);

/* Make one run. Returns likewise; 0: *run is it, and to be closed, unless engine->late. */
int pct_engine_run_one(struct pct_engine *engine, const struct pct_run_spec *spec, struct pct_ended_run *run);

/* For ended(): the runs with these numbers, the last one included, are not wanted any more. */
void pct_engine_cancel(struct pct_engine *engine, uint64_t first, uint64_t last);

/* For tick(): the run with this number, if it is under way, has no more than this many seconds left, of real time. */
void pct_engine_hurry(struct pct_engine *engine, uint64_t index, double seconds);

#endif
