/* Kernel threads that a host keeps: see host_threads.c. */
#ifndef PCT_PRELOAD_HOST_THREADS_H
#define PCT_PRELOAD_HOST_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* Look how libc makes and ends threads, by the only thread, before the memory is kept. Where that is not known, none
 * are kept: each is made and ends in its run. state: the file that tells what main does (proc_pid_stat(5)). */
void pct_host_threads_prepare(bool contexts, int state);

/* From now on threads are kept. By the only thread, with the filter in force. */
void pct_host_threads_begin(void);

/* How many kernel threads are kept, with those that a run has taken, and has not ended; *parked: and none of those. In
 * any process. */
unsigned pct_host_threads_count(bool *parked);

/* The run is over, and the next one may take those that it has used. */
void pct_host_threads_over(void);

/* Kernel threads that stand for no thread of the run: how many, and whether this is one. In any process, any thread. */
unsigned pct_host_threads_parked(void);
bool pct_host_threads_is_parked(int tid);

/* A run is about to look at a file by this path, from this folder: in /proc it would find them. */
void pct_host_threads_looks(int folder, const char *path);

/* Where libc's code is that makes and ends threads; false: no threads are kept. */
bool pct_host_threads_code(uintptr_t *from, uintptr_t *to);

/* --- Contexts: host_contexts.c ------------------------------------------------------------------------------------ */

/* Threads of this host's runs are contexts of one kernel thread. */
extern bool pct_host_contexts;

/* Instructions set the bases of FS and GS; otherwise system calls do, and that of GS stays 0. */
extern bool pct_host_threads_bases __attribute__((visibility("hidden")));

/* The next thread that libc makes shall be known by what is stored there. */
void pct_host_context_expect(void **context);

/* This one (NULL: main) goes on when the one that runs waits, or has ended. */
void pct_host_context_ready(void *context);

/* Wait: the one that is ready goes on. */
void pct_host_context_wait(void);

/* The run ends here, though others than main are left: from now on, nothing of the context that runs is used but its
 * stack. False: it cannot. */
bool pct_host_contexts_leave(void);

/* The run is over; only main is left, and its memory is put back. False: the next one cannot begin. */
bool pct_host_contexts_over(void);

#endif
