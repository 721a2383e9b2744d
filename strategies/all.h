/* enable_all() and disable_all() of a strategy, from its enable() and disable(): one call for many threads. */
#ifndef PCT_STRATEGIES_ALL_H
#define PCT_STRATEGIES_ALL_H

#include <pct/strategy.h>

/* After enable() and disable(). */
#define PCT_DEFINE_ALL                                                                                                 \
    static void enable_all(void *state, const uint16_t *threads, uint32_t count)                                       \
    {                                                                                                                  \
        for (uint32_t i = 0; i < count; i++)                                                                           \
            enable(state, threads[i]);                                                                                 \
    }                                                                                                                  \
    static void disable_all(void *state, const uint16_t *threads, uint32_t count)                                      \
    {                                                                                                                  \
        for (uint32_t i = 0; i < count; i++)                                                                           \
            disable(state, threads[i]);                                                                                \
    }

/* In the table of functions. */
#define PCT_ENABLE_ALL .enable_all = enable_all, .disable_all = disable_all

#endif
