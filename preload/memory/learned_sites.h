/* --memory-points=learned: plain accesses at places in the code that were ordered in all runs so far are no points; and
 * what this run teaches. Places are named by file and offset, so that names are the same in each run. All with the
 * baton. */
#ifndef PCT_PRELOAD_LEARNED_SITES_H
#define PCT_PRELOAD_LEARNED_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* This run learns. */
extern bool pct_ordered_active;
/* start.c: where the files are (PCT_ORDERED), or NULL. */
extern const char *pct_ordered_directory;

/* Before a thread is made: the first time, read the set that the token names. */
void pct_ordered_start(void);

/* The flags of the place of an access, by the address behind its instruction: PCT_PLACE_* of pct/trace.h, or'ed with
 * PCT_ORDERED_SKIPPED. NULL: out of memory. Valid until the next call. */
enum { PCT_ORDERED_SKIPPED = 1 << 8 };
uint32_t *pct_ordered_place(uintptr_t pc);

/* What was learned, for the snapshot: fills in at most `most` struct pct_snap_place, and returns how many there are. */
struct pct_snap_place;
size_t pct_ordered_report(struct pct_snap_place *places, size_t most);

#endif
