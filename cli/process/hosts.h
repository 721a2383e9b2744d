/* Hosts: processes that make one run after the other and put their memory back in between (common/host.h), which takes
 * less time than to fork the target (--engine=restore). One for each worker, itself a run that the worker's fork server
 * has forked.
 *
 * That restored runs are the runs that are forked is looked at all the time: the first three, later one in 256 and,
 * unless runs are explored, the last are made again under the fork server, and each that fails by exec; of those that
 * are explored, or tried by a search, the first of each kind, since what is found is made again. What is reported is
 * that second run. Where the two differ, no further run is restored; if others were taken for what they were, none of
 * it counts, and the command begins anew (supervise.h), without restored runs. */
#ifndef PCT_CLI_HOSTS_H
#define PCT_CLI_HOSTS_H

#include <common/host.h>
#include "forkserver.h"
#include <common/config.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* A process that makes one run after the other: hosts.c alone writes it. */
struct pct_host {
    pid_t pid; /* 0: there is none */
    int socket;
    struct pct_host_ring *ring;
    int cpu;
    bool contexts; /* its threads may be such */
    struct {
        char *trace;   /* the path of the one that it has, when all that it was asked for is made */
        uint64_t over; /* the number of runs that are then, of which the last one has this slot */
    } slots[PCT_HOST_SLOTS];
    uint64_t number;      /* no other has it; 0: there was none */
    uint64_t asked, over; /* runs that it was asked for, and those that are over, */
    uint64_t told;        /* when it has told so, in nanoseconds, */
    uint64_t taken;       /* and what the last one took; 0: not known */
    bool spoiled;         /* nobody wants one that it was asked for */
};

/* Of a command, in its launch: what the user wants stands in `wanted` and, of queries, `tries`; hosts.c writes the
 * rest, as runs are made. */
struct pct_hosts {
    bool wanted;       /* --engine=restore */
    bool on;           /* the runs that are made now may be */
    bool tries;        /* what comes of them is made again by exec, or with sites: one that fails counts as any other */
    bool broken;       /* a restored run was not the one that is forked, and others had counted */
    char why[200];     /* no run is restored any more, because; "": they are */
    uint64_t restored; /* runs that were, */
    uint64_t compared; /* and made again, with the same result, */
    uint64_t unchecked; /* and not made again */
    uint64_t branched;  /* of these, those that went on from a point in the middle of an earlier one */
    struct {
        uint64_t kind; /* 0: there is none */
        uint64_t count;
    } kinds[64]; /* of explored runs that failed and were whole: as far as is seen without their stacks */
    struct {
        char token[PCT_TOKEN_MAX]; /* "": there is none */
        struct pct_host_reply reply;
        uint64_t digest;
    } last;                          /* of these */
    uint64_t others;                 /* runs that were not, for what they are: */
    enum pct_host_reason others_why; /* the last of them */
    uint64_t ended;                  /* hosts that have ended after a run, or in it, */
    char ended_why[200];             /* why the last of them */
    uint64_t failed;                 /* likewise, but because it failed */
    unsigned fruitless;              /* of the others in a row, without a restored run */
    bool kernel_threads;             /* hosts shall keep these: contexts will not do */
    uint64_t opened;                 /* hosts, so far */
    struct pct_host *hosts;          /* by worker; NULL: none yet */
};

/* What is patched in a run, as a number; 0: nothing. A fork server has made that ready of its first run; a host cannot
 * unmake it. */
uint64_t pct_hosts_points(const struct pct_config *config);

/* What a process has to do with a host. */
enum pct_hosting {
    PCT_HOSTING_NO,
    PCT_HOSTING_FIRST,    /* it becomes one; its own run is that of any other copy */
    PCT_HOSTING_RESTORED, /* in one that has made runs before */
    PCT_HOSTING_AGAIN     /* it was in a host, and is made again without */
};

/* From now on, runs may be restored, if that is wanted, or may not. A host stays for when they may again. */
void pct_hosts_let(struct pct_launch *launch, bool may);

/* What was made is worth nothing, as `broken` says: say so, and begin anew, by fork. Returns where that cannot be, with
 * the exit status. Files that were written are as they were before. */
int pct_hosts_begin_anew(struct pct_launch *launch);

/* Ask the host of this worker for this run. False: there is none. */
bool pct_hosts_ask(struct pct_launch *launch, struct pct_process *process);

/* How many runs the host of this worker can be asked for before the one under way is over: it begins them one behind
 * the other, and we look at what is over meanwhile. 0: none. */
unsigned pct_hosts_queue(const struct pct_launch *launch, unsigned worker);

/* For a request to the fork server, to be closed when it is sent: the other end of the socket of a new host, and its
 * ring. False: there is none. Its process is known later. */
bool pct_hosts_open(struct pct_launch *launch, struct pct_process *process, int files[2]);
void pct_hosts_began(struct pct_launch *launch, struct pct_process *process);

/* Whether the run of this process goes on in a host, or has. */
bool pct_hosts_run(const struct pct_process *process);

/* Whether the run was made in a host that had made others, which has put all back: nothing of it is left. */
bool pct_hosts_whole(const struct pct_process *process);

/* Whether its host makes another run first. When it no longer does, this run begins to count. */
bool pct_hosts_waits(struct pct_launch *launch, struct pct_process *process);

/* Whether its host was ended, or has ended with another run: this one has to begin anew. */
bool pct_hosts_lost(const struct pct_launch *launch, const struct pct_process *process);

/* Whether such a run may begin anew now: of one worker, one at a time, but for what waits in a host. */
bool pct_hosts_let_begin(const struct pct_launch *launch, const struct pct_process *process,
                         const struct pct_process *processes, int count);

/* Before this process sleeps: the hosts of these runs shall wake it when it is worth that. False: there is something to
 * look at. */
bool pct_hosts_await(struct pct_launch *launch, const struct pct_process *processes, int count);

/* Whether the run of this process is over, which its host says, with its status. */
bool pct_hosts_over(struct pct_launch *launch, struct pct_process *process);

/* The process of this host has ended. */
void pct_hosts_ended(struct pct_launch *launch, struct pct_process *process);

/* Likewise, by our own doing: nobody wants its run any more. */
void pct_hosts_forget(struct pct_launch *launch, const struct pct_process *process);

/* A run in a host is over, in either way. Whether it is to be made again: by exec, or else forked. */
bool pct_hosts_again(struct pct_launch *launch, struct pct_process *process, bool *exec);

/* Before it is made again: what it has written, for the comparison. */
void pct_hosts_remember(struct pct_process *process);

/* And that is over. */
void pct_hosts_compare(struct pct_launch *launch, struct pct_process *process);

/* The token of the last restored run that was not made again; NULL: there is none. And when it was, by the caller: to
 * compare the two. */
const char *pct_hosts_last(const struct pct_launch *launch);
void pct_hosts_compare_last(struct pct_launch *launch, struct pct_process *process);

/* The process that serves this worker: its host, or else its fork server. */
pid_t pct_hosts_server(const struct pct_launch *launch, unsigned worker);
bool pct_hosts_has(const struct pct_launch *launch, pid_t pid);
void pct_hosts_end(struct pct_launch *launch);

/* How many runs were restored, and why others were not, if that was wanted: as lines. docs/FORKING.md lists the
 * reasons. */
void pct_hosts_print(FILE *out, const struct pct_launch *launch);

#endif
