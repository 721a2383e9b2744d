/* What the shim gets from the kernel for itself, without libc: memory, real time, ids of threads, a line for the user.
 */
#ifndef PCT_PRELOAD_KERNEL_H
#define PCT_PRELOAD_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The clock of pct_real_now() begins at 0. At the start of a run. */
void pct_real_start(void);

/* It shows this now, and goes on. */
void pct_real_shift(uint64_t now);
/* Real time in nanoseconds since then. Any thread. */
uint64_t pct_real_now(void);

/* Zeroed memory of this size in bytes, for good, aligned to 64; NULL: there is none. By the only thread, or with the
 * baton. */
void *pct_map(size_t size);

/* Map some for these pieces now: a run of a host then maps none, and none is unmapped behind it. Before the run. */
void pct_map_ahead(void);

/* Whether there is memory, or room in the file, behind these bytes; then there is from now on. Any thread. */
bool pct_populate(void *at, size_t size);

/* The limit of the process's address space in bytes (RLIMIT_AS), UINT64_MAX: there is none. */
uint64_t pct_address_space(void);
/* Bytes of address space that the process uses, the shim's (pct_shim.space) included; 0: not known. */
uint64_t pct_address_space_used(void);

/* The kernel's id of the calling thread, which libc knows. */
int pct_tid(void);
/* The same of any thread. No system call for one of the target's, which a sandbox may forbid. */
int pct_any_tid(void);

/* Whether valgrind runs the process. Any thread. */
bool pct_in_valgrind(void);

/* Descriptor 2 is the program's standard error now: as the run begins, and when it is put there by dup2. A program that
 * closes it may get the number again for a file of its own, where no message must go. */
void pct_error_note(void);
bool pct_error_is_there(void);
/* Writes a line on standard error, with "pct: " before it: unless the user wants none, or it is not there any more. */
void pct_say(const char *line);
/* There is no memory for what pct needs: says so, and ends the process with PCT_EXIT_INTERNAL. With the baton, or by
 * the only thread. */
void pct_fail_for_memory(void) __attribute__((noreturn));

#endif
