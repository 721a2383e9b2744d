/* How long a run may take, in real time: --timeout, and where the user has given none, what the others have taken.
 * Without that, a few runs that never end would take all the time of a campaign. What is learned from others is
 * without the time for which a run had to wait for a CPU: a busy machine does not make a run fail. */
#ifndef PCT_CLI_TIME_LIMIT_H
#define PCT_CLI_TIME_LIMIT_H

#include <stdbool.h>

enum { PCT_TIME_LIMIT_FAR = 10 /* times as long as the longest run that passed is far longer than the others */ };

struct pct_launch;
struct pct_process;

/* Which runs are cut before the time of --timeout is over. All in seconds. */
struct pct_time_limit {
    bool cuts;      /* those that take far longer than the longest that passed, and */
    double least;   /* this long; */
    double most;    /* but all that take so long, 0: none; also while */
    double longest; /* no run has passed: 0 */
    /* One that is cut is made again without that, which decides what it is: this time it may not have to wait for a
     * disk, or for the CPU in threads that have ended. Where two of them took all of --timeout, others are believed,
     * unless they are merely slow. */
    bool again;
    unsigned endless; /* took all of it so far, with none in between that did not */
    const bool *ok;   /* exit statuses of runs that pass; NULL: 0 */
};

/* If --timeout is not given, it is 60 s, and runs that take far longer than the others are cut: one that hangs must not
 * be the end of a job that nobody watches. ok: as above. */
void pct_time_limit_by_default(struct pct_launch *launch, const bool *ok);

/* How long runs of this launch may take, in seconds; 0: as they like. */
double pct_time_limit_seconds(const struct pct_launch *launch);

/* The process of this run is there: its time begins. What came before, such as to start a fork server, or to wait in
 * vain for one's answer, is not the run's: a machine that is too busy for that makes no run fail. */
void pct_time_limit_begin(struct pct_process *process);

/* Whether this run, which goes on and is over its time, may only be slow: it computes at this moment, or waits for a
 * CPU or a disk, but had a CPU for less than half of the time that it is allowed. One that hangs does not: it waits for
 * something else, or has computed all the time. */
bool pct_time_limit_slow(const struct pct_process *process);

/* Whether this run, which is over, is to be made again without a cut. */
bool pct_time_limit_doubts(const struct pct_process *process);

/* It was: is the cut run to count, because this one has not ended by itself either? */
bool pct_time_limit_confirms(const struct pct_process *process);

/* Others may have shown since how long runs take: set its deadline. */
void pct_time_limit_set(struct pct_process *process);

/* For how many seconds the threads of this process, those that are there, have waited for a CPU. 0 if nobody tells. */
double pct_time_limit_waited(int pid);

/* The same with all that descend from it: a run that waits for a child needs the CPU that the child waits for. */
double pct_time_limit_all_waited(int pid);

/* This run's deadline is over: grant what it has waited, if the limit is one that was learned, but not more than
 * --timeout and `most` say. `now` is of the monotonic clock, in seconds. */
void pct_time_limit_extend(struct pct_process *process, double now);

/* This command has slept for this many seconds longer than it wanted to: the machine stood still, as one does whose
 * image is saved, or had no CPU for it. If that was much, it does not count as time of these runs, which got no more.
 */
void pct_time_limit_forgive(struct pct_process *processes, int count, double late);

/* It has ended, by itself if process->timed_out does not say otherwise. */
void pct_time_limit_learn(const struct pct_process *process);

/* deadlines.c: end what is over its time. Returns when the next one will be, or `next` if that is earlier, on the clock
 * of pct_cli_now(); 0 for never. */
double pct_deadlines_enforce(struct pct_process *processes, int count, double now, double next);

#endif
