/* The memory of a host at points in the middle of a run: see host.h. */
#include "host.h"
#include "host_memory.h"
#include "host_stacks.h"
#include "maps.h"
#include "shim.h"
#include "sys.h"
#include <errno.h>
#include <sys/ioctl.h>

/* Linux 6.11; headers may be older. */
struct query {
    uint64_t size, flags, address, from, to, rights, page, offset, inode;
    uint32_t major, minor, name_size, id_size;
    uint64_t name, id;
};
#define QUERY _IOWR('f', 17, struct query)
enum { READABLE = 1 << 0, WRITABLE = 1 << 1, SHARED = 1 << 3, QUERY_OR_NEXT = 1 << 4 };
enum { RIGHTS = READABLE | WRITABLE | SHARED };

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
        long count = pct_host_memory_scan(m, &from, to, since ? 0 : WP_ALLOWED | WRITTEN, PRESENT | SWAPPED);
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
    struct memory *m = pct_host_memory;
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
    pct_host_memory->looked = !pct_host_memory->shrunk && read_map(pct_host_memory, &pct_host_memory->now);
}

bool pct_host_memory_has(const struct pct_saved *saved)
{
    const struct pct_saved_map *now = &pct_host_memory->now;
    uint32_t j = 0;
    for (uint32_t i = 0; i < saved->map.count && pct_host_memory->looked; i++) {
        const struct pct_saved_mapping *wanted = &saved->map.mapped[i];
        while (j < now->count && now->mapped[j].to < wanted->to)
            j++;
        if (j == now->count || now->mapped[j].from > wanted->from || now->mapped[j].rights != wanted->rights)
            return false;
    }
    return pct_host_memory->looked && saved->map.count && now->broke >= saved->map.broke;
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
    struct memory *m = pct_host_memory;
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
    const struct range *range = m->ranges;
    while (from < to) {
        long count = pct_host_memory_scan(m, &from, to, since ? 0 : WP_ALLOWED | WRITTEN, PRESENT | SWAPPED);
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
                    pct_host_memory_put_back(m, &range, at, at + PAGE);
            }
    }
    return true;
}

bool pct_host_memory_load(const struct pct_saved *saved)
{
    struct memory *m = pct_host_memory;
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
