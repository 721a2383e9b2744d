/* Which operations on one object depend on each other (Maple, section 3.1): that makes a dependency of iroots.h. A pure
 * function. */
#ifndef PCT_CLI_CONFLICTS_H
#define PCT_CLI_CONFLICTS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether it matters that the first comes right before the second, of operations (enum pct_op): of memory, one writes;
 * else the first gives what the second takes (an unlock, and the lock behind it), or the other way round where either
 * may come first. It does not matter that an unlock comes behind an unlock, say. */
bool pct_conflict(uint32_t first, uint32_t second);

#endif
