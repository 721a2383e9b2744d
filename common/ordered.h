/* What runs have taught about places in the code: whose accesses were ordered by synchronisation in every run seen, and
 * so need not be scheduling points (PCT, section 4.2: what is ordered is local). A file in a directory of such files,
 * named by the digest of its contents, as tokens have it (`ordered=`); written by the `pct` command, read by the shim:
 *
 *     head | struct pct_snap_place (pct/trace.h), in rising order of their names */
#ifndef PCT_COMMON_ORDERED_H
#define PCT_COMMON_ORDERED_H

#include <stdint.h>

#define PCT_ORDERED_MAGIC "pctorder"
enum { PCT_ORDERED_VERSION = 1 };

struct pct_ordered_head {
    char magic[8];
    uint32_t version, unused;
    uint64_t count;
};

#endif
