/* The memory of a host: see host.h. What is private and can be written is remembered; each run costs one question of
 * the kernel, and copies of the pages that it has written. These stay unprotected for some runs, since the next run
 * will write them again, and a copy costs less than a fault. */
#include "host.h"
#include "host_memory.h"
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

enum { PROTECT_AGAIN = 512 /* runs */ };

/* Bytes of address space, and of memory in it, that a target may have before its main. */
#define MOST_SPACE (UINT64_C(4) << 30)
#define MOST_MEMORY (UINT64_C(64) << 20)

/* Linux 6.7; headers may be older. */
#define FEATURE_WP_ASYNC (UINT64_C(1) << 15)
struct scan {
    uint64_t size, flags, from, to, reached, pieces, pieces_size, most, inverted, all_of, any_of, tell;
};
#define SCAN _IOWR('f', 16, struct scan)

struct memory *pct_host_memory;

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

/* --- What is mapped ----------------------------------------------------------------------------------------------- */

/* This one is never put back. Between it and the last such one is no room for a stack. */
static void pass_by(struct memory *m, uintptr_t from, uintptr_t to)
{
    if (!m->row_count || from - m->row.to > PAGE)
        m->row = (struct pct_gap){ from, m->row_count = 0 };
    m->row.to = to;
    if (++m->row_count > m->skipped_count) {
        m->skipped_count = m->row_count;
        m->skipped = m->row;
    }
}

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
    /* Shared: pct's own, of several runs: a fork server forks no target that has others. */
    if (!mapping->writable || mapping->shared) {
        pass_by(m, from, to);
        return PCT_HOST_NONE;
    }
    m->row_count = 0;
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

long pct_host_memory_scan(struct memory *m, uint64_t *from, uint64_t to, uint64_t all_of, uint64_t any_of)
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
        long count = pct_host_memory_scan(m, &from, range->to, 0, PRESENT | SWAPPED);
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
    m->code = pct_host_move(PCT_SYS3(SYS_open, "/proc/self/mem", O_WRONLY | O_CLOEXEC, 0));
    m->broke = (uintptr_t)PCT_SYS1(SYS_brk, 0);
    enum pct_host_reason reason = list_mappings(m);
    for (unsigned i = 0; i < m->count && !reason; i++)
        reason = copy_range(m, &m->ranges[i], &copied);
    return !reason && !read_sizes(m, &m->size, &m->data) ? PCT_HOST_KERNEL : reason;
}

enum pct_host_reason pct_host_memory_keep(void)
{
    struct memory *m = pct_host_memory = map_shared(sizeof *m);
    if (!m)
        return PCT_HOST_LARGE;
    m->uffd = m->pagemap = m->statm = m->maps = m->code = -1;
    enum pct_host_reason reason = keep(m);
    /* The run that it is all the same has no others than any run. */
    const int own[] = { m->uffd, m->pagemap, m->statm, m->maps, m->code };
    for (unsigned i = 0; reason && i < sizeof own / sizeof *own; i++)
        PCT_SYS1(SYS_close, own[i]);
    return reason;
}

bool pct_host_memory_write(void *to, const void *from, size_t size)
{
    return pct_host_is_on() && pct_host_memory->code >= 0 &&
           pct_host_sys4(SYS_pwrite64, pct_host_memory->code, (long)from, (long)size, (long)to) == (long)size;
}

bool pct_host_memory_was_free(uintptr_t from, size_t size)
{
    const uintptr_t to = (from + size + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    for (unsigned i = 0; pct_host_memory && to > from && i < pct_host_memory->gaps; i++)
        if (from >= pct_host_memory->gap[i].from && to <= pct_host_memory->gap[i].to)
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
    return pct_host_memory->broke;
}

void pct_host_memory_shrinks(void)
{
    pct_host_memory->shrunk = true;
}

unsigned pct_host_memory_gaps(struct pct_gap *gaps, unsigned most)
{
    unsigned count = 0;
    for (; count < most && count < pct_host_memory->gaps; count++) {
        const struct pct_gap *best = NULL;
        for (unsigned i = 0; i < pct_host_memory->gaps; i++) {
            const struct pct_gap *gap = &pct_host_memory->gap[i];
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
    struct memory *m = pct_host_memory;
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

void pct_host_memory_put_back(struct memory *m, const struct range **next, uint64_t from, uint64_t to)
{
    const struct range *range = *next;
    for (uint64_t at = from; at < to; at += PAGE) {
        while (at >= range->to)
            range++;
        if (at < range->from) { /* a stack that is kept; the kernel may know a page of one that only earlier runs had */
            if (pct_host_stacks_had(at))
                clear_page((void *)at);
            continue;
        }
        uint64_t page = range->first + (at - range->from) / PAGE;
        if (m->touched[page / 64] >> page % 64 & 1)
            copy_page((void *)at, m->copies + page * PAGE);
        else
            clear_page((void *)at);
    }
    *next = range;
}

/* again: what was written is watched once more. */
static bool restore(struct memory *m, const struct range **next, uint64_t from, uint64_t to, bool again)
{
    while (from < to) {
        /* What there is not was not written, though the kernel may say so. */
        long count = pct_host_memory_scan(m, &from, to, WP_ALLOWED | WRITTEN, PRESENT | SWAPPED);
        if (count < 0)
            return false;
        for (long i = 0; i < count; i++) {
            pct_host_memory_put_back(m, next, m->pieces[i].from, m->pieces[i].to);
            if (again && !protect(m, m->pieces[i].from, m->pieces[i].to))
                return false;
        }
    }
    return true;
}

bool pct_host_memory_restore(void)
{
    struct memory *m = pct_host_memory;
    if (!m->count)
        return false;
    const bool again = ++m->runs >= PROTECT_AGAIN;
    const uint64_t first = m->ranges[0].from, last = m->ranges[m->count - 1].to;
    const uint64_t from = m->skipped.from > first ? m->skipped.from : first;
    const struct range *next = m->ranges;
    if (!restore(m, &next, first, from < last ? from : last, again) ||
        !restore(m, &next, m->skipped.to > first ? m->skipped.to : first, last, again))
        return false;
    if (again)
        m->runs = 0;
    return pct_host_stacks_hide();
}
