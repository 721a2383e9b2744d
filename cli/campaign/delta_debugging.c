/* Delta debugging: see delta_debugging.h. */
#include "delta_debugging.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t kept(const bool *keep, size_t from, size_t count)
{
    size_t sum = 0;
    for (size_t i = from; i < count; i++)
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

/* The next pass takes smaller chunks; the last ones take single parts, until none can go. False: there is none. */
static bool next_pass(struct pct_reduction *r)
{
    if (r->chunk <= 1 && !r->smaller)
        return false;
    size_t left = kept(r->keep, 0, r->count);
    r->chunk = r->chunk > 1 ? r->chunk / 2 : 1;
    r->chunk = r->chunk > (left + 1) / 2 ? (left + 1) / 2 : r->chunk;
    r->at = 0;
    r->smaller = false;
    return r->chunk;
}

bool pct_reduction_next(struct pct_reduction *r, bool *out)
{
    if (!r->begun) {
        r->begun = true;
        r->at = 0;
        r->chunk = (kept(r->keep, 0, r->count) + 1) / 2;
        memset(out, false, r->count * sizeof *out);
        return r->count;
    }
    for (;;) {
        size_t left = kept(r->keep, r->at, r->count);
        if (!r->chunk || (!left && !next_pass(r)))
            return false;
        if (!left)
            continue;
        r->at = without(out, r->keep, r->count, r->at, r->chunk);
        /* The empty set is known not to do. */
        if (kept(out, 0, r->count))
            return true;
    }
}

size_t pct_reduction_left(const struct pct_reduction *r)
{
    size_t all = kept(r->keep, 0, r->count);
    size_t chunk = r->begun ? r->chunk : (all + 1) / 2, at = r->begun ? r->at : 0, left = !r->begun;
    if (chunk)
        left += (kept(r->keep, at, r->count) + chunk - 1) / chunk;
    if (chunk == 1 && r->smaller)
        left += all;
    while ((chunk /= 2))
        left += (all + chunk - 1) / chunk;
    return left;
}

int pct_delta_debug(bool *keep, size_t count, pct_delta_debug_first *first, void *context)
{
    struct pct_reduction r = { .keep = keep, .count = count };
    bool *tried = calloc(count + 1, sizeof *tried);
    size_t which;
    int holds = tried ? 1 : -ENOMEM;
    while (holds > 0 && (holds = first(context, r, &which)) > 0) {
        for (size_t i = 0; i <= which; i++)
            pct_reduction_next(&r, tried);
        memcpy(keep, tried, count * sizeof *keep);
        r.smaller = true;
    }
    free(tried);
    return holds < 0 ? holds : 0;
}
