/* Servers: a run with `--ready` and `--drive` starts the server under control, waits until it is ready, runs a client
 * beside it that is not under control, and then stops the server. For launch.c, which calls pct_drive_step() whenever a
 * child has changed or a moment has come that the last step asked for.
 *
 * Neither side can be blocked by us: what they write goes to files, which never fill up as a pipe does. (Under control,
 * a server that waits for room in a pipe would be scheduled as our reading goes.) */
#ifndef PCT_CLI_DRIVE_H
#define PCT_CLI_DRIVE_H

#include "readiness.h"
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define PCT_DRIVE_READY_TIMEOUT 30.0
#define PCT_DRIVE_STOP_TIMEOUT 10.0

struct pct_launch;
struct pct_process;
struct pct_result;

/* What the user wants. */
struct pct_drive {
    const char *ready;    /* --ready, NULL: there is nothing to drive */
    const char *client;   /* --drive: for sh -c */
    const char *stop;     /* --stop as given, NULL: the default */
    int signal;           /* the signal that stops the server, 0: the client does */
    double ready_timeout; /* seconds from the start of the server until it is ready */
    double stop_timeout;  /* seconds that one side has when the other has ended */
};

enum pct_drive_phase {
    PCT_DRIVE_STARTING, /* the server is not ready */
    PCT_DRIVE_DRIVING,  /* the client runs */
    PCT_DRIVE_STOPPING, /* the client has ended, the server shall */
};

/* What went wrong, as far as only we know it. */
enum pct_drive_trouble {
    PCT_DRIVE_NONE,
    PCT_DRIVE_NOT_READY,   /* in time */
    PCT_DRIVE_NOT_STOPPED, /* in time */
    PCT_DRIVE_CLIENT_LEFT, /* the client did not end in time after the server had */
};

/* One driven run. */
struct pct_driven {
    const struct pct_drive *drive;
    char **command; /* of the server, and the rest: with {worker} replaced */
    char *ready_text, *client;
    struct pct_readiness ready;
    enum pct_drive_phase phase;
    enum pct_drive_trouble trouble;
    bool stop_sent;
    pid_t rest;   /* the server's process group when its first process has ended by the stop, until it is empty; or 0 */
    double pause; /* between two looks whether it is ready */
    double limit; /* on the clock of pct_cli_now(): when this phase is over at the latest, 0: never */
    pid_t pid;    /* of the client, 0: it does not run */
    int status;   /* of the client, as from waitpid() */
    int output;   /* the file with what the client wrote, -1: it has our own streams */
    bool pass;    /* what the server writes goes to our standard error as it comes */
    off_t passed;
};

/* Check the options when they are all there, and fill in the defaults. jobs: the number of workers. Returns 0 or
 * PCT_EXIT_USAGE after a message. */
int pct_drive_check(struct pct_drive *drive, unsigned jobs);

/* How many workers there may be, of this many that would do, where the user has not said how many: 1 if all would have
 * the same port or path. */
unsigned pct_drive_limit(const struct pct_drive *drive, unsigned jobs);

/* Before the server of this process starts. pass: both sides write to our streams. Returns 0 or an exit status for the
 * command, after a message. */
int pct_drive_open(struct pct_process *process, const struct pct_launch *launch, bool pass);

/* Do what is due. Returns when to be called again at the latest, 0: when a child has changed. */
double pct_drive_step(struct pct_process *process, const struct pct_launch *launch);

/* The server's process has been collected. Does its group get time to end, too? (Otherwise it is to be killed.) The
 * program that a shell script started is not told of a signal that ends the script. */
bool pct_drive_take_rest(struct pct_process *process);

/* Both sides have ended. */
bool pct_drive_over(const struct pct_process *process);

/* End the client. */
void pct_drive_kill(struct pct_process *process);
void pct_drive_close(struct pct_process *process);

/* What both together mean for a run whose server ended as result says. */
void pct_drive_result(const struct pct_process *process, struct pct_result *result);

/* How the client ended, in a few words. Returns buffer. */
const char *pct_drive_format_client(char *buffer, size_t size, const struct pct_process *process);

/* The head of the report of such a run; false: result speaks for itself, but for the client, which was said. */
bool pct_drive_format(char *buffer, size_t size, const struct pct_process *process, const struct pct_result *result);

#endif
