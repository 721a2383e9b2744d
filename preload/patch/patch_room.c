/* Free memory near code: see patch_room.h. */
#include "patch_room.h"
#include <preload/core/sys.h>
#include <sys/mman.h>

/* No farther from the code than this: a jump has 31 bits. */
#define NEAR_REACH UINT64_C(0x70000000)

void *pct_patch_map_at(uint64_t address, size_t size)
{
    long at = PCT_SYS6(SYS_mmap, address, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at < 0 && at > -4096)
        return NULL;
    if ((uint64_t)at == address)
        return (void *)at;
    PCT_SYS2(SYS_munmap, at, size); /* a kernel that does not know that flag */
    return NULL;
}

void *pct_patch_room_below(uint64_t from, size_t size)
{
    void *room = NULL;
    for (uint64_t away = PCT_PATCH_NEAR_STEP; away < NEAR_REACH && !room; away += PCT_PATCH_NEAR_STEP)
        if (from > away + size + PCT_PATCH_NEAR_STEP)
            room = pct_patch_map_at(from - away - size, size);
    return room;
}

void *pct_patch_room_above(uint64_t to, uint64_t least, size_t size)
{
    void *room = NULL;
    for (uint64_t away = least; away < NEAR_REACH && !room; away += PCT_PATCH_NEAR_STEP)
        room = pct_patch_map_at(to + away, size);
    return room;
}
