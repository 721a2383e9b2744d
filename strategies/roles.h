/* A choice among the roles of threads, what they begin with, before one among threads: for the strategies that draw a
 * thread (surw.c, hold.c). Where ten threads do one thing and one does another, that one is drawn once in eleven times;
 * of two roles, once in two, however many threads have the other one. */
#ifndef PCT_STRATEGIES_ROLES_H
#define PCT_STRATEGIES_ROLES_H

#include "one_object.h"

/* Whether roles are drawn in the run with this seed: in half of the runs. */
static inline bool pct_roles_count(uint64_t seed)
{
    return pct_object_draw(seed, PCT_OBJECT_ROLES, 2);
}

/* One of the roles in this set, a bit for each, which is not empty: each is as likely. */
static inline uint32_t pct_roles_draw(uint32_t set, uint64_t seed, uint64_t place)
{
    uint32_t count = 0;
    for (uint32_t rest = set; rest; rest &= rest - 1)
        count++;
    for (uint64_t skipped = pct_random_below(seed, PCT_STREAM_ROLE, place, count); skipped; skipped--)
        set &= set - 1;
    return (uint32_t)__builtin_ctz(set);
}

#endif
