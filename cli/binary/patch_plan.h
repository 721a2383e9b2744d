/* Making the plan of a module (patch/plan.h) from its file. */
#ifndef PCT_CLI_PATCH_PLAN_H
#define PCT_CLI_PATCH_PLAN_H

#include <common/config.h>
#include <patch/plan.h>

/* level: PCT_PATCH_*. Returns a plan in memory that the caller frees, or NULL when memory is short. A file that cannot
 * be read, or not be patched, has a plan that says so. */
struct pct_plan *pct_plan_make(const char *path, unsigned level);

/* The name of a level: PCT_PATCH_*. */
const char *pct_plan_level_name(unsigned level);

/* Why nothing of a module is patched: the text of an enum pct_plan_refusal. */
const char *pct_plan_refusal(unsigned refusal);

#endif
