/* Which uses of one object commute: see dependence.h. Each row is tested by brute force, and so is that a wrong one is
 * noticed (tests/sim/test_explore.c). */
#include "dependence.h"

static bool both(enum pct_use a, enum pct_use b, enum pct_use one, enum pct_use other)
{
    return (a == one && b == other) || (a == other && b == one);
}

bool pct_uses_commute(enum pct_use a, enum pct_use b)
{
    switch (a) {
    case PCT_USE_BUSY: /* who passes a lock that others cannot have has it */
    case PCT_USE_PASSES:
        return b == PCT_USE_BUSY || b == PCT_USE_PASSES;
    case PCT_USE_READS:
    case PCT_USE_UP:
    case PCT_USE_EMPTY:
    case PCT_USE_NOBODY:
    case PCT_USE_ARRIVES:
        return a == b;
    case PCT_USE_SHARES:
    case PCT_USE_PARTS:
        return b == PCT_USE_SHARES || b == PCT_USE_PARTS;
    default:
        return both(a, b, PCT_USE_ENDS, PCT_USE_DETACHES);
    }
}
