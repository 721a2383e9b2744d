/* Room for what pct knows of each thread: see slots.h. */
#include "slots.h"
#include <preload/core/kernel.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <sys/mman.h>

/* In the middle of nowhere: far from the program, its heap and libraries, and from what sanitizers take. */
#define BEGINNING UINT64_C(0x6f0000000000)
enum { PIECE = 1024, LEAST_STACK = 16 << 10 };
_Static_assert(PIECE * sizeof(struct pct_shim_thread) % 4096 == 0, "pieces are of whole pages");

static uint32_t room;                   /* for this many threads there is memory now */
static uint32_t reserved;               /* for this many there is address space */
PCT_OF_START static uint64_t inherited; /* the limit of address space at the start; */
static uint64_t chosen = UINT64_MAX;    /* and the program's own */

/* count: threads. at: 0 or an address. flags: MAP_FIXED_NOREPLACE if it must be that one, which Linux before 4.17 takes
 * for a hint, too; MAP_FIXED over what is reserved; or 0. */
static bool map(uint64_t at, uint32_t count, int access, int flags)
{
    long got = PCT_SYS6(SYS_mmap, at, count * sizeof *pct_shim.slots, access,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    if ((got < 0 && got > -4096) || (flags && got != (long)at))
        return false;
    if (!pct_shim.slots)
        pct_shim.slots = (struct pct_shim_thread *)got;
    if (access != PROT_NONE)
        room += count;
    if (flags != MAP_FIXED) {
        reserved += count;
        pct_shim.space += count * sizeof *pct_shim.slots;
    }
    return true;
}

static bool grow(uint32_t by)
{
    int flags = room < reserved ? MAP_FIXED : MAP_FIXED_NOREPLACE;
    return map((uint64_t)(pct_shim.slots + room), by, PROT_READ | PROT_WRITE, flags);
}

PCT_STARTS void pct_slots_see_limit(void)
{
    inherited = pct_address_space();
}

/* As many threads as could have a stack within the limit. */
static uint32_t most_within(uint64_t limit)
{
    const uint64_t most = limit / LEAST_STACK / PIECE * PIECE + PIECE;
    return (uint32_t)(most < PCT_MAX_THREADS ? most : PCT_MAX_THREADS);
}

/* What is only reserved counts in no limit of the program's data (RLIMIT_DATA). */
bool pct_slots_begin(bool all)
{
    room = reserved = 0;
    if ((all || inherited == UINT64_MAX) && map(0, all ? PCT_MAX_THREADS : most_within(chosen), PROT_NONE, 0))
        return grow(all ? PCT_MAX_THREADS : PIECE);
    return !all && map(BEGINNING, PIECE, PROT_READ | PROT_WRITE, 0); /* the program may have set a limit since */
}

void pct_slots_forget(void)
{
    size_t size = (reserved - room) * sizeof *pct_shim.slots;
    if (size && !PCT_SYS2(SYS_munmap, pct_shim.slots + room, size))
        pct_shim.space -= size;
    pct_shim.slots = NULL;
}

bool pct_slots_reach(uint32_t id)
{
    uint32_t left = reserved - room;
    return id < room || grow(left && left < PIECE ? left : PIECE);
}

void pct_slots_give_back(uint64_t limit)
{
    chosen = limit;
    const uint32_t most = most_within(limit), keep = most < room ? room : most;
    if (keep >= reserved || PCT_SYS2(SYS_munmap, pct_shim.slots + keep, (reserved - keep) * sizeof *pct_shim.slots))
        return;
    pct_shim.space -= (reserved - keep) * sizeof *pct_shim.slots;
    reserved = keep;
}

void pct_slots_take_back(uint64_t limit)
{
    const uint32_t most = most_within(limit);
    chosen = limit;
    if (inherited != UINT64_MAX || most <= reserved)
        return; /* at the first, room is made as it is needed */
    for (uint32_t by = most - reserved; by >= PIECE; by = by / 2 / PIECE * PIECE)
        while (reserved + by <= most && map((uint64_t)(pct_shim.slots + reserved), by, PROT_NONE, MAP_FIXED_NOREPLACE))
            ;
}

bool pct_slots_in_the_way(const pthread_attr_t *attr)
{
    uint64_t limit = pct_address_space(), taken = limit == UINT64_MAX ? 0 : pct_address_space_used();
    pthread_attr_t usual;
    size_t stack = 0;
    if (!taken)
        return false;
    if (attr) {
        pthread_attr_getstacksize(attr, &stack);
    } else {
        pthread_attr_init(&usual);
        pthread_attr_getstacksize(&usual, &stack);
        pthread_attr_destroy(&usual);
    }
    return limit < taken + stack && limit >= taken - pct_shim.space + stack &&
           (limit == inherited || limit < pct_shim.space + stack);
}
