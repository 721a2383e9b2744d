/* The page of `pct coverage --html`: how many interleavings were exposed over the runs, and each of them with the lines
 * of its accesses. */
#ifndef PCT_CLI_COVERAGE_HTML_H
#define PCT_CLI_COVERAGE_HTML_H

#include <cli/campaign/campaign.h>
#include <cli/campaign/tried.h>
#include <cli/trace/accesses.h>

struct pct_coverage_page {
    const struct pct_campaign *campaign;
    const struct pct_access_places *places;
    const struct pct_iroots *exposed, *predicted, *pairs; /* the last: cli/trace/reads_from.h */
    const struct pct_iroots *combined; /* that were exposed (cli/trace/iroots.h); and what maple has tried */
    const struct pct_tried *tried;
    uint64_t runs; /* that were looked at */
    uint32_t window;
    const char *directed; /* the command that tries what is predicted and not exposed; NULL: nothing is */
};

/* Write it to this file, at once or not at all; "-": standard output. Returns 0, or an exit status after a message. */
int pct_coverage_html(const char *path, const struct pct_coverage_page *page);

#endif
