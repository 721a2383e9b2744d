/* Vector clocks: for each thread, how far another one has seen it. For the race detector (races.c). Memory that a clock
 * has outgrown is used again by others. */
#ifndef PCT_SCHED_CLOCKS_H
#define PCT_SCHED_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pct_clock {
    uint32_t *at;  /* by thread */
    uint32_t room; /* threads that there is room for: 0, or a power of two; those beyond have 0 */
};

enum { PCT_CLOCK_LOGS = 16 };

struct pct_clock_memory {
    void *(*map)(size_t size);
    uint32_t *free[PCT_CLOCK_LOGS]; /* by the logarithm of their room; chained by their first bytes */
};

static inline uint32_t pct_clock_get(const struct pct_clock *clock, uint32_t thread)
{
    return thread < clock->room ? clock->at[thread] : 0;
}

/* Room for this thread. False: out of memory. */
bool pct_clock_reach(struct pct_clock_memory *m, struct pct_clock *clock, uint32_t thread);

/* At least as far as `other`, everywhere. */
void pct_clock_join(struct pct_clock_memory *m, struct pct_clock *clock, const struct pct_clock *other);

/* Nothing, and no memory. */
void pct_clock_clear(struct pct_clock_memory *m, struct pct_clock *clock);

#endif
