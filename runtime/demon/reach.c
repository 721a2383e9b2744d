/* Memory that leads into the frames of the test: see reach.h. All that the process can write is looked at, word by
 * word, as conservative garbage collectors do; pages that were never touched, which the kernel knows, are not. */
#include "reach.h"
#include "discover.h"
#include <preload/core/sys.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>

enum { PAGE = 4096, MOST_PAGES = 32768 /* 128 MiB */, BATCH = 512 };

/* What pct maps for itself lies from here on (preload/core/apart.c). */
#define APART_FROM UINT64_C(0x200000000000)
#define APART_TO UINT64_C(0x300000000000)

/* A line of /proc/self/maps. */
struct mapping {
    uint64_t from, to;
    bool readable, writable, own; /* own: of a library of pct's */
    bool named;
};

static struct {
    long maps, pages;
    char text[8192];
    size_t at, end; /* in the text */
    uint64_t from, to;
    unsigned looked; /* at this many pages */
    bool found;
} reach; /* not on the stack, which is the program's */

static int next_character(void)
{
    if (reach.at == reach.end) {
        long got = PCT_SYS3(SYS_read, reach.maps, reach.text, sizeof reach.text);
        reach.at = 0;
        reach.end = got > 0 ? (size_t)got : 0;
        if (!reach.end)
            return -1;
    }
    return (unsigned char)reach.text[reach.at++];
}

/* In hexadecimal; *c: the character behind it. */
static uint64_t next_number(int *c)
{
    uint64_t value = 0;
    for (*c = next_character(); (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'f'); *c = next_character())
        value = value << 4 | (uint64_t)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
    return value;
}

/* FROM-TO RIGHTS OFFSET DEVICE INODE PATH. False: there are no more. */
static bool next_mapping(struct mapping *m)
{
    static const char library[] = "/libpct";
    int c;
    size_t matched = 0;
    *m = (struct mapping){ .from = next_number(&c) };
    if (c < 0)
        return false;
    m->to = next_number(&c);
    m->readable = next_character() == 'r';
    m->writable = next_character() == 'w';
    for (c = next_character(); c >= 0 && c != '\n'; c = next_character()) {
        m->named |= c == '/' || c == '[';
        matched = c == library[matched] ? matched + 1 : c == '/';
        m->own |= matched == sizeof library - 1;
        matched = m->own ? 0 : matched;
    }
    return true;
}

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

bool pct_demon_reaches(uint64_t from, uint64_t to, uint64_t plan, const uint64_t ours[2])
{
    struct mapping m, last = { .own = false };
    reach.maps = PCT_SYS3(SYS_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    reach.pages = PCT_SYS3(SYS_open, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
    reach.at = reach.end = reach.looked = 0;
    reach.from = from;
    reach.to = to;
    reach.found = reach.maps < 0 || reach.pages < 0;
    while (!reach.found && next_mapping(&m)) {
        m.own |= !m.named && last.own && last.to == m.from; /* what follows is the library's, too */
        last = m;
        bool stack = to > m.from && to <= m.to;
        m.own |= plan >= m.from && plan < m.to;
        if (m.readable && m.writable && !m.own && (m.from < APART_FROM || m.from >= APART_TO))
            look_around(stack ? to : m.from, m.to, ours);
    }
    if (reach.maps >= 0)
        PCT_SYS1(SYS_close, reach.maps);
    if (reach.pages >= 0)
        PCT_SYS1(SYS_close, reach.pages);
    return reach.found;
}
