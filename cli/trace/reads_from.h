/* Reads-from pairs of runs (as of RFF, ASPLOS 2024): a read of memory, and the write whose value it has read, by their
 * places in the code, where several threads of the run use that memory. Where iRoots say who came in between whom,
 * these say which values were seen, a thread's own ones and those from before included. */
#ifndef PCT_CLI_READS_FROM_H
#define PCT_CLI_READS_FROM_H

#include "iroots.h"

/* Take in the pairs of this run, as sets of iRoots have them: place[0] is that of the write, or 0: no write of the run
 * that was seen came before; place[1] is that of the read. An atomic update reads and writes, whether it succeeds or
 * not. Runs have different numbers, and come in their order. Returns 0, or -ENOMEM. */
int pct_reads_from_add(struct pct_iroots *pairs, const struct pct_access *accesses, size_t count, uint64_t run);

#endif
