/* What is done around each run, for targets that need fresh files: a scratch directory (--scratch), and commands before
 * and after it (--setup, --teardown). The commands are run by sh -c, not under control, with the run's TMPDIR and
 * directory. Called by launch.c. */
#ifndef PCT_CLI_SETUP_TEARDOWN_H
#define PCT_CLI_SETUP_TEARDOWN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct pct_launch;
struct pct_process;

struct pct_setup_teardown {
    /* What the user has chosen. */
    const char *setup, *teardown; /* commands, or NULL */
    bool scratch;                 /* a fresh directory for each run is its TMPDIR, */
    bool enter;                   /* and its current directory */
    /* Set by pct_setup_teardown_prepare(). */
    char base[PATH_MAX / 2]; /* the directory in which those of the workers are, "": there are none */
    int mark;                /* the file in it that is locked as long as the command goes on; below 1: there is none */
};

/* Where a run is. */
enum pct_phase { PCT_PHASE_SETUP, PCT_PHASE_RUN, PCT_PHASE_TEARDOWN, PCT_PHASE_OVER };

/* Before the first run and after the last. Returns 0 or an exit status for the command, after a message. */
int pct_setup_teardown_prepare(struct pct_launch *launch);
void pct_setup_teardown_finish(struct pct_launch *launch);

/* Empty all that workers have, for another process that goes on in the place of one that was killed. */
void pct_setup_teardown_renew(const struct pct_launch *launch);

/* The scratch directory of this worker; "": it has none. Returns buffer. */
const char *pct_setup_teardown_directory(const struct pct_launch *launch, unsigned worker, char *buffer, size_t size);

/* Make that of a run that is about to begin, if it is not there. Returns 0 or an exit status, after a message. */
int pct_setup_teardown_open(const struct pct_process *process);

/* Start the command of this phase, if there is one. False: there is none. */
bool pct_setup_teardown_start(struct pct_process *process, enum pct_phase phase);

/* Whether the command has ended. A failure is noted in process->trouble. */
bool pct_setup_teardown_is_over(struct pct_process *process);

/* End the command that runs, if one does. */
void pct_setup_teardown_kill(struct pct_process *process);

/* The run was killed: do the teardown that it needs, waiting for that, but not for ever, and clear the directory. */
void pct_setup_teardown_end(struct pct_process *process);

/* The run is over: empty the directory, or, if that cannot be, or the run may have failed, put it aside until
 * pct_setup_teardown_close(). */
void pct_setup_teardown_clear(struct pct_process *process);
void pct_setup_teardown_close(struct pct_process *process);

/* Keep what this run has left in its directory, if anything, and say where. */
void pct_setup_teardown_keep(FILE *out, struct pct_process *process);

#endif
