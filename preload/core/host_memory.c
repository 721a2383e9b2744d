/* The memory of a host: see host.h. What is private and can be written is remembered; each run costs one question of
 * the kernel, and copies of the pages that it has written. These stay unprotected for some runs, since the next run
 * will write them again, and a copy costs less than a fault. */
#include "host.h"
#include "host_stacks.h"
#include "apart.h"
#include "kernel.h"
#include "maps.h"
#include "shim.h"
#include "sys.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

enum {
    PAGE = 4096,
    RANGES = 256,
    GAPS = RANGES + 1,
    PIECES = 512,
    MAPS = 64 << 10,
    PROTECT_AGAIN = 512 /* runs */
};

/* Bytes of address space, and of memory in it, that a target may have before its main. */
#define MOST_SPACE (UINT64_C(4) << 30)
#define MOST_MEMORY (UINT64_C(64) << 20)

/* Where the target's address space ends. */
#define END UINT64_C(0x7ffffffff000)

/* Linux 6.7; headers may be older. */
#define FEATURE_WP_ASYNC (UINT64_C(1) << 15)
struct piece {
    uint64_t from, to, categories;
};
struct scan {
    uint64_t size, flags, from, to, reached, pieces, pieces_size, most, inverted, all_of, any_of, tell;
};
#define SCAN _IOWR('f', 16, struct scan)
/* Linux 6.11; likewise. */
struct query {
    uint64_t size, flags, address, from, to, rights, page, offset, inode;
    uint32_t major, minor, name_size, id_size;
    uint64_t name, id;
};
#define QUERY _IOWR('f', 17, struct query)
enum { READABLE = 1 << 0, WRITABLE = 1 << 1, SHARED = 1 << 3, QUERY_OR_NEXT = 1 << 4 };
enum { RIGHTS = READABLE | WRITABLE | SHARED };
enum { WP_ALLOWED = 1 << 0, WRITTEN = 1 << 1, PRESENT = 1 << 3, SWAPPED = 1 << 4 };

struct range {
    uintptr_t from, to;
    uint64_t first; /* its first page is the one of this number */
    bool file;      /* what was never touched is the file's */
};

/* Shared, so that it is not put back itself. */
struct memory {
    int uffd, pagemap, statm, maps;
    unsigned count, gaps, runs;
    uintptr_t broke; /* the end of the heap */
    uint64_t size, data;
    uint64_t pages;
    char *copies;      /* by the number of the page */
    uint64_t *touched; /* a bit for each page that had a copy; the others were zeros */
    struct range ranges[RANGES];
    struct pct_gap gap[GAPS];
    bool used[GAPS]; /* a run has mapped something there */
    bool shrunk;     /* the heap, of this run */
    struct piece pieces[PIECES];
    char text[PAGE];
    struct pct_saved_map now;
    bool looked, no_query;
    char maps_text[MAPS];
};
static struct memory *memory;

/* Memory that a restored run does not lose. */
static void *map_shared(size_t size)
{
    void *place = pct_apart_map(size);
    int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    if (!place || PCT_SYS6(SYS_mmap, place, size, PROT_READ | PROT_WRITE, flags, -1, 0) != (long)place)
        return NULL;
    PCT_SYS3(SYS_madvise, place, size, MADV_DONTDUMP);
    return place;
}

/* Not libc's: its own data is being put back. */
static void copy_page(void *to, const void *from)
{
    size_t count = PAGE / 8;
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
}

static void clear_page(void *to)
{
    size_t count = PAGE / 8;
    __asm__ volatile("rep stosq" : "+D"(to), "+c"(count) : "a"(0) : "memory");
}

/* --- What is mapped ----------------------------------------------------------------------------------------------- */

/* end: that of the one before. */
static enum pct_host_reason take_mapping(struct memory *m, const struct pct_mapping *mapping, uintptr_t *end)
{
    const uintptr_t from = mapping->from, to = mapping->to;
    if (from >= END)
        return PCT_HOST_NONE;
    if (from > *end) {
        if (m->gaps == GAPS)
            return PCT_HOST_LARGE;
        m->gap[m->gaps++] = (struct pct_gap){ *end, from };
    }
    *end = to;
    if (!mapping->writable)
        return PCT_HOST_NONE;
    if (mapping->shared) /* pct's own, of several runs: a fork server forks no target that has others */
        return PCT_HOST_NONE;
    if (m->count == RANGES)
        return PCT_HOST_LARGE;
    m->ranges[m->count++] = (struct range){ .from = from, .to = to, .first = m->pages, .file = mapping->file };
    m->pages += (to - from) / PAGE;
    return m->pages > MOST_SPACE / PAGE ? PCT_HOST_LARGE : PCT_HOST_NONE;
}

static enum pct_host_reason list_mappings(struct memory *m)
{
    enum pct_host_reason reason = PCT_HOST_NONE;
    struct pct_maps maps;
    struct pct_mapping mapping;
    uintptr_t end = 0;
    if (!pct_maps_open(&maps))
        return PCT_HOST_KERNEL;
    while (!reason && pct_maps_next(&maps, &mapping, NULL, 0))
        reason = take_mapping(m, &mapping, &end);
    pct_maps_close(&maps);
    if (m->gaps < GAPS && end < END)
        m->gap[m->gaps++] = (struct pct_gap){ end, END };
    return reason;
}

/* How many pages of address space there are, and how many of them are private and can be written. */
static bool read_sizes(struct memory *m, uint64_t *size, uint64_t *data)
{
    uint64_t field[6] = { 0 };
    long got = pct_host_sys4(SYS_pread64, m->statm, (long)m->text, PAGE - 1, 0);
    int i = 0;
    for (long at = 0; at < got && i < 6; at++)
        if (m->text[at] >= '0' && m->text[at] <= '9')
            field[i] = 10 * field[i] + (uint64_t)(m->text[at] - '0');
        else
            i++;
    *size = field[0];
    *data = field[5];
    return got > 0;
}

/* --- What was written --------------------------------------------------------------------------------------------- */

/* The next pieces of memory from there on that are of these kinds. Negative: the kernel does not tell. */
static long scan(struct memory *m, uint64_t *from, uint64_t to, uint64_t all_of, uint64_t any_of)
{
    struct scan question = { .size = sizeof question,
                             .from = *from,
                             .to = to,
                             .pieces = (uint64_t)m->pieces,
                             .pieces_size = PIECES,
                             .all_of = all_of,
                             .any_of = any_of,
                             .tell = all_of | any_of };
    long count = pct_host_sys4(SYS_ioctl, m->pagemap, SCAN, (long)&question, 0);
    *from = question.reached;
    return count;
}

static bool protect(const struct memory *m, uint64_t from, uint64_t to)
{
    struct uffdio_writeprotect on = { .range = { from, to - from }, .mode = UFFDIO_WRITEPROTECT_MODE_WP };
    return !pct_host_sys4(SYS_ioctl, m->uffd, UFFDIO_WRITEPROTECT, (long)&on, 0);
}

static bool open_uffd(struct memory *m)
{
    struct uffdio_api api = { .api = UFFD_API, .features = FEATURE_WP_ASYNC };
    m->uffd = pct_host_move(PCT_SYS1(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY));
    return m->uffd >= 0 && !PCT_SYS3(SYS_ioctl, m->uffd, UFFDIO_API, &api) && api.features & FEATURE_WP_ASYNC;
}

/* Copies of what there is, which is protected then. */
static enum pct_host_reason copy_range(struct memory *m, const struct range *range, uint64_t *copied)
{
    struct uffdio_register all = { .range = { range->from, range->to - range->from }, .mode = UFFDIO_REGISTER_MODE_WP };
    if (range->file && PCT_SYS3(SYS_madvise, range->from, range->to - range->from, 22 /* MADV_POPULATE_READ */))
        return PCT_HOST_KERNEL;
    if (PCT_SYS3(SYS_ioctl, m->uffd, UFFDIO_REGISTER, &all))
        return PCT_HOST_KERNEL;
    for (uint64_t from = range->from; from < range->to;) {
        long count = scan(m, &from, range->to, 0, PRESENT | SWAPPED);
        if (count < 0)
            return PCT_HOST_KERNEL;
        for (long i = 0; i < count; i++) {
            if ((*copied += m->pieces[i].to - m->pieces[i].from) > MOST_MEMORY)
                return PCT_HOST_LARGE;
            /* Protected first: what is written from here on, by this function, too, is put back. */
            if (!protect(m, m->pieces[i].from, m->pieces[i].to))
                return PCT_HOST_KERNEL;
            for (uint64_t at = m->pieces[i].from; at < m->pieces[i].to; at += PAGE) {
                uint64_t page = range->first + (at - range->from) / PAGE;
                copy_page(m->copies + page * PAGE, (void *)at);
                m->touched[page / 64] |= UINT64_C(1) << page % 64;
            }
        }
    }
    return PCT_HOST_NONE;
}

static enum pct_host_reason keep(struct memory *m)
{
    uint64_t copied = 0;
    /* Room for all, before it is known what there is: it takes address space only. */
    m->copies = map_shared(MOST_SPACE);
    m->touched = map_shared(MOST_SPACE / PAGE / 8);
    if (!m->copies || !m->touched)
        return PCT_HOST_LARGE;
    if (!open_uffd(m))
        return m->uffd == -EMFILE ? PCT_HOST_DESCRIPTORS : PCT_HOST_KERNEL;
    m->pagemap = pct_host_move(PCT_SYS3(SYS_open, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0));
    m->statm = pct_host_move(PCT_SYS3(SYS_open, "/proc/self/statm", O_RDONLY | O_CLOEXEC, 0));
    m->maps = pct_host_move(PCT_SYS3(SYS_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0));
    if (m->pagemap < 0 || m->statm < 0 || m->maps < 0)
        return PCT_HOST_DESCRIPTORS;
    m->broke = (uintptr_t)PCT_SYS1(SYS_brk, 0);
    enum pct_host_reason reason = list_mappings(m);
    for (unsigned i = 0; i < m->count && !reason; i++)
        reason = copy_range(m, &m->ranges[i], &copied);
    return !reason && !read_sizes(m, &m->size, &m->data) ? PCT_HOST_KERNEL : reason;
}

enum pct_host_reason pct_host_memory_keep(void)
{
    struct memory *m = memory = map_shared(sizeof *m);
    if (!m)
        return PCT_HOST_LARGE;
    m->uffd = m->pagemap = m->statm = m->maps = -1;
    enum pct_host_reason reason = keep(m);
    /* The run that it is all the same has no others than any run. */
    const int own[] = { m->uffd, m->pagemap, m->statm, m->maps };
    for (unsigned i = 0; reason && i < sizeof own / sizeof *own; i++)
        PCT_SYS1(SYS_close, own[i]);
    return reason;
}

bool pct_host_memory_was_free(uintptr_t from, size_t size)
{
    const uintptr_t to = (from + size + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    for (unsigned i = 0; memory && to > from && i < memory->gaps; i++)
        if (from >= memory->gap[i].from && to <= memory->gap[i].to)
            return true;
    return false;
}

bool pct_host_memory_may(int call, const long *a)
{
    const bool free = pct_host_memory_was_free((uintptr_t)a[0], (size_t)a[1]);
    switch (call) {
    case SYS_mmap:
        return (free || !(a[3] & MAP_FIXED)) &&
               (a[3] & MAP_ANONYMOUS || (!(a[3] & MAP_SHARED) && pct_host_may_have((int)a[4])));
    case SYS_mremap:
        return free && !(a[3] & MREMAP_FIXED);
    case SYS_madvise:
        return free || !a[1] || a[2] == 22 || a[2] == 23; /* MADV_POPULATE_READ, MADV_POPULATE_WRITE */
    default:
        return free || !a[1];
    }
}

uintptr_t pct_host_memory_broke(void)
{
    return memory->broke;
}

void pct_host_memory_shrinks(void)
{
    memory->shrunk = true;
}

unsigned pct_host_memory_gaps(struct pct_gap *gaps, unsigned most)
{
    unsigned count = 0;
    for (; count < most && count < memory->gaps; count++) {
        const struct pct_gap *best = NULL;
        for (unsigned i = 0; i < memory->gaps; i++) {
            const struct pct_gap *gap = &memory->gap[i];
            bool later = !count || gap->to - gap->from < gaps[count - 1].to - gaps[count - 1].from;
            if (later && (!best || gap->to - gap->from > best->to - best->from))
                best = gap;
        }
        if (!best)
            break;
        gaps[count] = *best;
    }
    return count;
}

/* Runs can only add to what there was: where the size is the same, nothing else is left. */
static bool is_as_before(struct memory *m)
{
    uint64_t size, data, all = m->size, writable = m->data;
    pct_host_stacks_pages(&all, &writable);
    return read_sizes(m, &size, &data) && size == all && data == writable;
}

bool pct_host_memory_trim(void)
{
    struct memory *m = memory;
    uint64_t before, after, data;
    uintptr_t broke = (uintptr_t)pct_host_sys4(SYS_brk, 0, 0, 0, 0);
    if (broke < m->broke || m->shrunk || !pct_host_stacks_settle(m->uffd))
        return false;
    if (broke > m->broke)
        pct_host_sys4(SYS_brk, (long)m->broke, 0, 0, 0);
    for (unsigned i = 0; i < m->gaps; i++)
        if (m->used[i])
            pct_host_stacks_empty(&m->gap[i]);
    if (is_as_before(m))
        return true;
    for (unsigned i = 0; i < m->gaps && read_sizes(m, &before, &data); i++) {
        pct_host_stacks_empty(&m->gap[i]);
        m->used[i] |= read_sizes(m, &after, &data) && after != before;
    }
    return is_as_before(m);
}

static void put_back(struct memory *m, uint64_t from, uint64_t to)
{
    const struct range *range = m->ranges;
    for (uint64_t at = from; at < to; at += PAGE) {
        while (at >= range->to)
            range++;
        if (at < range->from) { /* a stack that is kept */
            clear_page((void *)at);
            continue;
        }
        uint64_t page = range->first + (at - range->from) / PAGE;
        if (m->touched[page / 64] >> page % 64 & 1)
            copy_page((void *)at, m->copies + page * PAGE);
        else
            clear_page((void *)at);
    }
}

bool pct_host_memory_restore(void)
{
    struct memory *m = memory;
    if (!m->count)
        return false;
    const bool again = ++m->runs >= PROTECT_AGAIN;
    uint64_t to = m->ranges[m->count - 1].to;
    for (uint64_t from = m->ranges[0].from; from < to;) {
        /* What there is not was not written, though the kernel may say so. */
        long count = scan(m, &from, to, WP_ALLOWED | WRITTEN, PRESENT | SWAPPED);
        if (count < 0)
            return false;
        for (long i = 0; i < count; i++) {
            put_back(m, m->pieces[i].from, m->pieces[i].to);
            if (again && !protect(m, m->pieces[i].from, m->pieces[i].to))
                return false;
        }
    }
    if (again)
        m->runs = 0;
    return pct_host_stacks_hide();
}

/* --- Points in the middle of a run -------------------------------------------------------------------------------- */

/* The map as text. 0: it cannot be read, or there is no room. */
static size_t read_maps(struct memory *m)
{
    size_t size = 0;
    long got;
    while ((got = pct_host_sys4(SYS_pread64, m->maps, (long)(m->maps_text + size), (long)(MAPS - size), (long)size)) >
           0)
        size += (size_t)got;
    return got || size == MAPS ? 0 : size;
}

/* The part of it in this gap. */
static bool add_mapped(struct pct_saved_map *map, const struct pct_gap *gap, struct pct_saved_mapping mapping)
{
    struct pct_saved_mapping *last = &map->mapped[map->count - 1];
    mapping.from = mapping.from > gap->from ? mapping.from : gap->from;
    mapping.to = mapping.to < gap->to ? mapping.to : gap->to;
    if (map->count && last->to == mapping.from && last->rights == mapping.rights) {
        last->to = mapping.to;
        return true;
    }
    if (map->count == PCT_SAVED_MAPPED)
        return false;
    map->mapped[map->count++] = mapping;
    return true;
}

/* By a question for each. False: the kernel does not know it (Linux 6.11). */
static bool ask_for_mapped(const struct memory *m, struct pct_saved_map *map)
{
    struct query query = { .size = sizeof query, .flags = QUERY_OR_NEXT };
    for (unsigned i = 0; i < m->gaps; i++)
        for (uint64_t from = m->gap[i].from; from < m->gap[i].to; from = query.to) {
            const bool known = query.to && query.from >= from; /* by the last answer */
            query.address = from;
            const long failed = known ? 0 : pct_host_sys4(SYS_ioctl, m->maps, QUERY, (long)&query, 0);
            if (failed)
                return failed == -ENOENT;
            if (query.from >= m->gap[i].to)
                break;
            const struct pct_saved_mapping mapping = { query.from, query.to, query.rights & RIGHTS };
            if (!add_mapped(map, &m->gap[i], mapping))
                return false;
        }
    return true;
}

static bool read_mapped(struct memory *m, struct pct_saved_map *map)
{
    struct pct_mapping each;
    const size_t size = read_maps(m);
    struct pct_maps maps = { .fd = -1, .left = (long)size, .next = m->maps_text };
    while (maps.left > 0 && pct_maps_next(&maps, &each, NULL, 0)) {
        const uint64_t rights =
            (each.readable ? READABLE : 0) | (each.writable ? WRITABLE : 0) | (each.shared ? SHARED : 0);
        for (unsigned i = 0; i < m->gaps; i++)
            if (each.from < m->gap[i].to && each.to > m->gap[i].from &&
                !add_mapped(map, &m->gap[i], (struct pct_saved_mapping){ each.from, each.to, rights }))
                return false;
    }
    return size;
}

/* What is mapped where nothing was at first: the filter lets none of the rest change. */
static bool read_map(struct memory *m, struct pct_saved_map *map)
{
    map->broke = (uintptr_t)pct_host_sys4(SYS_brk, 0, 0, 0, 0);
    map->count = 0;
    if (!m->no_query && ask_for_mapped(m, map))
        return true;
    m->no_query = true;
    map->count = 0;
    return read_mapped(m, map);
}

/* since: what was mapped since; or else what was written of the rest. */
static bool save_pieces(struct memory *m, struct pct_saved *saved, uint64_t from, uint64_t to, bool since)
{
    while (from < to) {
        long count = scan(m, &from, to, since ? 0 : WP_ALLOWED | WRITTEN, PRESENT | SWAPPED);
        if (count < 0)
            return false;
        for (long i = 0; i < count; i++)
            for (uint64_t at = m->pieces[i].from; at < m->pieces[i].to; at += PAGE) {
                if (saved->pages == PCT_SAVED_PAGES)
                    return false;
                copy_page(saved->copies + (size_t)saved->pages * PAGE, (void *)at);
                saved->page[saved->pages++] = at;
            }
    }
    return true;
}

/* What was mapped since: memory of its own, and what pct shares with the command. Of all else it is not known whether
 * it changes. */
static bool save_mapping(struct memory *m, struct pct_saved *saved, const struct pct_mapping *mapping)
{
    for (unsigned i = 0; i < m->gaps; i++) {
        const uintptr_t from = mapping->from > m->gap[i].from ? mapping->from : m->gap[i].from;
        const uintptr_t to = mapping->to < m->gap[i].to ? mapping->to : m->gap[i].to;
        if (from >= to || from >= END)
            continue;
        if (mapping->shared) {
            const uintptr_t header = (uintptr_t)pct_shim.header, log = (uintptr_t)pct_sched_log(&pct_S);
            if ((header < from || header >= to) && (log < from || log >= to))
                return false;
            continue;
        }
        if (!mapping->writable || !mapping->readable || mapping->file || saved->ranges == PCT_SAVED_RANGES)
            return false;
        saved->before[saved->ranges] = saved->pages;
        saved->range[saved->ranges++] = (struct pct_gap){ from, to };
        if (!save_pieces(m, saved, from, to, true))
            return false;
    }
    return true;
}

bool pct_host_memory_save(struct pct_saved *saved)
{
    struct memory *m = memory;
    struct pct_mapping mapping;
    saved->pages = saved->ranges = 0;
    if (!pct_host_stacks_save(&saved->calls))
        return false;
    const size_t size = read_maps(m);
    struct pct_maps maps = { .fd = -1, .left = (long)size, .next = m->maps_text };
    bool good = m->count && size && save_pieces(m, saved, m->ranges[0].from, m->ranges[m->count - 1].to, false);
    while (good && maps.left > 0 && pct_maps_next(&maps, &mapping, NULL, 0))
        good = save_mapping(m, saved, &mapping);
    return good && read_map(m, &saved->map);
}

void pct_host_memory_look(void)
{
    memory->looked = !memory->shrunk && read_map(memory, &memory->now);
}

bool pct_host_memory_has(const struct pct_saved *saved)
{
    const struct pct_saved_map *now = &memory->now;
    uint32_t j = 0;
    for (uint32_t i = 0; i < saved->map.count && memory->looked; i++) {
        const struct pct_saved_mapping *wanted = &saved->map.mapped[i];
        while (j < now->count && now->mapped[j].to < wanted->to)
            j++;
        if (j == now->count || now->mapped[j].from > wanted->from || now->mapped[j].rights != wanted->rights)
            return false;
    }
    return memory->looked && saved->map.count && now->broke >= saved->map.broke;
}

static void unmap(uintptr_t from, uintptr_t to)
{
    if (from < to)
        pct_host_sys4(SYS_munmap, (long)from, (long)(to - from), 0, 0);
}

static bool is_now(const struct memory *m, const struct pct_saved_map *map)
{
    bool same = m->looked && m->now.count == map->count && m->now.broke == map->broke;
    for (uint32_t i = 0; same && i < map->count; i++)
        same = m->now.mapped[i].from == map->mapped[i].from && m->now.mapped[i].to == map->mapped[i].to &&
               m->now.mapped[i].rights == map->mapped[i].rights;
    return same;
}

bool pct_host_memory_cut(const struct pct_saved *saved)
{
    struct memory *m = memory;
    const struct pct_saved_map *map = &saved->map;
    pct_host_stacks_load(saved->calls);
    if (is_now(m, map))
        return true;
    if (m->now.broke > map->broke)
        pct_host_sys4(SYS_brk, (long)map->broke, 0, 0, 0);
    for (uint32_t j = 0, i = 0; j < m->now.count; j++) {
        uintptr_t from = m->now.mapped[j].from;
        for (; i < map->count && map->mapped[i].to <= m->now.mapped[j].to; i++) {
            unmap(from, map->mapped[i].from);
            from = map->mapped[i].to;
        }
        unmap(from, m->now.mapped[j].to);
    }
    pct_host_memory_look();
    return is_now(m, map);
}

/* Clear what there is in here that was not saved, or put it back as it was at first. next: the first page that was
 * saved, from there on. */
static bool clear_since(struct memory *m, const struct pct_saved *saved, uint64_t from, uint64_t to, uint32_t next,
                        bool since)
{
    while (from < to) {
        long count = scan(m, &from, to, since ? 0 : WP_ALLOWED | WRITTEN, PRESENT | SWAPPED);
        if (count < 0)
            return false;
        for (long i = 0; i < count; i++)
            for (uint64_t at = m->pieces[i].from; at < m->pieces[i].to; at += PAGE) {
                while (next < saved->pages && saved->page[next] < at)
                    next++;
                if (next < saved->pages && saved->page[next] == at)
                    continue;
                if (since)
                    clear_page((void *)at);
                else
                    put_back(m, at, at + PAGE);
            }
    }
    return true;
}

bool pct_host_memory_load(const struct pct_saved *saved)
{
    struct memory *m = memory;
    m->runs++;
    if (!clear_since(m, saved, m->ranges[0].from, m->ranges[m->count - 1].to, 0, false))
        return false;
    for (uint32_t i = 0; i < saved->ranges; i++)
        if (!clear_since(m, saved, saved->range[i].from, saved->range[i].to, saved->before[i], true))
            return false;
    for (uint32_t i = 0; i < saved->pages; i++)
        copy_page((void *)saved->page[i], saved->copies + (size_t)i * PAGE);
    return true;
}
