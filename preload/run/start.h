/* The start of a run: start.c. */
#ifndef PCT_PRELOAD_START_H
#define PCT_PRELOAD_START_H

#include <preload/core/shim.h>

/* Begin the run that is pending, if the caller is the thread that it begins with. As pct_enter(). */
struct pct_shim_thread *pct_enter_first(void);

/* A forked child begins a run of its own. */
void pct_start_child(uint32_t ordinal, uint64_t parent_seed);

#endif
