/* depth=auto: with which probability a run of the strategy pct has which depth. "Many concurrency bugs have small bug-depths"
 * (PCT, section 1); a run finds bugs of less than its depth, too. Read by pct.c, which draws, and by the command, which says
 * what runs were worth (cli/guarantee.c). */
#ifndef PCT_STRATEGIES_DEPTHS_H
#define PCT_STRATEGIES_DEPTHS_H

#include <stdint.h>

/* A depth for each eighth of the runs: 1 in an eighth of them, 2 in half, 3 in a quarter, 4 in an eighth. */
enum { PCT_DRAWN_DEPTHS = 8, PCT_DEEPEST_DRAWN = 4 };
static const uint8_t pct_drawn_depths[PCT_DRAWN_DEPTHS] = { 1, 2, 2, 2, 2, 3, 3, PCT_DEEPEST_DRAWN };

#endif
