/* Pairs of operations: see coverage.h. For one trace, the last operation on each object. */
#include "coverage.h"
#include <cli/base/cli.h>
#include <cli/base/table.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { MOST_PAIRS = 1 << 20, MOST_STEPS = 1 << 20, MOST_OBJECTS = 1 << 12 };

struct pct_coverage {
    struct pct_table pairs;
    uint64_t last[MOST_OBJECTS]; /* of one trace, by object and class: its last record; scratch */
};

struct pct_coverage *pct_coverage_new(void)
{
    return calloc(1, sizeof(struct pct_coverage));
}

void pct_coverage_free(struct pct_coverage *coverage)
{
    if (coverage)
        pct_table_free(&coverage->pairs);
    free(coverage);
}

bool pct_coverage_add(struct pct_coverage *coverage, uint64_t pair)
{
    const size_t known = coverage->pairs.count;
    return known < MOST_PAIRS && pct_table_add(&coverage->pairs, pair) && coverage->pairs.count > known;
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
            stopped = each(data, pair);
    }
    return stopped;
}
