/* Reading the memory map without libc: see maps.h. A character at a time over a small buffer, as a line may be cut by
 * the end of a read. Any thread, any time: of /proc/thread-self, as /proc/self is the first thread, which has no memory
 * any more once it has ended by pthread_exit(). */
#include "maps.h"
#include "sys.h"
#include <common/text.h>
#include <fcntl.h>

struct reader {
    long fd, left;
    char *next;
    char buffer[512]; /* callers may have small stacks */
};

/* The next character, 0 at the end. */
static char next_char(struct reader *r)
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

/* A hexadecimal number; *end: the character behind it. */
static uintptr_t next_number(struct reader *r, char *end)
{
    uintptr_t value = 0;
    for (;;) {
        char c = next_char(r);
        if (c >= '0' && c <= '9')
            value = value * 16 + (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value * 16 + (uintptr_t)(c - 'a') + 10;
        else {
            *end = c;
            return value;
        }
    }
}

bool pct_maps_find(const volatile void *address, struct pct_mapping *mapping, char *path, size_t size)
{
    struct reader r = { .fd = PCT_SYS3(SYS_open, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC, 0) };
    uintptr_t at = (uintptr_t)address;
    bool found = false;
    char c = 1;
    if (r.fd < 0)
        return false;
    while (c && !found) {
        uintptr_t from = next_number(&r, &c), to = next_number(&r, &c);
        found = at >= from && at < to;
        for (int i = 0; i < 4 && c; i++) /* rwxp, or rwxs */
            c = next_char(&r);
        bool shared = c == 's';
        next_char(&r);
        uintptr_t offset = next_number(&r, &c);
        if (found)
            *mapping = (struct pct_mapping){ .from = from, .to = to, .offset = offset, .shared = shared };
        struct pct_text text;
        pct_text_init(&text, path, path && found ? size : 0);
        for (bool in_path = false; c && c != '\n'; c = next_char(&r)) {
            in_path |= c == '/';
            if (in_path && found && path)
                pct_text_add_char(&text, c);
        }
    }
    PCT_SYS1(SYS_close, r.fd);
    return found;
}
