/* Delta debugging: see reduce.h. */
#include "reduce.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t kept(const bool *keep, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += keep[i];
    return sum;
}

/* Without `size` kept parts from `at` on. Returns where the next chunk begins. */
static size_t without(bool *out, const bool *keep, size_t count, size_t at, size_t size)
{
    memcpy(out, keep, count * sizeof *keep);
    for (; at < count && size; at++) {
        size -= out[at];
        out[at] = false;
    }
    return at;
}

int pct_reduce(bool *keep, size_t count, pct_reduce_test *test, void *context)
{
    bool *tried = calloc(count + 1, sizeof *tried);
    if (!tried)
        return -ENOMEM;
    int holds = count ? test(context, tried, count) : 0;
    if (holds > 0)
        memcpy(keep, tried, count * sizeof *keep);
    size_t chunk = holds ? 0 : (kept(keep, count) + 1) / 2;
    while (chunk && holds >= 0) {
        bool smaller = false;
        for (size_t at = 0; at < count && holds >= 0;) {
            size_t next = without(tried, keep, count, at, chunk);
            if (kept(tried, count) == kept(keep, count))
                break;
            /* The empty set is known not to do. */
            holds = kept(tried, count) ? test(context, tried, count) : 0;
            if (holds > 0) {
                memcpy(keep, tried, count * sizeof *keep);
                smaller = true;
            }
            at = next;
        }
        /* Once more with single parts, until none can go. */
        if (chunk == 1 && !smaller)
            break;
        size_t left = kept(keep, count);
        chunk = chunk > 1 ? chunk / 2 : 1;
        chunk = chunk > (left + 1) / 2 ? (left + 1) / 2 : chunk;
    }
    free(tried);
    return holds < 0 ? holds : 0;
}
