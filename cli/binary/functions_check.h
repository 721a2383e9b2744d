/* Whether the functions of --functions can be patched where they begin and return. */
#ifndef PCT_CLI_FUNCTIONS_CHECK_H
#define PCT_CLI_FUNCTIONS_CHECK_H

#include "scope.h"

/* What is to be done where no jump fits at the place where a function returns. */
enum pct_functions_returns { PCT_RETURNS_TOLD, PCT_RETURNS_UNUSED, PCT_RETURNS_NEEDED };

/* scope: has been found. level: of --memory, PCT_PATCH_*. Returns 0, or the exit status for the command after a message
 * that names what cannot be patched. */
int pct_functions_check(const struct pct_scope *scope, unsigned level, enum pct_functions_returns returns);

/* Whether threads can stop where code of the lines of this pattern of a scope begins, or (PCT_LINES_ALL) of all of
 * them, in each module. Otherwise `why` says why not, with the nearest line where they can. */
#define PCT_LINES_ALL UINT32_MAX
bool pct_lines_fit(const struct pct_scope *scope, uint32_t pattern, unsigned level, char *why, size_t size);

#endif
