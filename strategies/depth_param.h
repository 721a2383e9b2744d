/* The parameter `depth` of the strategies with priority change points, and depth=auto, its default: with which
 * probability a run has which depth. Read by these strategies, which draw, and by the command, which says what runs
 * were worth (cli/campaign/guarantee.c).
 *
 * "Many concurrency bugs have small bug-depths" (PCT, section 1), and for those the theorem must keep a constant
 * factor: an eighth of the runs for depth 1 and 5, a quarter for 2, 3 and 4. It is as flat as that because most bugs of
 * a smaller depth d are found in more, not fewer, of the runs of depth D, up to C(D-1, d-1) times as many: any d-1 of
 * its change points may do. docs/STRATEGIES.md has the reasoning, docs/experiments the measurements. */
#ifndef PCT_STRATEGIES_DEPTH_PARAM_H
#define PCT_STRATEGIES_DEPTH_PARAM_H

#include <pct/random.h>
#include <stdint.h>

enum { PCT_MAX_DEPTH = 64 };

/* A depth for each eighth of the runs. */
enum { PCT_DRAWN_DEPTHS = 8, PCT_DEEPEST_DRAWN = 5 };
static const uint8_t pct_drawn_depths[PCT_DRAWN_DEPTHS] = { 1, 2, 2, 3, 3, 4, 4, PCT_DEEPEST_DRAWN };

/* In the table of parameters, at `at`. */
#define PCT_DEPTH_PARAM(at)                                                                                            \
    [at] = { .name = "depth",                                                                                          \
             .max = PCT_MAX_DEPTH,                                                                                     \
             .zero = "auto",                                                                                           \
             .help = "the depth d of the bugs to look for: d-1 priority change points; auto: drawn for each run" }

/* The depth of the run with this seed, where the parameter has this value. */
static inline uint32_t pct_depth_of_run(uint64_t parameter, uint64_t seed)
{
    return parameter ? (uint32_t)parameter
                     : pct_drawn_depths[pct_random_below(seed, PCT_STREAM_CHANGE, 0, PCT_DRAWN_DEPTHS)];
}

#endif
