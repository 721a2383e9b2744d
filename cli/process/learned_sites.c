/* What runs teach about places in the code: see learned_sites.h. */
#include "learned_sites.h"
#include <cli/base/cli.h>
#include <cli/base/replacement.h>
#include <common/ordered.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static int by_name(const void *a, const void *b)
{
    const struct pct_snap_place *x = a, *y = b;
    return x->name < y->name ? -1 : x->name > y->name;
}

int pct_ordered_add(struct pct_ordered *ordered, const struct pct_trace *trace)
{
    struct pct_snap_section section;
    const unsigned char *data;
    for (size_t at = 0; pct_trace_next_section(trace, &at, &section, &data);) {
        size_t more = section.size / sizeof *ordered->item, kept = 0;
        if (section.type != PCT_SNAP_PLACES || !more)
            continue;
        struct pct_snap_place *item = realloc(ordered->item, (ordered->count + more) * sizeof *item);
        if (!item)
            return -ENOMEM;
        memcpy(item + ordered->count, data, more * sizeof *item);
        more += ordered->count;
        qsort(item, more, sizeof *item, by_name);
        for (size_t i = 0; i < more; i++)
            if (kept && item[kept - 1].name == item[i].name)
                item[kept - 1].flags |= item[i].flags;
            else
                item[kept++] = item[i];
        ordered->item = item;
        ordered->count = kept;
    }
    return 0;
}

size_t pct_ordered_skipped(const struct pct_ordered *ordered)
{
    size_t skipped = 0;
    for (size_t i = 0; i < ordered->count; i++)
        skipped += !(ordered->item[i].flags & PCT_PLACE_RACED);
    return skipped;
}

void pct_ordered_find(char *path, size_t size)
{
    const char *given = getenv("PCT_ORDERED"), *directory = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (given && *given == '/')
        length = snprintf(path, size, "%s", given);
    else if (directory && *directory == '/')
        length = snprintf(path, size, "%s/pct/ordered", directory);
    else if (home && *home == '/')
        length = snprintf(path, size, "%s/.local/state/pct/ordered", home);
    if (length < 0 || (size_t)length >= size)
        *path = 0;
}

static uint64_t digest_of(const struct pct_ordered *ordered)
{
    return XXH3_64bits(ordered->item, ordered->count * sizeof *ordered->item);
}

static bool name_file(char *path, size_t size, uint64_t digest)
{
    pct_ordered_find(path, size);
    size_t length = strlen(path);
    return length &&
           (size_t)snprintf(path + length, size - length, "/%016llx", (unsigned long long)digest) < size - length;
}

static int write_file(const struct pct_ordered *ordered, const char *path)
{
    char aside[PATH_MAX + 32];
    struct pct_ordered_head head = { .version = PCT_ORDERED_VERSION, .count = ordered->count };
    int failed = pct_cli_make_directories(path);
    if (failed)
        return failed;
    memcpy(head.magic, PCT_ORDERED_MAGIC, sizeof head.magic);
    int fd = pct_replacement_aside(aside, sizeof aside, path, pct_replacement_mode());
    if (fd < 0)
        return fd;
    failed = pct_cli_write_all(fd, &head, sizeof head);
    if (!failed)
        failed = pct_cli_write_all(fd, ordered->item, ordered->count * sizeof *ordered->item);
    if (close(fd) && !failed)
        failed = -errno;
    if (!failed && rename(aside, path))
        failed = -errno;
    if (failed)
        unlink(aside);
    return failed;
}

uint64_t pct_ordered_save(const struct pct_ordered *ordered)
{
    char path[PATH_MAX];
    struct pct_ordered there = { 0 };
    if (!pct_ordered_skipped(ordered))
        return 0;
    uint64_t digest = digest_of(ordered);
    bool known = pct_ordered_load(&there, digest);
    pct_ordered_free(&there);
    if (known)
        return digest;
    int failed = name_file(path, sizeof path, digest) ? write_file(ordered, path) : -ENOENT;
    if (!failed)
        return digest;
    pct_cli_say("what was learned about memory accesses cannot be kept, so no access is skipped: %s: %s",
                *path ? path : "no $XDG_STATE_HOME or $HOME", strerror(-failed));
    return 0;
}

bool pct_ordered_load(struct pct_ordered *ordered, uint64_t digest)
{
    char path[PATH_MAX];
    struct pct_ordered_head head;
    struct stat status;
    *ordered = (struct pct_ordered){ 0 };
    int fd = name_file(path, sizeof path, digest) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    bool whole = fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode) &&
                 read(fd, &head, sizeof head) == sizeof head && !memcmp(head.magic, PCT_ORDERED_MAGIC, 8) &&
                 head.version == PCT_ORDERED_VERSION && head.count < SIZE_MAX / 32 &&
                 (size_t)status.st_size == sizeof head + head.count * sizeof *ordered->item;
    size_t bytes = whole ? head.count * sizeof *ordered->item : 0;
    ordered->item = whole ? malloc(bytes + 1) : NULL;
    if (ordered->item && read(fd, ordered->item, bytes) == (ssize_t)bytes)
        ordered->count = head.count;
    if (fd >= 0)
        close(fd);
    if (ordered->count && digest_of(ordered) == digest)
        return true;
    pct_ordered_free(ordered);
    return false;
}

int pct_ordered_check(uint64_t digest)
{
    char path[PATH_MAX];
    struct pct_ordered ordered;
    if (!digest)
        return 0;
    bool there = pct_ordered_load(&ordered, digest);
    pct_ordered_free(&ordered);
    if (there)
        return 0;
    if (!name_file(path, sizeof path, digest))
        snprintf(path, sizeof path, "~/.local/state/pct/ordered/%016llx", (unsigned long long)digest);
    return pct_cli_usage(
        "the token names what its campaign had learned about memory accesses, and that is not here, or "
        "damaged: copy %s from where the run was made",
        path);
}

void pct_ordered_free(struct pct_ordered *ordered)
{
    free(ordered->item);
    *ordered = (struct pct_ordered){ 0 };
}
