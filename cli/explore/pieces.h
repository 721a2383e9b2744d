/* What threads share by libc and the kernel is used between scheduling points, so what a thread does with it up to its
 * next point is one piece. Where others could come in between, the verdict says "if". Pure. */
#ifndef PCT_CLI_PIECES_H
#define PCT_CLI_PIECES_H

#include "execution.h"

/* What is used so, in order of the keys (common/exploration.h). */
enum { PCT_AREAS = 8 };

/* The area of a key, from 0; PCT_AREAS: it is none. */
unsigned pct_area_of(uint64_t key);

/* Whether threads could come in between in some step in more ways than the search tries: a step uses something that
 * another thread may use meanwhile, one of the two changes it, and the step does something else before. threads: more
 * than the highest id in the execution. *pieces: set, if so. Returns 0 or -ENOMEM. */
int pct_pieces_find(const struct pct_execution *x, uint32_t threads, bool *pieces);

#endif
