/* Stacks of processes that run, by libdw and ptrace: of child processes, from which there is no trace. */
#ifndef PCT_CLI_LIVE_STACK_H
#define PCT_CLI_LIVE_STACK_H

#include <stddef.h>
#include <sys/types.h>

struct Dwfl;

/* A process whose threads are to be asked. NULL: the kernel or libdw does not tell. */
struct Dwfl *pct_live_open(pid_t pid);
void pct_live_close(struct Dwfl *process);

/* The stack of a thread of it that sleeps or runs, as a line "function FILE:LINE < function ..." of at most `size`
 * bytes, ended by 0; the thread is stopped meanwhile. "": nobody may ask, or it is gone. */
void pct_live_stack(struct Dwfl *process, pid_t thread, char *text, size_t size);

#endif
