/* Packing blocks of records: see pack.h. A packed block is a row of parts, each a word and then this many records as
 * they are:
 *
 *     bits 0 ... 9      records that follow this word
 *     bits 10 ... 19    then come this many that have been there before
 *     bits 20 ... 31    this many records ago
 *
 * What has been there before is looked for as far back as the last time, for loops, and then where the pair of records
 * with which it begins was seen last: the newest place is the likeliest, and one look costs little. Where pairs are
 * new, the search takes longer and longer strides. */
#include "pack.h"

enum { LENGTH = 10, BACK = 20, FIELD = (1 << LENGTH) - 1, PATIENCE_LOG = 4 };

typedef uint64_t pair __attribute__((vector_size(16), aligned(8), may_alias));

static uint32_t hash(const uint64_t *records)
{
    return (uint32_t)((records[0] * UINT64_C(0x9e3779b97f4a7c15) ^ records[1] * UINT64_C(0xc2b2ae3d27d4eb4f)) >> 54);
}

/* How many records are the same from both places on. */
static uint32_t same(const uint64_t *a, const uint64_t *b, uint32_t most)
{
    uint32_t i = 0;
    while (i < most && a[i] == b[i])
        if (++i == 8)
            break;
    if (i < 8)
        return i;
    for (; i + 8 <= most; i += 8) {
        const pair *x = (const pair *)(a + i), *y = (const pair *)(b + i);
        pair other = (x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]);
        if (other[0] | other[1])
            break;
    }
    while (i < most && a[i] == b[i])
        i++;
    return i;
}

static uint32_t *add(uint32_t *to, const uint64_t *records, uint32_t count, uint32_t length, uint32_t back)
{
    *to++ = count | length << LENGTH | back << BACK;
    for (; count; count--, to += 2)
        __builtin_memcpy(to, records++, sizeof *records);
    return to;
}

/* How many records from `at` on, of at least two to the end of their block, are those that stand `back` records before,
 * if that is in the ring at all; 0 if not two of them are. */
static inline uint32_t matches(const uint64_t *ring, uint32_t at, uint32_t back)
{
    const uint32_t before = (PCT_PACK_BLOCKS - 2) * PCT_TRACE_BLOCK; /* between the oldest block and the newest one */
    uint32_t i = at % PCT_TRACE_BLOCK, from = (at - back) % PCT_PACK_RECORDS;
    /* Mostly it is not. */
    if (ring[from] != ring[at] || ring[(from + 1) % PCT_PACK_RECORDS] != ring[at + 1] || back - 1 >= i + before)
        return 0;
    uint32_t most = PCT_TRACE_BLOCK - i, to_end = PCT_PACK_RECORDS - from;
    most = most < to_end ? most : to_end;
    return most < 2 ? 0 : 2 + same(ring + from + 2, ring + at + 2, most - 2);
}

uint32_t pct_pack_block(struct pct_pack *pack, const uint64_t *ring, uint32_t slot, uint32_t *words)
{
    const uint64_t *block = ring + slot * PCT_TRACE_BLOCK;
    uint32_t *to = words + 1;
    uint32_t i = 0, kept = 0, misses = 0;
    while (i + 1 < PCT_TRACE_BLOCK) {
        uint32_t at = slot * PCT_TRACE_BLOCK + i, back = pack->back, length = matches(ring, at, back);
        if (!length) {
            uint16_t *seen = &pack->seen[hash(block + i)];
            back = (at - *seen) % PCT_PACK_RECORDS;
            length = matches(ring, at, back);
            *seen = (uint16_t)at;
        }
        if (!length) {
            i += 1 + (misses++ >> PATIENCE_LOG);
            continue;
        }
        to = add(to, block + kept, i - kept, length, back);
        pack->back = back;
        i += length;
        kept = i;
        misses = 0;
    }
    if (kept < PCT_TRACE_BLOCK)
        to = add(to, block + kept, PCT_TRACE_BLOCK - kept, 0, 0);
    return (uint32_t)(to - words - 1);
}

bool pct_pack_find(struct pct_packed *packed, const struct pct_trace_header *header, size_t size)
{
    const size_t area = PCT_PACK_AREA * sizeof *packed->area;
    if (header->records_size != area || size < area)
        return false;
    packed->area = (const void *)((const char *)header + PCT_TRACE_HEADER_SIZE);
    packed->words = (const void *)(packed->area + PCT_PACK_AREA);
    packed->blocks = 0;
    size_t at = 0, count = (size - area) / sizeof *packed->words;
    while (at < count && packed->words[at]) {
        if (packed->words[at] >= count - at || packed->blocks == PCT_PACK_STEPS / PCT_TRACE_BLOCK)
            return false;
        at += 1 + packed->words[at];
        packed->blocks++;
    }
    packed->room = PCT_PACK_FLAT + (packed->blocks + 1) * PCT_TRACE_BLOCK;
    packed->size = area + at * sizeof *packed->words;
    return true;
}

/* One block; the first packed one is at `first`. Returns where its words end; NULL: it is damaged. */
static const uint32_t *open_block(const uint32_t *words, const uint64_t *first, uint64_t *records)
{
    const uint64_t *full = records + PCT_TRACE_BLOCK;
    const uint32_t *end = words + 1 + *words;
    for (words++; words < end;) {
        uint32_t part = *words++, count = part & FIELD, length = part >> LENGTH & FIELD, back = part >> BACK;
        if (count > (size_t)(end - words) / 2 || count + length > (size_t)(full - records))
            return NULL;
        __builtin_memcpy(records, words, count * sizeof *records);
        words += 2 * count;
        records += count;
        if (length && (!back || back > (size_t)(records - first)))
            return NULL;
        for (; length; length--, records++)
            *records = records[-(ptrdiff_t)back];
    }
    return records == full ? words : NULL;
}

bool pct_pack_open(const struct pct_packed *packed, uint64_t *records)
{
    const uint64_t *first = records + PCT_PACK_FLAT, *ring = packed->area + PCT_PACK_FLAT;
    const uint32_t *words = packed->words;
    __builtin_memcpy(records, packed->area, PCT_PACK_FLAT * sizeof *records);
    records += PCT_PACK_FLAT;
    for (uint64_t i = 0; i < packed->blocks && words; i++, records += PCT_TRACE_BLOCK)
        words = open_block(words, first, records);
    if (words)
        __builtin_memcpy(records, ring + packed->blocks % PCT_PACK_BLOCKS * PCT_TRACE_BLOCK,
                         PCT_TRACE_BLOCK * sizeof *records);
    return words;
}
