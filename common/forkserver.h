/* What the `pct` command and the fork server in the target (preload/process/forkserver.c) say to each other, over a
 * SOCK_SEQPACKET socket whose number stands in the header of the server's trace file. One message each:
 *
 *     server -> command    a reply, when it has come to the place where it forks, or why it does not serve
 *     command -> server    a request for a run; with it the descriptors that are to be its standard input and output
 *     run -> command       a reply with its process id, before any code of the target (of a host: the server says it)
 *     server -> command    instead of that, why there is no run
 *
 * The end of the connection ends the server. */
#ifndef PCT_COMMON_FORKSERVER_H
#define PCT_COMMON_FORKSERVER_H

#include <pct/trace.h>
#include <stdint.h>

enum { PCT_FORKSERVER_VERSION = 7, PCT_FORKSERVER_TEXT = PCT_TOKEN_MAX + 4096 };

/* The last variable of a target's environment rounds it up to a multiple of this many bytes: cli/process/environment.c
 * says why. */
#define PCT_PAD_NAME "_PCT_PAD="
/* What that variable is called when a fork server starts: the linker binds all functions once, and not again in each
 * run. */
#define PCT_PAD_BIND "LD_BIND_NOW="
enum { PCT_PAD_UNIT = 16384 };

/* X(identifier, what the user reads behind "because ..."). */
#define PCT_FORKSERVER_STATES(X)                                                                                       \
    X(READY, "it is ready")                                                                                            \
    X(THREADS, "the target starts threads before main that pct does not see")                                          \
    X(DESCRIPTORS, "the target opens or closes descriptors before main, which all runs would share")                   \
    X(SHARED, "the target shares memory before main")                                                                  \
    X(LIBC, "this libc does not show where it keeps the id of a thread")                                               \
    X(ENVIRONMENT, "the target moves its environment before main")                                                     \
    X(FULL, "the environment of the run has another size")                                                             \
    X(FORK, "the kernel refuses to fork the target")

enum pct_forkserver_state {
#define PCT_FORKSERVER_ENUM(id, text) PCT_FORKSERVER_##id,
    PCT_FORKSERVER_STATES(PCT_FORKSERVER_ENUM)
#undef PCT_FORKSERVER_ENUM
        PCT_FORKSERVER_STATE_COUNT
};

struct pct_forkserver_reply {
    uint32_t version;
    uint32_t state; /* enum pct_forkserver_state */
    int32_t pid;    /* of the run; 0: the server speaks for itself */
};

enum { PCT_REQUEST_FILES = 5 /* descriptors that come along, at most */ };

/* What a run records of where its steps are made, whatever the server's environment has of PCT_SITES. */
enum { PCT_FORKSERVER_NO_SITES, PCT_FORKSERVER_SITES /* on */, PCT_FORKSERVER_CALLS /* calls */ };

struct pct_forkserver_request {
    uint32_t version;
    uint16_t input;                 /* 1: the first descriptor that comes along is standard input */
    uint16_t output;                /* 1: the next one is standard output and standard error */
    uint16_t followed;              /* 1: the next request may come before this run is over; it waits for that */
    uint16_t host;                  /* 1: it shall be a host (host.h); the next three: its socket, trace, ring */
    uint16_t contexts;              /* 1: whose threads are contexts, where they can be */
    uint16_t sites;                 /* PCT_FORKSERVER_SITES and the like */
    char text[PCT_FORKSERVER_TEXT]; /* the values of PCT_TOKEN and PCT_TRACE, each with its end; not sent in full */
};

#endif
