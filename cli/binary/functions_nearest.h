/* What can be patched in the place of a function or a line that cannot: its callers and callees, lines near by. */
#ifndef PCT_CLI_FUNCTIONS_NEAREST_H
#define PCT_CLI_FUNCTIONS_NEAREST_H

#include "code_hash.h"
#include "scope.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A caller, and else a function that it calls, of the function at this address of the file at this path: one of the
 * same file, by a direct call, that can be patched where it begins, and with `returns` where it returns, too. level: of
 * --memory, PCT_PATCH_*. Writes what to name instead ("`f`, which calls it"); false: there is none, or the file has no
 * symbols. For a message after which the command ends: it reads all code of the file. */
bool pct_functions_nearest(const char *path, uint64_t address, unsigned level, bool returns, char *text, size_t size);

/* Whether all functions that this name stands for in this file, whose code has been read, can be patched, and there are
 * some. */
bool pct_functions_fit(const struct pct_code *code, const char *path, char *name, unsigned level, bool returns);

/* Of the line whose code begins where this match does ("line FILE:LINE"), the nearest one of the same function that can
 * be patched, those before it first: "FILE:LINE". False: there is none within eight lines. As costly as the other. */
bool pct_lines_nearest(const char *path, const struct pct_scope_match *line, unsigned level, char *text, size_t size);

#endif
