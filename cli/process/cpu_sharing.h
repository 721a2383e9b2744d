/* One CPU for the command, its fork server and the run, where runs follow each other: see cpu_sharing.c. */
#ifndef PCT_CLI_CPU_SHARING_H
#define PCT_CLI_CPU_SHARING_H

#include <sys/types.h>

/* This server is about to be asked for a run, and no other run goes on: both shall be where the command is, as long as
 * that pays. What the command starts meanwhile by fork may go where it likes, as before. */
void pct_cpu_sharing_stay(pid_t server);

/* The command, and its server if it has one, may go where they like again. Harmless at any time. */
void pct_cpu_sharing_part(void);

#endif
