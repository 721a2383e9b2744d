/* The memory map of the process: what an address belongs to. */
#ifndef PCT_PRELOAD_MAPS_H
#define PCT_PRELOAD_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pct_mapping {
    uintptr_t from, to;
    uintptr_t offset; /* of its first byte in the file */
    bool shared;      /* other processes may see what is written there */
};

/* Find the mapping of this address. path (may be NULL) gets the name of the file behind it, cut at size. Returns false
 * if there is none, or /proc is not there. */
bool pct_maps_find(const volatile void *address, struct pct_mapping *mapping, char *path, size_t size);

#endif
