/* What the kernel knows of another process: /proc/PID. With the baton. */
#ifndef PCT_PRELOAD_RELATIVE_H
#define PCT_PRELOAD_RELATIVE_H

#include <stdbool.h>
#include <stdint.h>

enum pct_relative {
    PCT_RELATIVE_GONE,    /* it has ended, or its id is another process's */
    PCT_RELATIVE_STOPPED, /* by SIGSTOP and the like */
    PCT_RELATIVE_SLEEPS,  /* all its threads do, or are about to, or just do no more */
    PCT_RELATIVE_RUNS,    /* one has a CPU, or wants one */
    PCT_RELATIVE_BUSY     /* one waits for a disk or a debugger; or the kernel does not tell */
};

/* *start: set to when the process was made, as the kernel tells; left as it is if it does not. Once it is said to be
 * gone, its parent has been told. */
enum pct_relative pct_relative_look(int pid, uint64_t *start);

/* Whether all threads of a process certainly sleep: nothing that has happened by now wakes them. The second: but
 * perhaps this one. */
bool pct_relative_sleeps(int pid);
bool pct_relative_others_sleep(int pid, int but);

/* Whether all that its threads sleep for is a child, as far as the kernel tells, and each that they have made is one of
 * which `is_such` says so. */
bool pct_relative_awaits_child(int pid, bool (*is_such)(uint32_t child));

/* The children that this thread has made and that are there, at most this many. Returns their number. */
int pct_relative_children(int thread, int *children, int most);

/* Nanoseconds of CPU time that it has used; 0 if nobody knows. */
uint64_t pct_relative_cpu(int pid);

/* Nanoseconds for which its only thread has waited for a CPU, up to when it got one last; 0 if nobody knows. */
uint64_t pct_relative_waited(int pid);

/* Of a process that can run: how much of these last `real` ns it has run or slept, as far as the kernel tells. waited:
 * as pct_relative_waited() said before them. Whoever waits for a CPU is asked again when it has had one. */
uint64_t pct_relative_went_by(int pid, uint64_t real, uint64_t waited);

/* The process that a pidfd is of, a child that is there; 0 if nobody knows. */
int pct_relative_of_pidfd(int pidfd);

/* The namespaces that this process is in; 0 if nobody knows. */
#define PCT_PROCESS_IDS "/proc/self/ns/pid"
#define PCT_SHARED_IDS "/proc/self/ns/ipc" /* of System V's objects */
uint64_t pct_relative_namespace(const char *path);

/* CLOCK_MONOTONIC in ns, which all processes share. */
uint64_t pct_relative_now(void);

#endif
