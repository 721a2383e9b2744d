/* Free memory near code, where its jumps can reach it. */
#ifndef PCT_PRELOAD_PATCH_ROOM_H
#define PCT_PRELOAD_PATCH_ROOM_H

#include <stddef.h>
#include <stdint.h>

/* A program's heap begins behind it and grows: no islands there. Where it cannot grow any more, allocators ask for
 * memory elsewhere. */
#define PCT_PATCH_HEAP_ROOM (UINT64_C(3) << 26)
/* Where to look for room for trampolines: so far apart. */
#define PCT_PATCH_NEAR_STEP (UINT64_C(1) << 26)

/* Memory of this size at this address, both in whole pages. NULL: something is there. */
void *pct_patch_map_at(uint64_t address, size_t size);

/* Free memory of this size, as near below `from` as there is any in steps. NULL: none that code there could reach. */
void *pct_patch_room_below(uint64_t from, size_t size);

/* The same above `to`, this far away at least. */
void *pct_patch_room_above(uint64_t to, uint64_t least, size_t size);

#endif
