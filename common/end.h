/* How a run ends: where the thread that ends the process waits for the others. The "final wait" of PCT, section 4.2,
 * lets them go first, so that what they still do shows; but then nothing that exit's handlers do ever comes before it.
 * So where it stands, if anywhere, is drawn for each run. Read by the shim, which draws, and by the command, which says
 * what runs were worth. */
#ifndef PCT_COMMON_END_H
#define PCT_COMMON_END_H

#include <stdint.h>

#define PCT_END_WORDS                                                                                                  \
    {                                                                                                                  \
        "plain", "drawn", "before", "behind", "free"                                                                   \
    }
enum pct_end {
    PCT_END_PLAIN,  /* as before, and no point behind the handlers: what a token says that does not mention it */
    PCT_END_DRAWN,  /* one of the following, from the seed */
    PCT_END_BEFORE, /* the final wait comes before the handlers of exit */
    PCT_END_BEHIND, /* behind them and all destructors */
    PCT_END_FREE,   /* there is none: the strategy decides, as everywhere */
    PCT_END_COUNT
};

/* Of this many runs with PCT_END_DRAWN, this many are free. */
enum { PCT_DRAWN_ENDS = 4, PCT_DRAWN_FREE = 1 };

/* The end of the run with this seed, where the configuration says `end`. Not PCT_END_DRAWN. */
enum pct_end pct_end_of_run(uint8_t end, uint64_t seed);

#endif
