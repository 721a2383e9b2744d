/* Chao's estimator: see estimate.h. */
#include "estimate.h"
#include <cli/base/grow.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

int pct_estimate_add(struct pct_estimate *e, uint64_t class_)
{
    e->probes++;
    for (size_t i = 0; i < e->count; i++)
        if (e->seen[i].class_ == class_) {
            e->seen[i].times++;
            return 0;
        }
    if (!PCT_GROW(e->seen, e->count, e->room))
        return -ENOMEM;
    e->seen[e->count++] = (struct pct_seen){ class_, 1 };
    return 0;
}

void pct_estimate_pass(struct pct_estimate *e)
{
    e->probes++;
    e->passed++;
}

void pct_estimate_free(struct pct_estimate *e)
{
    free(e->seen);
    *e = (struct pct_estimate){ 0 };
}

static double came(const struct pct_estimate *e, uint64_t times)
{
    double count = 0;
    for (size_t i = 0; i < e->count; i++)
        count += e->seen[i].times == times;
    return count;
}

/* Of the classes that were not seen; once, twice: how many were seen so often. */
static double variance_of(double once, double twice)
{
    if (twice > 0) {
        double r = once / twice;
        return twice * (r * r / 2 + r * r * r + r * r * r * r / 4);
    }
    return once * (once - 1) / 2 + once * (2 * once - 1) * (2 * once - 1) / 4;
}

struct pct_estimate_result pct_estimate_result(const struct pct_estimate *e)
{
    enum { FEW = 5 };
    double seen = (double)e->count, once = came(e, 1), twice = came(e, 2);
    double unseen = twice > 0 ? once * once / (2 * twice) : once * (once - 1) / 2;
    struct pct_estimate_result r = { .classes = seen + unseen, .low = seen, .high = seen };
    if (unseen <= 0)
        return r;
    double wide = exp(1.96 * sqrt(log(1 + variance_of(once, twice) / (unseen * unseen))));
    r.low = seen + unseen / wide;
    r.high = seen + unseen * wide;
    r.open = twice < FEW && once > (double)(e->probes - e->passed) / 2;
    return r;
}
