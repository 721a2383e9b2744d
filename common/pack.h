/* Packed blocks of a trace (docs/TRACE.md): what of a block the recorder has seen shortly before is not written again.
 * Programs repeat themselves, and memory that is fresh costs more than looking back.
 *
 * The shim packs, and unpacks a trace that it follows; the command unpacks. Free of libc, no state but what is handed
 * in. */
#ifndef PCT_COMMON_PACK_H
#define PCT_COMMON_PACK_H

#include <pct/trace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first records of a trace stay as they are: most runs have no more, and packing them would only take time. Behind
 * them, the blocks that packing looks at stand in a ring, in which the one behind the newest is empty. */
enum {
    PCT_PACK_BLOCKS = 8,
    PCT_PACK_RECORDS = PCT_PACK_BLOCKS * PCT_TRACE_BLOCK,
    PCT_PACK_FLAT = 56 * PCT_TRACE_BLOCK,
    PCT_PACK_AREA = PCT_PACK_FLAT + PCT_PACK_RECORDS
};

/* The longest packed block, in words (one part, all records as they are), with the word before it that says how long it
 * is and the 0 behind it. */
enum { PCT_PACK_LONGEST = 1 + 1 + 2 * PCT_TRACE_BLOCK + 1 };

/* No trace has more steps: the memory that a reader needs has a bound (1 GiB). */
#define PCT_PACK_STEPS (UINT64_C(1) << 27)

/* What packing remembers; begins as zeros. */
struct pct_pack {
    uint32_t back;       /* how far back the last find was */
    uint16_t seen[1024]; /* where in the ring a pair of records was seen last, by its hash */
};

/* Pack the block in this slot of the ring (0 ... PCT_PACK_BLOCKS - 1) to `words`, where PCT_PACK_LONGEST of them have
 * room. Returns how many it took. words[0], which is to be that number, is left to the caller: it makes the block
 * valid. */
uint32_t pct_pack_block(struct pct_pack *pack, const uint64_t *ring, uint32_t slot, uint32_t *words);

/* The records of a packed trace. */
struct pct_packed {
    const uint64_t *area;  /* the first records, and somewhere behind them the block that is not packed */
    const uint32_t *words; /* the packed blocks */
    uint64_t blocks;       /* packed ones */
    uint64_t room;         /* records that there are at most */
    size_t size;           /* bytes behind the header that all this takes */
};

/* Find the records of a trace of version PCT_TRACE_PACKED, which has `size` bytes behind its header. Nothing in it is
 * trusted. False: it is damaged. */
bool pct_pack_find(struct pct_packed *packed, const struct pct_trace_header *header, size_t size);

/* Write them out: packed->room records, of which the last block may end in zeros. False: they are damaged. */
bool pct_pack_open(const struct pct_packed *packed, uint64_t *records);

#endif
