/* Reading the memory map without libc: see maps.h. A character at a time over a small buffer, as a line may be cut by
 * the end of a read. Any thread, any time: of /proc/thread-self, as /proc/self is the first thread, which has no memory
 * any more once it has ended by pthread_exit(). */
#include "maps.h"
#include "host.h"
#include "sys.h"
#include <common/text.h>
#include <fcntl.h>

/* The next character, 0 at the end. */
static char next_char(struct pct_maps *r)
{
    if (r->left <= 0) {
        r->left = PCT_SYS3(SYS_read, r->fd, r->buffer, sizeof r->buffer);
        r->next = r->buffer;
        if (r->left <= 0)
            return 0;
    }
    r->left--;
    return *r->next++;
}

/* A number of this base, up to 16; *end: the character behind it. */
static uintptr_t next_number_of(struct pct_maps *r, unsigned base, char *end)
{
    uintptr_t value = 0;
    for (;;) {
        char c = next_char(r);
        if (c >= '0' && c <= '9')
            value = value * base + (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value * base + (uintptr_t)(c - 'a') + 10;
        else {
            *end = c;
            return value;
        }
    }
}

static uintptr_t next_number(struct pct_maps *r, char *end)
{
    return next_number_of(r, 16, end);
}

static const char name[] = "/proc/thread-self/maps";

static bool begin(struct pct_maps *maps, long fd)
{
    maps->fd = fd;
    maps->left = 0;
    return fd >= 0;
}

bool pct_maps_open(struct pct_maps *maps)
{
    return begin(maps, PCT_SYS3(SYS_open, name, O_RDONLY | O_CLOEXEC, 0));
}

/* A line: FROM-TO RIGHTS OFFSET DEVICE INODE PATH. */
bool pct_maps_next(struct pct_maps *maps, struct pct_mapping *mapping, char *path, size_t size)
{
    char c, rights[4] = { 0 };
    *mapping = (struct pct_mapping){ .from = next_number(maps, &c) };
    if (!c)
        return false;
    mapping->to = next_number(maps, &c);
    for (unsigned i = 0; i < sizeof rights && c; i++) /* rwxp, or rwxs */
        c = rights[i] = next_char(maps);
    mapping->readable = rights[0] == 'r';
    mapping->writable = rights[1] == 'w';
    mapping->shared = rights[3] == 's';
    next_char(maps);
    mapping->offset = next_number(maps, &c);
    mapping->device = next_number(maps, &c) << 32;
    mapping->device |= next_number(maps, &c);
    mapping->inode = next_number_of(maps, 10, &c);
    mapping->file = mapping->inode;
    struct pct_text text;
    pct_text_init(&text, path, path ? size : 0);
    for (bool in_path = false; c && c != '\n'; c = next_char(maps)) {
        in_path |= c == '/';
        mapping->named |= c == '/' || c == '[';
        if (in_path && path)
            pct_text_add_char(&text, c);
    }
    return true;
}

void pct_maps_close(const struct pct_maps *maps)
{
    PCT_SYS1(SYS_close, maps->fd);
}

bool pct_maps_find(const volatile void *address, struct pct_mapping *mapping, char *path, size_t size)
{
    struct pct_maps maps;
    struct pct_mapping each;
    const uintptr_t at = (uintptr_t)address;
    bool found = false;
    /* Files are mapped in a host where they are in any run; other memory may have other neighbours. */
    if (!(path ? begin(&maps, pct_host_sys4(SYS_open, (long)name, O_RDONLY | O_CLOEXEC, 0, 0)) : pct_maps_open(&maps)))
        return false;
    while (!found && pct_maps_next(&maps, &each, path, size))
        found = at >= each.from && at < each.to;
    pct_maps_close(&maps);
    if (found)
        *mapping = each;
    else if (path && size)
        *path = 0;
    return found;
}
