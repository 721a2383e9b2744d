/* What the scheduler's host tells the strategy `schedule` beside <pct/strategy.h>. */
#ifndef PCT_STRATEGIES_SCHEDULE_H
#define PCT_STRATEGIES_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* The thread, which runs, has come back from outside, and stands before something else next, though it made no step.
 * Whether the list lets another one go on there: then the strategy is to be asked. state: of the strategy `schedule`;
 * step: of the run. On the thread's turn. */
bool pct_strategy_schedule_returned(void *state, uint32_t thread, uint64_t step);

#endif
