/* The process that supervises the command. A target may kill or stop the process that has started it, by a system call
 * that no shim sees. So where there is something to go on with, the command's work is done by a child, the *worker*:
 * its parent, in which nothing goes on but waiting, passes signals on to it and its exit status back, continues it when
 * it was stopped, and ends what is left when it was killed. A campaign goes on then with another worker, from its file.
 *
 * Which run has killed pct nobody can say who was not there. But the worker notes in memory that both have which runs
 * are under way; those are done again, one at a time, and a run that had begun and was under way alone when the same
 * happened three times in a row is charged with it (PCT_ENDING_KILLED_PCT). Costs of a run: a note in memory at its
 * start and its end.
 *
 * A worker may also find out that its own work is worth nothing (hosts.h): then it ends, and another one begins anew.
 */
#ifndef PCT_CLI_SUPERVISE_H
#define PCT_CLI_SUPERVISE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pct_launch;
struct pct_process;

/* Become the supervisor of a worker, in which alone this returns. Where there is nothing to supervise, or no process to
 * be had, it just returns; and so in a worker, which does the work of this launch, too. When another worker goes on, it
 * returns again there, with everything as it was. */
void pct_supervise(struct pct_launch *launch);

/* The rest is for the worker; without a supervisor it does nothing. */

/* The supervisor's process id, 0: there is none. */
pid_t pct_supervised_by(void);

/* A run begins, and is over; the second is harmless for one that is over or was never begun. */
void pct_supervised_begin(struct pct_process *process);
void pct_supervised_end(struct pct_process *process);

/* Whether this run is known to have killed pct, by which signal (0: it is not). Its trace takes the place of the empty
 * one of process. */
int pct_supervised_convict(struct pct_process *process);

/* All runs of a campaign before this one have been begun. */
void pct_supervised_reach(uint64_t next);

/* How often the workers before this one were killed; and whether this run of a campaign is to be under way alone, and
 * to be kept as soon as it is over. */
unsigned pct_supervised_deaths(void);
bool pct_supervised_is_alone(uint64_t index);

/* Something has been kept that need not be done again. */
void pct_supervised_progress(void);

/* End this worker, whose work is worth nothing: another one begins where pct_supervise() returns, with everything as it
 * was then, but for files that this one has written. Returns where there is no supervisor. */
void pct_supervised_begin_anew(void);

/* Whether a worker before this one has done that. */
bool pct_supervised_is_anew(void);

/* To be called now and then: the user may have stopped the supervisor. now: on the clock of pct_cli_now(). */
void pct_supervised_follow(double now);

#endif
