/* Fork servers: targets that are loaded, linked and initialised once, and forked for each run
 * (preload/process/forkserver.c is their side). One for each worker. Which runs are forked, and which start by exec, is
 * decided here too, with the reason.
 *
 * Both must come to the same: the first run starts by exec, and is then repeated under a server. Only if that is the
 * same run (trace hash, ending) are the others forked. Where that saves little time, a few runs of each kind say which
 * is faster. */
#ifndef PCT_CLI_FORKSERVER_H
#define PCT_CLI_FORKSERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct pct_launch;
struct pct_process;
struct pct_result;

enum { PCT_FORKSERVERS = 256 };

struct pct_forkserver {
    pid_t pid;        /* 0: there is none */
    int socket;       /* to it */
    int cpu;          /* that its environment names, -1: none */
    uint64_t points;  /* what it has made ready: pct_hosts_points() */
    unsigned crashes; /* of earlier ones: it is not started again and again */
    /* Requests are answered in their order: how many were made, also of earlier servers, and which is answered next. */
    uint64_t asked, next;
    pid_t run;   /* the last one that it has forked, 0: that is over, */
    double over; /* since then, on the clock of pct_cli_now() */
};

enum pct_forking {
    PCT_FORKING_NO,   /* by exec; `why` may say why */
    PCT_FORKING_TRY,  /* not decided: by exec until pct_forking_try() */
    PCT_FORKING_TIME, /* it works; some runs of each kind will say which is faster */
    PCT_FORKING_YES
};

enum { PCT_FORKING_EXEC, PCT_FORKING_FORK, PCT_FORKING_KINDS };

struct pct_forks {
    enum pct_forking state;
    char why[160];        /* runs start by exec because ...; "": the user wants it, or there is nothing to save */
    uint64_t missed;      /* runs that were started by exec although others were forked */
    char missed_why[160]; /* the last of them */
    double fastest[PCT_FORKING_KINDS]; /* seconds of a run, the least so far; 0: none */
    unsigned timed[PCT_FORKING_KINDS];
    struct pct_forkserver servers[PCT_FORKSERVERS]; /* by worker */
};

/* Whether the runs of this command may be forked at all. several: there is more than one. pass: what they write is
 * passed through. strategy: its name. To be called when the options are known. */
void pct_forking_plan(struct pct_launch *launch, bool several, bool pass, const char *strategy);
/* When it is known what the runs inherit. */
void pct_forking_settle(struct pct_launch *launch);

/* A run has ended by exec: if none has been tried, and no other goes on, repeat it under a server, and decide. What a
 * oracle has made of it does not matter. */
void pct_forking_try(struct pct_launch *launch, const struct pct_process *first, const struct pct_result *result);

/* Whether this run, whose token and files are there, is to be forked. Starts the server of its worker if there is none.
 */
bool pct_forking_use(struct pct_launch *launch, struct pct_process *process);

/* A run has taken this many seconds. */
void pct_forking_note(struct pct_launch *launch, bool forked, double seconds);

/* Whether runs may be asked for before the last one of their worker is over: they wait in its server. Not where
 * something is to be done between them. */
bool pct_forking_queues(const struct pct_launch *launch);

/* Ask the server of this process's worker for a run. Returns 0 (the run will say its process id), or a negative errno:
 * then it is to be started by exec. */
int pct_forkserver_ask(struct pct_launch *launch, struct pct_process *process, int input);

/* Read the process id of a run that was asked for, waiting for this many seconds. Returns 0 and sets process->pid, or
 * -EAGAIN, or another negative errno: there is no run, and it is to be started by exec. */
int pct_forkserver_read_pid(struct pct_launch *launch, struct pct_process *process, double seconds);

/* This run is over. */
void pct_forkserver_over(struct pct_launch *launch, const struct pct_process *process);

/* End the server of this worker, if there is one; another is started when it is wanted. */
void pct_forkserver_end(struct pct_launch *launch, unsigned worker);

/* End all servers. */
void pct_forkservers_end(struct pct_launch *launch);

/* Why runs were started by exec, as one line without its end, if there is a reason that the user should know. False:
 * there is none. */
bool pct_forking_explain(const struct pct_launch *launch, char *text, size_t size);

/* The same to this file. docs/FORKING.md lists the reasons. */
void pct_forking_print(FILE *out, const struct pct_launch *launch);

#endif
