/* The memory map of the process: what an address belongs to. */
#ifndef PCT_PRELOAD_MAPS_H
#define PCT_PRELOAD_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pct_mapping {
    uintptr_t from, to;
    uintptr_t offset; /* of its first byte in the file */
    bool readable, writable;
    bool shared; /* other processes may see what is written there */
    bool file;   /* there is one behind it, this one: */
    uint64_t device, inode;
    bool named; /* it has a path, or is called [heap] and the like */
};

/* The path of shared memory without a file, as the kernel calls it. */
#define PCT_MAPS_ANONYMOUS "/dev/zero (deleted)"

/* All of them, one after the other, by rising addresses. */
struct pct_maps {
    long fd, left;
    char *next;
    char buffer[512]; /* callers may have small stacks */
};

/* False: /proc is not there. */
bool pct_maps_open(struct pct_maps *maps);
/* path (may be NULL) gets the name of the file behind it, cut at size. False: there are no more. */
bool pct_maps_next(struct pct_maps *maps, struct pct_mapping *mapping, char *path, size_t size);
void pct_maps_close(const struct pct_maps *maps);

/* Find the mapping of this address. path (may be NULL) gets the name of the file behind it, cut at size. Returns false
 * if there is none, or /proc is not there. */
bool pct_maps_find(const volatile void *address, struct pct_mapping *mapping, char *path, size_t size);

#endif
