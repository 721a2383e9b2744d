/* Memory that leads into the frames of the test: see reach.h. All that the process can write is looked at, word by
 * word, as conservative garbage collectors do; pages that were never touched, which the kernel knows, are not. */
#include "reach.h"
#include "discover.h"
#include <preload/core/maps.h>
#include <preload/core/sys.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>

enum { PAGE = 4096, MOST_PAGES = 32768 /* 128 MiB */, BATCH = 512 };

/* What pct maps for itself lies from here on (preload/core/apart.c). */
#define APART_FROM UINT64_C(0x200000000000)
#define APART_TO UINT64_C(0x300000000000)

static struct {
    struct pct_maps maps;
    long pages;
    uint64_t from, to;
    unsigned looked; /* at this many pages */
    bool found;
} reach; /* not on the stack, which is the program's */

static void look_at_page(uint64_t page, uint64_t from, uint64_t to)
{
    const uint64_t *word = (const uint64_t *)(uintptr_t)(page > from ? page : from);
    const uint64_t *end = (const uint64_t *)(uintptr_t)(page + PAGE < to ? page + PAGE : to);
    for (; word < end && !reach.found; word++)
        reach.found = *word >= reach.from && *word < reach.to;
    reach.looked++;
    reach.found |= reach.looked > MOST_PAGES;
}

/* Guard pages by madvise(), which a mapping that can be written may have, look as if they were swapped out. */
static bool is_readable(uint64_t page)
{
    uint64_t word;
    return pct_demon_read(page, &word, sizeof word);
}

/* Of this range, a multiple of eight bytes, what was touched. */
static void look_at(uint64_t from, uint64_t to)
{
    static uint64_t state[BATCH];
    const uint64_t in_memory = UINT64_C(1) << 63, swapped_out = UINT64_C(1) << 62;
    for (uint64_t page = from & ~(uint64_t)(PAGE - 1); page < to && !reach.found; page += (uint64_t)BATCH * PAGE) {
        uint64_t count = (to - page + PAGE - 1) / PAGE;
        count = count < BATCH ? count : BATCH;
        long got = PCT_SYS6(SYS_pread64, reach.pages, state, count * sizeof *state, page / PAGE * sizeof *state, 0, 0);
        reach.found |= got != (long)(count * sizeof *state);
        for (uint64_t i = 0; i < count && !reach.found; i++)
            if (state[i] & in_memory || (state[i] & swapped_out && is_readable(page + i * PAGE)))
                look_at_page(page + i * PAGE, from, to);
    }
}

/* Of this range, what is outside of `ours`: the kernel may show both as one mapping. */
static void look_around(uint64_t from, uint64_t to, const uint64_t ours[2])
{
    if (from < ours[0])
        look_at(from, to < ours[0] ? to : ours[0]);
    if (to > ours[1])
        look_at(from > ours[1] ? from : ours[1], to);
}

/* Whether this is a library of pct's. */
static bool is_own(const char *path)
{
    const char *name = strrchr(path, '/');
    return name && (!strncmp(name, "/libpct.so", 10) || !strncmp(name, "/libpct-", 8));
}

bool pct_demon_reaches(uint64_t from, uint64_t to, uint64_t plan, const uint64_t ours[2])
{
    static char path[4096];
    struct pct_mapping m;
    uint64_t own_to = 0;
    const bool opened = pct_maps_open(&reach.maps);
    reach.pages = PCT_SYS3(SYS_open, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
    reach.looked = 0;
    reach.from = from;
    reach.to = to;
    reach.found = !opened || reach.pages < 0;
    while (!reach.found && pct_maps_next(&reach.maps, &m, path, sizeof path)) {
        bool own = is_own(path) || (!m.named && own_to == m.from); /* what follows is the library's, too */
        own_to = own ? m.to : 0;
        bool stack = to > m.from && to <= m.to;
        own |= plan >= m.from && plan < m.to;
        if (m.readable && m.writable && !own && (m.from < APART_FROM || m.from >= APART_TO))
            look_around(stack ? to : m.from, m.to, ours);
    }
    if (opened)
        pct_maps_close(&reach.maps);
    if (reach.pages >= 0)
        PCT_SYS1(SYS_close, reach.pages);
    return reach.found;
}
