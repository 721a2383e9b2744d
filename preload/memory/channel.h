/* The channel of an explored run (common/exploration.h). */
#ifndef PCT_PRELOAD_CHANNEL_H
#define PCT_PRELOAD_CHANNEL_H

#include <common/exploration.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At the start of a run, before its strategy's: follow the plan in this file (NULL: there is none), and log to it;
 * unless another process of this run does already. Ends the process if there is no memory. */
void pct_channel_open(const char *path);

/* For libpct-explored.so (runtime/explored/), called by any thread: the id of the calling one, 0 also for those that
 * pct does not know; whether the run has begun, and is not explored (it repeats a finding, say); a block of the heap is
 * new, or given up, in a program that tells of its accesses to memory (told) or may; the thread uses what has this key
 * (common/exploration.h) between scheduling points (read: and does not change it); it does what exploration cannot see;
 * it asks for what is another one in each process; it has mapped memory here, of which there may be another mapping; it
 * asks something of a thread, by its handle, the kernel's number, or that of its clock, which is answered otherwise
 * once that has ended; it prints. */
uint32_t pct_explored_thread(void);
bool pct_explored_not(void);
void pct_explored_fresh(const volatile void *block, size_t size);
void pct_explored_gone(const volatile void *block, size_t size, bool told);
void pct_explored_hidden(uint64_t key, bool read);
void pct_explored_doubt(enum pct_doubt doubt);
void pct_explored_outside(void);
void pct_explored_mapped(const volatile void *at, uintptr_t pc);
void pct_explored_asks(uintptr_t handle);
void pct_explored_asks_number(int number);
void pct_explored_asks_clock(int clock);
void pct_explored_output(void);

#endif
