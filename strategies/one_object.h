/* Which object is the one of a run, for the strategies that look at the operations on one object only (surw.c, hold.c).
 *
 * Who knows how often each object is used names it by its number (`object=`): the pct command draws it for each run
 * from what it has counted in earlier ones. Where nobody knows, here: over all scales, since objects of which there
 * are few in small programs are used most. */
#ifndef PCT_STRATEGIES_ONE_OBJECT_H
#define PCT_STRATEGIES_ONE_OBJECT_H

#include <pct/random.h>
#include <pct/strategy.h>
#include <stdbool.h>

/* In the table of parameters. */
#define PCT_OBJECT_PARAM(at)                                                                                           \
    [at] = { .name = "object",                                                                                         \
             .max = PCT_THREAD_OBJECT - 1,                                                                             \
             .zero = "auto",                                                                                           \
             .help = "the number of the object, as in a report; auto: drawn for each run" }

/* Numbers of draws of a run, beside those by object number. */
enum pct_object_draw {
    PCT_OBJECT_SCALE,
    PCT_OBJECT_NUMBER,
    PCT_OBJECT_KIND,
    PCT_OBJECT_SOME,
    PCT_OBJECT_COUNTED,
    PCT_OBJECT_WEIGH,
    PCT_OBJECT_ROLES
};

/* Uniform over 0 .. bound-1, for the run with this seed. */
static inline uint64_t pct_object_draw(uint64_t seed, enum pct_object_draw draw, uint64_t bound)
{
    return pct_random_below(seed, PCT_STREAM_OBJECT, UINT64_C(1) << 63 | draw, bound);
}

/* The number of the run's object, where the parameter has this value: at most 4, 8, ... or 128, each equally likely. */
static inline uint32_t pct_object_of_run(uint64_t parameter, uint64_t seed)
{
    enum { LEAST = 4, SCALES = 6 };
    if (parameter)
        return (uint32_t)parameter;
    uint64_t most = (uint64_t)LEAST << pct_object_draw(seed, PCT_OBJECT_SCALE, SCALES);
    return 1 + (uint32_t)pct_object_draw(seed, PCT_OBJECT_NUMBER, most);
}

/* Whether operations are on an object that can be the one: not on a thread, and not on none. */
static inline bool pct_object_counts(uint32_t object)
{
    return object && object < PCT_THREAD_OBJECT;
}

#endif
