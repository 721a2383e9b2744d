/* Runs of the program, by the commands `pct run`, `pct replay` and `pct campaign`: what makes runs is in one place
 * (cli/campaign/engine.h), and the line that repeats a finding is what was called here. Each has a plan of its own, so
 * that none could be forked from another; a process for each costs some 3 ms of CPU time, and a search makes few. */
#ifndef PCT_DEMON_RUN_H
#define PCT_DEMON_RUN_H

#include "state.h"

enum { DEMON_TIMES = 2 /* that the demon thread may go on in a run */ };

struct demon_program {
    const char *pct;         /* the command */
    char **command;          /* the program and its arguments */
    char path[4096];         /* of its file */
    char functions[2048];    /* those of the specification, for --functions */
    double timeout;          /* seconds for a run */
    char directory[64];      /* for files that are ours alone */
    bool accesses;           /* to memory are operations, too */
    bool tells;              /* the program does so by itself (pct-cc); else it is patched */
    const char *focus;       /* and these are those by this code alone; NULL: by any */
    int thread[DEMON_TIMES]; /* the thread of ours that goes on each time; 0: the first */
    uint64_t runs;
};

struct demon_result {
    int status;                       /* of the command */
    bool failed;                      /* the run did, and it is not the lack of others that it waits for */
    char token[4096];                 /* "": none */
    char *output;                     /* of all, to be freed */
    bool helped;                      /* there was a helper: set before demon_run_read_trace() */
    uint64_t operations[DEMON_TIMES]; /* as they were given to demon_run() */
    /* By its trace: demon_run_read_trace(). */
    char kind[32];    /* "assertion": the verdict's name; "": there is no trace */
    char text[512];   /* "assertion failed in thread 0: ..." */
    unsigned threads; /* of the run, the demon's too */
    int culprit;      /* the thread that failed; -1: unknown */
    /* Of the first thread, as the run ended. */
    uint64_t made;  /* operations */
    bool in_test;   /* it was in the test, or in what that called */
    char next[64];  /* what it was about to do, "lock mutex 2"; "": nothing */
    char file[512]; /* where: "?" unknown */
    int line;
    bool inside; /* it failed in the test, or in what that called */
    bool acted;  /* the demon thread entered a function that is looked at */
    bool locked; /* in the test its thread waits for a lock of the demon thread's, in its call, and that for one of
                    it; the calls were made in one go up to there */
    bool cycle;  /* the two wait for each other's mutexes, the first in the test */
    bool whole;  /* from the first call of the demon thread to its end nobody else ran, but where it waited for its
                    later ones; likewise the helper's */
};

/* Make the directory, find the program. False: *error. */
bool demon_program_open(struct demon_program *program, char *error, size_t size);
/* The functions of the specification are what its runs look at. */
void demon_program_watch(struct demon_program *program, const struct demon_spec *spec);
void demon_program_close(struct demon_program *program);

/* From now on the first SIGINT, SIGTERM or SIGHUP lets the run that is under way end, and is told by the second
 * function; another one ends us. Which signal it was; 0: none. */
void demon_program_stop_gently(void);
int demon_program_stopped(void);

/* Write a plan with room for this many points; NULL: it cannot be written. It is mapped. */
struct pct_demon_plan *demon_plan_create(const struct demon_program *program, const char *name, uint32_t room,
                                         char path[4096]);

/* One run under this plan, where the demon thread goes on once the first thread has made this many operations, and
 * again for its later actions (0: never before it has to). trace: where to keep it, or NULL. */
bool demon_run(struct demon_program *program, const char *plan, const uint64_t operations[DEMON_TIMES],
               const char *trace, struct demon_result *result);

/* Make the run under this plan again as a campaign of one run, in this campaign file; one that is there is kept as
 * FILE.old. Returns the command's output, to be freed, as the last line that it ends with may say what is wrong; NULL:
 * memory is short. */
char *demon_run_campaign(struct demon_program *program, const char *plan, const uint64_t operations[DEMON_TIMES],
                         const char *path);

/* Fill in what the trace of the run says; test: the routine under test. */
void demon_run_read_trace(const char *trace, const char *test, struct demon_result *result);

/* Whether a replay of this token under this plan fails the same way. */
bool demon_replays(struct demon_program *program, const char *plan, const char *token);

/* How many operations the first thread had made when it came to each of these points, by their entries, which rise, in
 * this trace; 0: it did not. */
void demon_operations(const char *trace, const struct pct_demon_point *points, uint32_t count, uint64_t *operations);

/* Of a trace, each operation of the first thread: its line, and how many that thread had made before. */
void demon_run_each_operation(const char *trace, void (*take)(void *context, const char *line, uint64_t made),
                              void *context);

/* Whether this line of a trace has the text. */
bool demon_run_has(const char *line, const char *text);

#endif
