/* Places in the code, and what is known of them: see learned_sites.h. */
#include "learned_sites.h"
#include "scope.h"
#include <common/bisect.h>
#include <common/ordered.h>
#include <common/text.h>
#include <preload/core/kernel.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <sched/races.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { FIRST_LOG = 12, PATH = 4096 };

bool pct_ordered_active;
const char *pct_ordered_directory;

struct place {
    uintptr_t pc; /* 0: empty */
    uint64_t name;
    uint32_t flags;
};

static struct {
    bool started;
    struct place *table; /* open addressing, at most half full */
    uint32_t log, count;
    const struct pct_snap_place *known; /* of earlier runs */
    uint64_t known_count;
} places;

/* --- The set of earlier runs -------------------------------------------------------------------------------------- */

static void read_set(uint64_t digest)
{
    char path[PATH];
    struct pct_text text;
    struct stat status;
    pct_text_init(&text, path, sizeof path);
    pct_text_add(&text, pct_ordered_directory ? pct_ordered_directory : "");
    pct_text_add(&text, "/");
    pct_text_add_hex(&text, digest, 16);
    long file = PCT_SYS3(SYS_open, path, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0 || PCT_SYS2(SYS_fstat, file, &status) || (size_t)status.st_size < sizeof(struct pct_ordered_head))
        pct_scope_refuse("the set of places that the token names by ordered= is not in the directory of PCT_ORDERED: "
                         "use `pct replay`, where the run was made");
    long at = PCT_SYS6(SYS_mmap, 0, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    PCT_SYS1(SYS_close, file);
    const struct pct_ordered_head *head = (void *)at;
    if ((at < 0 && at > -PATH) || memcmp(head->magic, PCT_ORDERED_MAGIC, sizeof head->magic) != 0 ||
        head->version != PCT_ORDERED_VERSION || ((uint64_t)status.st_size - sizeof *head) % sizeof *places.known ||
        head->count != ((uint64_t)status.st_size - sizeof *head) / sizeof *places.known)
        pct_scope_refuse("a file in the directory of PCT_ORDERED was not made by this version of pct");
    places.known = (const void *)(head + 1);
    places.known_count = head->count;
}

static uint32_t flags_of(uint64_t name)
{
    const size_t found = PCT_BISECT(i, 0, places.known_count, places.known[i].name < name);
    if (found == places.known_count || places.known[found].name != name || places.known[found].flags & PCT_PLACE_RACED)
        return 0;
    return PCT_ORDERED_SKIPPED;
}

/* --- This run ----------------------------------------------------------------------------------------------------- */

/* Two accesses that nothing has ordered. */
static void met(uintptr_t first, uintptr_t second)
{
    uint32_t *flags = pct_ordered_place(first);
    if (flags)
        *flags |= PCT_PLACE_RACED;
    flags = pct_ordered_place(second);
    if (flags)
        *flags |= PCT_PLACE_RACED;
}

void pct_ordered_start(void)
{
    const struct pct_config *config = &pct_shim.config;
    if (places.started || config->memory_points != PCT_POINTS_LEARNED || !pct_sched_races(&pct_S))
        return;
    places.started = true;
    if (config->ordered)
        read_set(config->ordered);
    places.log = FIRST_LOG;
    places.table = pct_map(sizeof *places.table << FIRST_LOG);
    pct_ordered_active = places.table != NULL;
    pct_races_watch(pct_sched_races(&pct_S), pct_ordered_active ? met : NULL);
}

static struct place *find(uintptr_t pc)
{
    size_t mask = ((size_t)1 << places.log) - 1, i = (pc * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - places.log);
    while (places.table[i].pc && places.table[i].pc != pc)
        i = (i + 1) & mask;
    return &places.table[i];
}

static bool grow(void)
{
    struct place *old = places.table;
    size_t count = (size_t)1 << places.log;
    struct place *table = pct_map(2 * count * sizeof *table);
    if (!table)
        return false;
    places.table = table;
    places.log++;
    for (size_t i = 0; i < count; i++)
        if (old[i].pc)
            *find(old[i].pc) = old[i];
    return true;
}

uint32_t *pct_ordered_place(uintptr_t pc)
{
    struct place *place = find(pc);
    if (PCT_LIKELY(place->pc))
        return &place->flags;
    if (2 * (places.count + 1) > 1u << places.log) {
        if (!grow())
            return NULL;
        place = find(pc);
    }
    places.count++;
    place->pc = pc;
    place->name = pct_scope_name(pc - 1);
    place->flags = flags_of(place->name);
    return &place->flags;
}

size_t pct_ordered_report(struct pct_snap_place *to, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; places.table && i < (size_t)1 << places.log; i++) {
        const struct place *place = &places.table[i];
        uint32_t flags = place->flags & (PCT_PLACE_POINT | PCT_PLACE_RACED);
        if (!place->pc || !flags)
            continue;
        if (count < most)
            to[count] = (struct pct_snap_place){ .name = place->name, .flags = flags };
        count++;
    }
    return count;
}
