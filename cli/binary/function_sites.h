/* Where functions that the user has named begin and return, and where code of lines begins, as sites (patch/plan.h).
 * patch_plan.c calls this when all functions of the module have been scanned. */
#ifndef PCT_CLI_FUNCTION_SITES_H
#define PCT_CLI_FUNCTION_SITES_H

#include "instruction_scan.h"
#include "patch_plan.h"

struct pct_function_sites {
    struct pct_instruction_scan *scan;
    const struct pct_plan_function *functions;
    size_t count;
    /* The code of the file at this address; NULL: it is not there. */
    const uint8_t *(*bytes)(const void *file, uint64_t address, uint64_t size);
    /* Where the function begins that this address is in; 0: in none. */
    uint64_t (*start)(const void *file, uint64_t address);
    const void *file;
    uint64_t no_entry, no_return; /* the result */
};

/* Add the sites. A function returns where it executes `ret`, or jumps to another function for good. Fills in the first
 * place where one, or a line, begins, and where one returns, and no site can be, plus 1; 0: there is none. */
void pct_function_sites_add(struct pct_function_sites *sites);

#endif
