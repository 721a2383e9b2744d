/* What can be patched in a module: the plan that the `pct` command makes of its file (patch/plan.h), and keeps for
 * other runs. */
#ifndef PCT_PRELOAD_PATCH_PLAN_H
#define PCT_PRELOAD_PATCH_PLAN_H

#include <patch/plan.h>

/* PCT_PLANS: the directory where plans are kept, or NULL. */
extern const char *pct_patch_plans;

/* The plan of the file at this path for the level that PCT_MEMORY asks for; it may say why there is nothing to be
 * patched. NULL: none could be made. To be unmapped, plan->size bytes. With the baton, or before the run; it may run
 * the command and wait for it. */
const struct pct_plan *pct_plan_read(const char *module);

#endif
