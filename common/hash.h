/* The running hash of a trace (docs/TRACE.md): the shim computes it while it records, the command to check a file. */
#ifndef PCT_COMMON_HASH_H
#define PCT_COMMON_HASH_H

#include <pct/trace.h>
#include <stdbool.h>
#include <stddef.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Of up to PCT_TRACE_BLOCK records, given the hash of all before them. None of them has a time in it: the recorder
 * knows, and spares itself a look at each. */
static inline uint64_t pct_hash_plain(const uint64_t *records, size_t count, uint64_t before)
{
    return XXH3_64bits_withSeed(records, count * sizeof *records, before);
}

/* The same for records with times. In pieces, and not inline: whoever calls this may have a small stack. */
__attribute__((noinline, unused)) static uint64_t pct_hash_timed(const uint64_t *records, size_t count, uint64_t before)
{
    const uint64_t time = PCT_RECORD(0, 0, 0xffff, 0x1ffffff) & ~PCT_RECORD(0, 0, 0, 0);
    uint64_t piece[32];
    XXH3_state_t state = { .seed = 0 };
    XXH3_64bits_reset_withSeed(&state, before);
    for (size_t i = 0, used = 0; i < count; i++) {
        piece[used++] = PCT_RECORD_HAS_TIME(records[i]) ? records[i] & ~time : records[i];
        if (used == sizeof piece / sizeof *piece || i + 1 == count) {
            XXH3_64bits_update(&state, piece, used * sizeof *piece);
            used = 0;
        }
    }
    return XXH3_64bits_digest(&state);
}

/* The same for any records. How long the outside world took, or how far a deadline was then, is not part of it: a run
 * is the same run when a client answers a little later. */
static inline uint64_t pct_hash_records(const uint64_t *records, size_t count, uint64_t before)
{
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= PCT_RECORD_HAS_TIME(records[i]);
    return __builtin_expect(any, 0) ? pct_hash_timed(records, count, before) : pct_hash_plain(records, count, before);
}

#endif
