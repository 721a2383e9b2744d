/* Vector clocks: see clocks.h. */
#include "clocks.h"

enum { FIRST_LOG = 2 }; /* also large enough for the chain */

static unsigned log_of(uint32_t room)
{
    return 31u - (unsigned)__builtin_clz(room);
}

bool pct_clock_reach(struct pct_clock_memory *m, struct pct_clock *clock, uint32_t thread)
{
    if (thread < clock->room)
        return true;
    unsigned log = FIRST_LOG;
    while (thread >> log)
        log++;
    if (log >= PCT_CLOCK_LOGS)
        return false;
    uint32_t *at = m->free[log];
    if (at)
        __builtin_memcpy(&m->free[log], at, sizeof m->free[log]);
    else
        at = m->map(sizeof *at << log);
    if (!at)
        return false;
    struct pct_clock larger = { .at = at, .room = 1u << log };
    __builtin_memset(at, 0, sizeof *at << log);
    if (clock->room)
        __builtin_memcpy(at, clock->at, sizeof *at * clock->room);
    pct_clock_clear(m, clock);
    *clock = larger;
    return true;
}

void pct_clock_join(struct pct_clock_memory *m, struct pct_clock *clock, const struct pct_clock *other)
{
    if (!other->room || !pct_clock_reach(m, clock, other->room - 1))
        return;
    for (uint32_t i = 0; i < other->room; i++)
        if (other->at[i] > clock->at[i])
            clock->at[i] = other->at[i];
}

void pct_clock_clear(struct pct_clock_memory *m, struct pct_clock *clock)
{
    if (clock->room) {
        unsigned log = log_of(clock->room);
        __builtin_memcpy(clock->at, &m->free[log], sizeof m->free[log]);
        m->free[log] = clock->at;
    }
    *clock = (struct pct_clock){ 0 };
}
