/* Making the plan of a module (patch/plan.h) from its file. */
#ifndef PCT_CLI_PATCH_PLAN_H
#define PCT_CLI_PATCH_PLAN_H

#include <common/config.h>
#include <patch/plan.h>

/* Where these functions begin and return is to be sites, too; addresses of the file. */
struct pct_plan_function {
    uint64_t from, to;
    bool cold; /* a part of a function: it does not begin here */
    bool line; /* no function: code of a line begins at `from`, in the function that ends at `to` */
};

/* Functions as the shim names them to the command: FROM-TO[:cold|:line],... in hexadecimal. Returns how many, to be
 * freed; -1: they are not that, or there is no memory. */
int pct_plan_functions_parse(struct pct_plan_function **functions, const char *text);

/* level: PCT_PATCH_*. Returns a plan in memory that the caller frees, or NULL when memory is short. A file that cannot
 * be read, or not be patched, has a plan that says so. */
struct pct_plan *pct_plan_make(const char *path, unsigned level, const struct pct_plan_function *functions,
                               size_t count);

/* The name of a level: PCT_PATCH_*. */
const char *pct_plan_level_name(unsigned level);

/* Why nothing of a module is patched: the text of an enum pct_plan_refusal. */
const char *pct_plan_refusal(unsigned refusal);

#endif
