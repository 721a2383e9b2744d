/* Pairs of operations: see coverage.h. A table with open addressing, and for one trace the last operation on each
 * object. */
#include "coverage.h"
#include <cli/base/cli.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FEW = 1 << 12, MOST_PAIRS = 1 << 20, MOST_STEPS = 1 << 20, MOST_OBJECTS = 1 << 12 };

struct pct_coverage {
    uint64_t *slots; /* 0: free */
    size_t size;     /* a power of two */
    size_t count;
    uint64_t last[MOST_OBJECTS]; /* of one trace, by object and class: its last record; scratch */
};

struct pct_coverage *pct_coverage_new(void)
{
    struct pct_coverage *coverage = calloc(1, sizeof *coverage);
    if (!coverage)
        return NULL;
    coverage->size = FEW;
    coverage->slots = calloc(coverage->size, sizeof *coverage->slots);
    if (coverage->slots)
        return coverage;
    free(coverage);
    return NULL;
}

void pct_coverage_free(struct pct_coverage *coverage)
{
    if (coverage)
        free(coverage->slots);
    free(coverage);
}

static uint64_t *find(uint64_t *slots, size_t size, uint64_t pair)
{
    size_t at = pair & (size - 1);
    while (slots[at] && slots[at] != pair)
        at = (at + 1) & (size - 1);
    return &slots[at];
}

static bool grow(struct pct_coverage *coverage)
{
    size_t size = 2 * coverage->size;
    uint64_t *slots = calloc(size, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < coverage->size; i++)
        if (coverage->slots[i])
            *find(slots, size, coverage->slots[i]) = coverage->slots[i];
    free(coverage->slots);
    coverage->slots = slots;
    coverage->size = size;
    return true;
}

bool pct_coverage_add(struct pct_coverage *coverage, uint64_t pair)
{
    pair += !pair;
    uint64_t *slot = find(coverage->slots, coverage->size, pair);
    if (*slot || coverage->count >= MOST_PAIRS)
        return false;
    if (2 * coverage->count >= coverage->size) {
        if (!grow(coverage))
            return false;
        slot = find(coverage->slots, coverage->size, pair);
    }
    *slot = pair;
    coverage->count++;
    return true;
}

int pct_coverage_scan(struct pct_coverage *coverage, const struct pct_trace *trace,
                      int (*each)(void *data, uint64_t pair), void *data)
{
    uint64_t count = trace->count < MOST_STEPS ? trace->count : MOST_STEPS;
    /* No more of the table than this trace can use: clearing all of it takes longer than a short trace. */
    size_t size = 64;
    while (size < MOST_OBJECTS && size < 2 * count)
        size *= 2;
    memset(coverage->last, 0, size * sizeof *coverage->last);
    int stopped = 0;
    for (uint64_t i = 0; i < count && !stopped; i++) {
        uint64_t record = trace->records[i], object = PCT_RECORD_OBJECT(record);
        unsigned class_ = pct_name_op_class(PCT_RECORD_OP(record));
        if (!object || class_ == PCT_CLASS_NONE)
            continue;
        uint64_t *last = &coverage->last[(object * PCT_CLASS_COUNT + class_) % size];
        uint64_t before = *last;
        *last = record;
        if (!before || PCT_RECORD_OBJECT(before) != object || PCT_RECORD_THREAD(before) == PCT_RECORD_THREAD(record))
            continue;
        const uint64_t both[2] = { before, record };
        uint64_t pair = XXH3_64bits(both, sizeof both);
        if (pct_coverage_add(coverage, pair))
            stopped = each(data, pair + !pair);
    }
    return stopped;
}
