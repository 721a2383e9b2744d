/* What can be patched in a module: the plan that the `pct` command makes of its file (patch/plan.h), and keeps for
 * other runs. */
#ifndef PCT_PRELOAD_PATCH_PLAN_H
#define PCT_PRELOAD_PATCH_PLAN_H

#include <patch/place.h>
#include <patch/plan.h>

/* Bytes for the functions of a module. */
enum { PCT_PLAN_FUNCTIONS = 8192 };

/* PCT_PLANS: the directory where plans are kept, or NULL. */
extern const char *pct_patch_plans;

/* The plan of the file at this path for this level (PCT_PATCH_*) and these functions (pct_scope_functions()); it may
 * say why there is nothing to be patched. NULL: none could be made. To be unmapped, plan->size bytes. With the baton,
 * or before the run; it may run the command and wait for it. */
const struct pct_plan *pct_plan_read(const char *module, unsigned level, const char *functions);

/* Whether the module of these sites was unloaded since it was patched, and another one stands in its place, which may
 * be the same file again: an instruction that had become a jump is as in the file. (One that is a jump itself does not
 * tell.) */
bool pct_patch_is_gone(const struct pct_patched *patched, uint64_t sites);

#endif
