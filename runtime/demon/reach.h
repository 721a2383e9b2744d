/* Whether others can find the frames of the test: memory that leads into them. */
#ifndef PCT_RUNTIME_DEMON_REACH_H
#define PCT_RUNTIME_DEMON_REACH_H

#include <stdbool.h>
#include <stdint.h>

/* Whether any word of the process's memory, but for what is pct's, where the plan is, from ours[0] to ours[1], and on
 * this stack below `to`, is an address from `from` on, below `to`. True, too, if that cannot be known: too much memory,
 * no /proc. To be called with the baton: nobody else changes memory then. */
bool pct_demon_reaches(uint64_t from, uint64_t to, uint64_t plan, const uint64_t ours[2]);

#endif
