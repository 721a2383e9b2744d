/* A scope: what the user's patterns (--focus, --functions, --suppressions) stand for in the modules of a program, as
 * ranges of addresses. The `pct` command makes it from symbols and debug information (cli/binary/scope.c), since
 * nothing of that can be read inside the target; the shim reads it (preload/memory/scope.c). A file, or memory, of the
 * machine that wrote it:
 *
 *     head | modules | ranges, by module, kind and address; those of one kind, LINE but for, do not overlap
 */
#ifndef PCT_COMMON_SCOPE_H
#define PCT_COMMON_SCOPE_H

#include <stdint.h>

#define PCT_SCOPE_MAGIC "pctscope"
enum { PCT_SCOPE_VERSION = 2, PCT_SCOPE_NAME = 64 };

enum pct_scope_kind {
    PCT_SCOPE_FOCUS,    /* accesses by this code, or to this data, are scheduling points */
    PCT_SCOPE_RACE,     /* a race with a frame of one of its stacks here, or on this data, does not matter */
    PCT_SCOPE_RACE_TOP, /* a race with one of its accesses here does not matter */
    PCT_SCOPE_WATCH,    /* watchpoints are set on this data */
    PCT_SCOPE_FUNCTION, /* where this function begins and returns are points; one range each */
    PCT_SCOPE_COLD,     /* a part of such a function that lies elsewhere: it may return here, but does not begin */
    PCT_SCOPE_LINE,     /* where code of a line begins is a point; up to the end of the function that it is in */
    PCT_SCOPE_KINDS
};

struct pct_scope_head {
    char magic[8];
    uint32_t version, modules, ranges;
    uint32_t has; /* bit i: there are patterns for kind i, even if they match nothing */
};

struct pct_scope_module {
    char name[PCT_SCOPE_NAME]; /* of its file, without directories; of the program, as it is named behind symbolic links
                                */
    uint32_t first, count;     /* its ranges */
};

struct pct_scope_range {
    uint64_t from, to; /* as the file says, before it is relocated */
    uint64_t kind;     /* enum pct_scope_kind */
};

/* What the processor has: watchpoints of 1, 2, 4 or 8 bytes, each at an address that is a multiple of its size. */
enum { PCT_SCOPE_WATCHPOINTS = 4 };

/* The size of the first of those that watch from ... to - 1. */
static inline uint32_t pct_scope_watchpoint(uint64_t from, uint64_t to)
{
    uint32_t size = 8;
    while (from % size || size > to - from)
        size /= 2;
    return size;
}

#endif
