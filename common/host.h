/* What the `pct` command and a host say to each other. A host is a run of a fork server (forkserver.h) that does not
 * end: it puts its memory back as it was when the run began (preload/core/host.h), and makes the next one. Over a
 * SOCK_SEQPACKET socket that came with the request for it, one message each:
 *
 *     host -> command    the run is over, and the next one can begin; or the process ends, and why
 *     command -> host    the next run; with it the files of its trace and its output, where they are other ones
 *
 * The end of the connection ends the host. */
#ifndef PCT_COMMON_HOST_H
#define PCT_COMMON_HOST_H

#include <pct/trace.h>
#include <stdint.h>

enum { PCT_HOST_VERSION = 1, PCT_HOST_TEXT = PCT_TOKEN_MAX + 4096 };

/* Why a host ends. X(identifier, whether its run counts: it has ended as any other does, what the user reads). The
 * texts stand in docs/FORKING.md. */
#define PCT_HOST_REASONS(X)                                                                                            \
    X(NONE, 1, "its host has ended")                                                                                   \
    X(FAILED, 0, "it failed")                                                                                          \
    X(KERNEL, 1, "the kernel does not tell which memory was written (Linux 6.7, userfaultfd)")                         \
    X(SECCOMP, 0, "system calls cannot be filtered here (seccomp)")                                                    \
    X(SHARED, 1, "the target shares memory with other processes before main")                                          \
    X(DESCRIPTORS, 1, "there are too few descriptors")                                                                 \
    X(LARGE, 1, "the target has too much memory before main")                                                          \
    X(LIMIT, 1, "the memory of a run is limited (--memory-limit, ulimit -v)")                                          \
    X(STACKS, 1, "shadow stacks are on")                                                                               \
    X(CALL, 0, "the target makes a system call that is not undone")                                                    \
    X(WATCHDOG, 0, "runs take so long that pct watches them")                                                          \
    X(ENVIRONMENT, 0, "the environment of the run has another size")                                                   \
    X(TRACE, 0, "there is no space for the trace")                                                                     \
    X(THREADS, 1, "threads still run when the process ends, or the first one does not end it")                         \
    X(SIGNALS, 1, "a signal was pending at the end")                                                                   \
    X(CHILDREN, 1, "a child process was left at the end")                                                              \
    X(MAPPINGS, 1, "memory that was there before main was unmapped or protected")

enum pct_host_reason {
#define PCT_HOST_ENUM(id, counts, text) PCT_HOST_##id,
    PCT_HOST_REASONS(PCT_HOST_ENUM)
#undef PCT_HOST_ENUM
        PCT_HOST_REASON_COUNT
};

struct pct_host_reply {
    uint32_t version;
    uint32_t reason;  /* enum pct_host_reason, of a host that ends; NONE: it waits for the next run */
    int32_t status;   /* the exit status of the run that is over */
    int32_t call;     /* with CALL: the number of the system call; negative: not known */
    uint32_t verdict; /* as in the header of the trace, where there was a run */
    uint32_t threads;
    uint64_t hash, steps;
};

struct pct_host_request {
    uint32_t version;
    uint16_t trace;           /* 1: the first descriptor that comes along is the file of the trace */
    uint16_t output;          /* 1: the next one is standard output and standard error */
    char text[PCT_HOST_TEXT]; /* as in a request for a run of the fork server */
};

#endif
