/* What the `pct` command and a host say to each other. A host is a run of a fork server (forkserver.h) that does not
 * end: it puts its memory back as it was when the run began (preload/core/host.h), and makes the next one. Many runs
 * are asked for at once: what is asked and how each run has ended stands in a ring in memory that both have, and
 * neither wakes the other for a single one. Over a SOCK_SEQPACKET socket, one message each:
 *
 *     host -> command    a reply: the process ends, and why; an empty one: as many runs are over as are awaited
 *     command -> host    files of the run that it comes to next; or nothing, if it sleeps and there is one
 *
 * Both came with the request for the host. A run has a slot: the files of a trace and of output. The host keeps the
 * trace mapped, and the command reads it while the run of another slot goes on. With the first run of a slot come its
 * files, and later where they are other ones. There are more slots than runs that were asked for, because other runs
 * wait to be looked at, behind those of other workers. The end of the connection ends the host. */
#ifndef PCT_COMMON_HOST_H
#define PCT_COMMON_HOST_H

#include <pct/trace.h>
#include <stdbool.h>
#include <stdint.h>

enum { PCT_HOST_VERSION = 8, PCT_HOST_QUEUE = 16, PCT_HOST_SLOTS = 32, PCT_HOST_TEXT = PCT_TOKEN_MAX + 4096 };

/* Why a run is not restored. X(identifier, whether the run counts after which a host says so: it has ended as any other
 * does, what the user reads). docs/FORKING.md has each, and tests/cli/restore.bats. */
#define PCT_HOST_REASONS(X)                                                                                            \
    X(NONE, 1, "the restoring process has ended")                                                                      \
    X(FAILED, 0, "too many runs fail")                                                                                 \
    X(KERNEL, 1, "the kernel does not tell what was written (userfaultfd)")                                            \
    X(SECCOMP, 0, "system calls cannot be filtered (seccomp)")                                                         \
    X(DESCRIPTORS, 1, "too few descriptors")                                                                           \
    X(LARGE, 1, "too much memory before main")                                                                         \
    X(LIMIT, 1, "memory is limited (--memory-limit, ulimit -v)")                                                       \
    X(STACKS, 1, "shadow stacks are on")                                                                               \
    X(CALL, 0, "a system call is not undone")                                                                          \
    X(CONTEXT, 0, "threads need kernel threads")                                                                       \
    X(WATCHDOG, 0, "pct watches long runs")                                                                            \
    X(ENVIRONMENT, 0, "the environment of the run has another size")                                                   \
    X(TRACE, 0, "no space for the trace")                                                                              \
    X(THREADS, 1, "threads still run at the end")                                                                      \
    X(SIGNALS, 1, "a signal is pending")                                                                               \
    X(CHILDREN, 1, "a child process is left")                                                                          \
    X(MAPPINGS, 1, "memory from before main is given back")                                                            \
    /* From here, the command alone says so. */                                                                        \
    X(FORKING, 0, "runs are not forked")                                                                               \
    X(FEW, 0, "too few runs")                                                                                          \
    X(AROUND, 0, "runs have --setup, --teardown or --scratch")                                                         \
    X(LEARNS, 0, "runs learn (--memory-points=learned)")                                                               \
    X(POINTS, 0, "runs have other points than the first")                                                              \
    X(DIFFERS, 0, "a restored run differed")

enum pct_host_reason {
#define PCT_HOST_ENUM(id, counts, text) PCT_HOST_##id,
    PCT_HOST_REASONS(PCT_HOST_ENUM)
#undef PCT_HOST_ENUM
        PCT_HOST_REASON_COUNT
};

/* Whether the command clears a trace for the next run where it stands, by what the last one has used of it. A longer
 * one it cuts behind the header, and lets it grow again, which takes less time. */
enum { PCT_HOST_TRACE_CLEARED = 1 << 16 };
static inline bool pct_host_trace_stays(uint64_t used)
{
    return used < PCT_HOST_TRACE_CLEARED && used > PCT_TRACE_HEADER_SIZE - 4096;
}

struct pct_host_reply {
    uint32_t version;
    uint32_t reason;  /* enum pct_host_reason, of a host that ends; NONE: it waits for the next run */
    int32_t status;   /* the exit status of the run that is over; negative: of the signal that ends it */
    int32_t call;     /* with CALL: the number of the system call; negative: not known */
    uint32_t verdict; /* as in the header of the trace, where there was a run */
    uint32_t threads;
    uint64_t hash, steps;
    uint64_t from; /* how many places of its plan the run found made, as it went on from a point in another one */
    uint64_t time; /* when it was over, in nanoseconds of CLOCK_MONOTONIC */
};

struct pct_host_request {
    uint32_t version;
    uint16_t slot;            /* below PCT_HOST_SLOTS */
    uint16_t sites;           /* as in a request for a run of the fork server */
    uint16_t files;           /* 1: two descriptors come along: its trace; its standard output and standard error */
    char text[PCT_HOST_TEXT]; /* as in a request for a run of the fork server */
};

/* Numbers of runs are counted from 0, the host's first one, and modulo 2^32. Entry n % PCT_HOST_QUEUE is run n's. */
struct pct_host_ring {
    uint32_t asked;  /* runs that were asked for; the command's, */
    uint32_t awaits; /* which sleeps until this number of them is over */
    uint32_t over;   /* runs that are over; the host's, */
    uint32_t sleeps; /* which does so until a message comes */
    struct {
        struct pct_host_reply reply;
        struct pct_host_request request;
    } entry[PCT_HOST_QUEUE];
};

#endif
