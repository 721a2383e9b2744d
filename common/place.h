/* A number for a place in the target's code that is the same in all runs of the program, wherever its files are mapped:
 * a hash of the file's name without directories and of the offset in the file. For the shim and the command, which must
 * agree. Header only, without libc. */
#ifndef PCT_COMMON_PLACE_H
#define PCT_COMMON_PLACE_H

#include <pct/random.h>
#include <stdint.h>

/* The file of this name: FNV-1a. */
static inline uint64_t pct_place_file(const char *base_name)
{
    uint64_t file = 0;
    for (const char *c = base_name; *c; c++)
        file = (file ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return file;
}

/* The place at this offset in it. */
static inline uint64_t pct_place_at(uint64_t file, uint64_t offset)
{
    return pct_random(file, PCT_STREAM_SITES, offset);
}

/* The same in 32 bits, as strategies get it; never 0. */
static inline uint32_t pct_place_short(uint64_t place)
{
    uint32_t folded = (uint32_t)(place ^ place >> 32);
    return folded ? folded : 1;
}

#endif
