/* What pct knows of each thread stands in one array, by id (pct_shim.slots). It grows by pieces, in address space that
 * is reserved for it; but not where the process's address space is limited, for the program has only what is left. */
#ifndef PCT_PRELOAD_SLOTS_H
#define PCT_PRELOAD_SLOTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Remember the limit of address space that the program starts with: the run may begin in a sandbox, where to ask is
 * forbidden. At the start, by the only thread. */
void pct_slots_see_limit(void);

/* Begin the array: pct_shim.slots, which is NULL. all: with room for every thread that there can be (PCT_MAX_THREADS).
 * False: out of memory. At the start, by the only thread. */
bool pct_slots_begin(bool all);

/* In a forked child, which begins an array of its own: calls that the fork came in the middle of still use the
 * parent's, but not what was only reserved of it. */
void pct_slots_forget(void);

/* Whether there is room for the thread of this id, at most one more than there is room for; make it. False: out of
 * memory. With the baton, or by the only thread; where others run beside each other, the array must have been begun
 * whole. */
bool pct_slots_reach(uint32_t id);

/* The program limits its address space, in bytes: give back the places of threads whose stacks would not fit
 * there (16 KB each), where they are only reserved. With the baton, or by the only thread. */
void pct_slots_give_back(uint64_t limit);
/* The limit has been raised to this: reserve them again, as far as nothing of the program's stands there. Likewise. */
void pct_slots_take_back(uint64_t limit);

/* No thread with these attributes (NULL: the usual ones) could be made. Whether there would be room for its stack if
 * pct had taken none of an address space that was limited when the program started. One that limits itself wants to see
 * its limit, but not where what pct has taken leaves no room for any. Any thread. */
bool pct_slots_in_the_way(const pthread_attr_t *attr);

#endif
