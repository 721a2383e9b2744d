/* Sites of fewer bytes than a jump has: which instructions behind such a site could move into its trampoline with it,
 * so that there is room for one (pct_plan_site.more). Where a jump fits otherwise (patch/place.h), they stay. */
#ifndef PCT_CLI_SHORT_SITES_H
#define PCT_CLI_SHORT_SITES_H

#include "frames.h"
#include "instruction_scan.h"

/* After pct_instruction_scan_finish(). The functions stand by address; bytes: the code at an address. */
void pct_short_sites_extend(struct pct_instruction_scan *scan, const struct pct_frame *functions, size_t count,
                            const uint8_t *(*bytes)(const void *file, uint64_t address, uint64_t size),
                            const void *file);

#endif
