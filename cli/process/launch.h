/* Starting targets under control, and learning how they ended: with those of drive.c, which are not under control,
 * all that `pct` forks.
 *
 * The shim is spoken to through the environment (PCT_* variables) and the header of the trace file, nothing else. Each
 * target runs in a process group of its own, so that it can be ended with all that it started. Order of calls:
 *
 *     pct_launch_prepare()                       once
 *     pct_process_start()  ... pct_launch_wait() ... pct_process_result(), pct_process_close()    for each run
 *     pct_launch_finish()                        once, also after a signal
 */
#ifndef PCT_CLI_LAUNCH_H
#define PCT_CLI_LAUNCH_H

#include "setup_teardown.h"
#include "child_failures.h"
#include "drive.h"
#include "forkserver.h"
#include "hosts.h"
#include "time_limit.h"
#include <cli/trace/trace_read.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* The scratch files of a run. */
struct pct_scratch {
    int trace; /* -1: none */
    char trace_path[PATH_MAX];
    int output;      /* -1: none */
    unsigned worker; /* that had them last */
};

/* Those of runs that have ended, to be used again: making and removing files takes longer than a short run. */
struct pct_scratches {
    unsigned count;
    struct pct_scratch spare[64];
};

/* A file that we were started with, open for reading, and how far that had come. */
struct pct_inherited {
    int fd;
    int64_t place;
    char path[32]; /* /proc/self/fd/... */
};
enum { PCT_INHERITED = 8 };

/* What all runs of a command have in common. The first members the command sets: what the user has chosen. */
struct pct_launch {
    char **command;              /* the target and its arguments, ended by NULL */
    const char *library;         /* --lib, or NULL: look for it */
    const char *replay;          /* a trace to follow (absolute path), or NULL */
    const char *stdin_file;      /* --stdin, or NULL; pct_input_prepare(): or the file that ours was redirected from */
    bool stdin_given;            /* by --stdin */
    bool no_environment;         /* PCT_ENVIRONMENT=off */
    const char *sites;           /* --sites: record where steps are made; or NULL */
    const char *demon;           /* --demon: the plan of the thread that the program gets in addition; or NULL */
    const char *suppressions;    /* a file: which data races do not matter; or NULL */
    bool patches;                /* memory accesses are patched in, whatever the program was built with */
    char focus[128];             /* what --focus says, or the token; "": nothing */
    char watch[96];              /* --watch, likewise */
    char functions[128];         /* --functions, likewise */
    uint32_t returns;            /* where they return: enum pct_functions_returns */
    uint32_t patch_level;        /* --memory: PCT_PATCH_* */
    uint64_t memory;             /* bytes of address space that each process may have, 0: no bound */
    double timeout;              /* seconds of real time for each run, 0: none; */
    struct pct_time_limit limit; /* and less for those that take far longer than the others */
    double ends;                 /* on the clock of pct_cli_now(): no run goes on behind this; 0: no such moment */
    enum pct_children children;  /* which child processes that fail make a failing run */
    bool exec;                   /* start each run by exec */
    bool explored;               /* of `pct explore`: with libpct-explored.so (runtime/explored/) */
    bool aslr;                   /* leave address-space randomisation on */
    uint64_t trace_size;         /* bytes that the scratch file of a trace may grow to, 0: as the shim likes */
    bool resumes;                /* another process can go on where this one was killed: see supervise.h */
    bool alone;                  /* there is one run, and no client: it gets our standard input and the terminal */
    struct pct_drive drive;
    struct pct_setup_teardown around;
    struct pct_forks forks;   /* see pct_forking_plan() */
    struct pct_hosts restore; /* --engine */
    struct pct_scratches scratches;
    /* Set by pct_launch_prepare(). */
    pid_t own; /* this process, whose end is that of its children */
    char program[PATH_MAX];
    const char *behind; /* the program that another one, named before it, starts (replay --with); NULL: there is none */
    char library_path[PATH_MAX];
    char plan[PATH_MAX];                           /* of --demon, absolute; "": none */
    char scope[PATH_MAX];                          /* the file of scope.h; "": none */
    int scope_file;                                /* open for as long as it has that name */
    int input;                                     /* what each run reads from the start, -1: ours (input.h) */
    bool input_is_file;                            /* and not /dev/null, */
    bool input_kept;                               /* but what came by a pipe, or has no name */
    struct pct_inherited inherited[PCT_INHERITED]; /* of several runs; */
    unsigned inherited_count;
    bool terminal;        /* standard input is a terminal and we were in its foreground; */
    bool behind_shell;    /* we were stopped since, and went on in the background */
    sigset_t old_signals; /* the mask that the targets get */
    unsigned spared;      /* signals to us that runs have sent */
    bool random;          /* addresses are, though nobody asked for it: the system does not let that be turned off */
    bool controls;        /* a run was under control, so the program can be */
    bool arguments_kept;  /* some name pipes, of which the runs read copies (input.h) */
    unsigned reaped;      /* runs that have ended, */
    pid_t past[256];      /* the last of them */
    unsigned running;     /* runs that have begun and are not over, */
    unsigned postponed;   /* and of these, such as wait for a process: see pct_process */
    bool crowded;         /* runs have left many processes behind, which can be ended when none goes on */
};

/* How a run ended, as the command sees it. The verdicts of <pct/trace.h> say what the shim saw. */
enum pct_ending {
    PCT_ENDING_EXIT,
    PCT_ENDING_CRASH,
    PCT_ENDING_ASSERTION,
    PCT_ENDING_DEADLOCK,
    PCT_ENDING_LIVELOCK,
    PCT_ENDING_DIVERGENCE,
    PCT_ENDING_INTERNAL,
    PCT_ENDING_KILLED,  /* by a signal that nobody can see coming, like SIGKILL */
    PCT_ENDING_TIMEOUT, /* --timeout */
    PCT_ENDING_NOT_CONTROLLED,
    PCT_ENDING_RACE,      /* --races=fail */
    PCT_ENDING_NOT_READY, /* from here: of servers, see drive.h */
    PCT_ENDING_EARLY,
    PCT_ENDING_NOT_STOPPED,
    PCT_ENDING_CLIENT,    /* it failed */
    PCT_ENDING_NO_CLIENT, /* it could not be run */
    PCT_ENDING_SANITIZER, /* from here: what only the oracle of a campaign sees, see oracle.h */
    PCT_ENDING_OUTPUT,
    PCT_ENDING_ORACLE,
    PCT_ENDING_SETUP,      /* --setup failed: there was no run */
    PCT_ENDING_TEARDOWN,   /* --teardown failed: the next run might meet what this one has left */
    PCT_ENDING_KILLED_PCT, /* it has killed this command, three times: see supervise.h */
    PCT_ENDING_COUNT
};

const char *pct_ending_name(enum pct_ending ending);

/* What a run is told beside its token. NULL: nothing. */
struct pct_run_extras {
    const char *schedule;    /* a file with the strategy's list, where it is too long for the token */
    const char *channel;     /* of the strategy `explore`: the file with its plan, and for its log, */
    struct pct_channel *log; /* as it is mapped here; what a run has written there is dropped when it is made again */
    const char *sites;       /* PCT_SITES: record where these steps are made; on, calls, ... */
    bool learns;             /* what the run shows of accesses to memory is recorded: it is not restored */
    uint64_t points;         /* pct_hosts_points() */
};

/* A run, in memory of who starts it, from pct_process_start() to pct_process_close(). The caller's are index, worker
 * and again, set before; all else is written by this folder alone. */
struct pct_process {
    bool running;  /* from pct_process_start() until pct_launch_wait() returns it */
    pid_t pid;     /* 0: none, or it has ended */
    bool forked;   /* by a fork server, not started by exec */
    bool asked;    /* that server has been asked, and the process id is not known yet, */
    uint64_t turn; /* by the answer to the request of this number, */
    double answer; /* by then or never (on the clock of pct_cli_now()) */
    enum pct_hosting hosting;
    uint64_t host_number, host_turn;  /* which host, and how many runs it makes before; */
    bool queued;                      /* it makes one of these now, and pid is 0; */
    struct pct_host_reply host_reply; /* what the host has said of it, */
    bool host_said;                   /* if it has; */
    bool host_ended;                  /* it has ended then; */
    bool host_restored;               /* the run was not its first */
    uint64_t host_digest;             /* of the output */
    double postponed; /* the kernel has no process to give: it is tried again; if no other run goes on, until then; 0:
                         it is not so */
    bool unstarted;   /* it could not be started, which was said */
    int killed_pct;   /* it is not started, because it has killed pct by this signal when it was; 0: it has not */
    unsigned note;    /* supervise.c: where it is noted as under way, 0: nowhere */
    double started;   /* on the same clock */
    double ended;     /* likewise, as its host says; 0: it does not */
    double seconds;   /* that it took, when it is over */
    bool pass;        /* its output goes where ours does */
    int cpu;          /* that the target is to be pinned to, -1: any */
    uint64_t index;   /* the caller's: which run this is */
    enum pct_children children;
    unsigned worker; /* the caller's: runs with the same number follow each other */
    struct pct_run_extras extras;
    char **command;
    struct pct_launch *launch;
    struct pct_driven *driven; /* NULL: there is no client */
    int trace;                 /* the scratch file of the trace */
    char trace_path[PATH_MAX];
    int output;     /* the scratch file of what the target wrote, -1: passed through */
    bool childless; /* it has made no children: there are no other files than these */
    bool clean;     /* nor has it failed, unless its host goes on: nobody else has these files */
    enum pct_phase phase;
    enum pct_phase trouble; /* whose command failed; PCT_PHASE_RUN: none's */
    pid_t errand;           /* the command of the phase, 0: it does not run */
    int errand_status;      /* of the one that failed, as from waitpid() */
    bool aside;             /* its scratch directory was put aside */
    off_t dropped;          /* this many bytes of it, from the start, were given back to the file system */
    double deadline;        /* on the clock of pct_cli_now(), 0: none */
    double limited;         /* when its time began, */
    double allowed;         /* and the seconds from then to that */
    double last;            /* it ends then at the latest, whatever its limit; 0: no such time */
    bool cut;               /* that is earlier than --timeout says: the others take far less */
    bool timed_out;
    bool slow;               /* when its time was over, it got on, but had hardly had a CPU: pct_time_limit_slow() */
    bool again;              /* it was made before, and cut: this time only --timeout ends it */
    bool preloaded;          /* when its time was over, it had our library, though that may not have started yet; */
    char children_did[8192]; /* this is what its child processes did: descendants.h; */
    double waited;           /* and the seconds for which their threads, and its own, had waited for a CPU, summed */
    int status;              /* as from waitpid() */
    char token[PCT_TOKEN_MAX];
};

struct pct_result {
    enum pct_ending ending;
    int code; /* the exit status that stands for this ending: docs/EXIT-CODES.md */
    enum pct_trace_state state;
    bool unrecorded;        /* there was no space for a trace: only the ending is known, and the header says little */
    bool unseen;            /* the target exited, and the shim did not see it: its steps end before that */
    struct pct_trace trace; /* of a process that is not closed yet */
    unsigned children;      /* child processes that failed, */
    unsigned raced;         /* if none did: that ended by themselves, with data races; if any: */
    struct pct_trace child; /* the last steps of the first of them */
    char error[256];        /* why the trace is not good */
    char complaint[512];    /* what the oracle found */
};

/* Find the target and the library, and take over the signals. Returns 0, or the exit status for the command, after a
 * message. */
int pct_launch_prepare(struct pct_launch *launch);

/* child_exec.c: whether address-space randomisation cannot be turned off here. Say so, if that is so. */
bool pct_launch_is_random(void);
void pct_launch_say_random(const struct pct_launch *launch);
void pct_launch_finish(struct pct_launch *launch);

/* Start a run under this token. extras: NULL: nothing is; without sites, those of the launch are recorded. Its strings
 * live as long as the run. cpu: the CPU that it is to be pinned to, -1: any. capture: collect its output, and that of
 * its client. Returns 0, or an exit status for the command, after a message. For engines (cli/campaign/engine.h), and
 * for whoever finds out how runs can be made. */
int pct_process_start(struct pct_process *process, struct pct_launch *launch, const char *token,
                      const struct pct_run_extras *extras, int cpu, bool capture);

/* Fork and exec the target of this process, for a run or as a fork server, with these descriptors, where they are not
 * -1: `input` as its standard input, and `control` as it is. Returns its process id, or the negative exit status for
 * the command, after a message; PCT_NO_PROCESS, without one: the kernel has no process to give just now. */
#define PCT_NO_PROCESS (-1000)
pid_t pct_launch_exec(const struct pct_process *process, char **environment, int input, int control);

/* In a new child that is not the target but a command beside it (a client, --setup): a process group of its own that
 * ends with this process, /dev/null as standard input, and this descriptor, unless it is -1, as standard output and
 * standard error. Then become that command, for sh -c. Async-signal-safe. */
void pct_launch_go_aside(const struct pct_launch *launch, int output);
__attribute__((noreturn)) void pct_launch_become_shell(const struct pct_launch *launch, const char *command,
                                                       char **environment);

/* scratch.c: make the scratch file of a trace, for a run (server is 0) or a fork server on this descriptor; the file
 * may grow to this many bytes (0: as many as the shim likes). Returns its descriptor, or the negative exit status for
 * the command, after a message. */
int pct_scratch_make_trace(char *path, size_t size, int server, uint64_t most);

/* Give a process that is about to start its scratch files. capture: also one for its output. Returns 0 or an exit
 * status for the command, after a message; pct_scratch_close() in either case. */
int pct_scratch_open(struct pct_process *process, struct pct_launch *launch, bool capture);
void pct_scratch_close(struct pct_process *process);
/* The run is made again: with the same files, as if they were new. False: they are not. */
bool pct_scratch_renew(const struct pct_process *process);
void pct_scratches_remove(struct pct_launch *launch);

/* stale_files.c: remove the scratch files that commands of this user have left that were killed (SIGKILL). */
void pct_scratch_remove_stale(void);

/* Those of this process, which has ended, but for one that is kept (or ""). */
void pct_scratch_remove_of(pid_t launcher, const char *kept);

/* Wait until one of the runs is over (its index in processes is returned in *ended), or until
 * `until` on the clock of pct_cli_now() (0: for ever; *ended is -1). Ends those whose time is over. Returns 0, or the
 * number of a signal that tells us to end. */
int pct_launch_wait(struct pct_launch *launch, struct pct_process *processes, int count, double until, int *ended);

/* signals.c: the signals that are blocked and awaited, not handled. */
void pct_signals_of_ours(sigset_t *set);

/* signals.c: block them; and in a new child that is to be a program of its own: have the mask from before that. */
void pct_signals_block(sigset_t *old);
void pct_signals_let_in(void);

/* signals.c: where these are blocked: whether the user wants us to end. */
bool pct_signals_pending(void);

/* What the user or the system wants by this one: its number, or 0 if it says nothing or comes from a run. A target that
 * ends the process that started it would end the whole campaign; its kill() is kept back by the shim, a system call of
 * its own comes this far. */
int pct_signals_heed(struct pct_launch *launch, const siginfo_t *info);

/* Take those that have come and nobody has waited for, before they are let in: those of runs are not to end us. */
void pct_signals_drain(struct pct_launch *launch);

/* Look at how the run ended. The result's traces are valid until pct_result_close(). */
void pct_process_result(struct pct_process *process, struct pct_result *result);
void pct_result_close(struct pct_result *result);

/* Whether there was no space for its trace: it should be done again when there is. */
bool pct_result_lacks_space(const struct pct_result *result);

/* Whether pct itself has failed in it, which is no failure of the program's. */
bool pct_result_is_internal(const struct pct_result *result);

/* Whether its trace has all its steps: nothing was dropped, and the target did not go on behind the last of them. */
bool pct_result_is_whole(const struct pct_result *result);

/* Of a run that did not fail: the trace with data races to tell of, the first process's if it has any, else a child's;
 * NULL: there are none. */
const struct pct_trace *pct_result_raced(const struct pct_result *result);

/* Whether a child that failed is one that should have repeated what it did under a script, and did otherwise. */
bool pct_result_child_diverged(const struct pct_result *result);

/* Whether the run failed: it did not exit by itself, or with a status that ok[] does not have. */
bool pct_result_fails(const struct pct_result *result, const bool ok[256]);

/* Collect the status of a leader that has ended, and kill what is left of its process group. Without waiting for the
 * end of that, the next server would find the port in use. */
int pct_process_reap_group(pid_t leader);

/* End a run that still goes on. With a signal: give the target two seconds to end by it. */
void pct_process_kill(struct pct_process *process, int signal);

/* orphans.c: end what runs have left behind, unless a run goes on: it may be its; then see whether that is much, for
 * `crowded`. What cannot be ended in 20 s is left, with a message. */
void pct_launch_sweep(struct pct_launch *launch);

/* The children that there are now are no run's: never end them. Before the first run. */
void pct_launch_spare(void);

/* Remove the scratch files. Harmless for a process that was never started (zeroed) or is closed. */
void pct_process_close(struct pct_process *process);

/* Copy what was collected in this file to `out`; of very much only the last part, with a line that says so. False:
 * there is nothing in it, or (output is -1) it was not collected. */
bool pct_output_copy(int output, FILE *out);

#endif
