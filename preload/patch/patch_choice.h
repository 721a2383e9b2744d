/* What the run wants to have patched: by --memory and --functions. */
#ifndef PCT_PATCH_CHOICE_H
#define PCT_PATCH_CHOICE_H

#include <link.h>
#include <stdbool.h>

/* Whether the run wants anything to be patched. */
bool pct_patch_is_wanted(void);

/* Which accesses of this module are to be scheduling points: PCT_PATCH_*. executable: it is the program itself. */
unsigned pct_patch_level(const struct link_map *module, bool executable);

/* The functions of this module that are to be scheduling points where they begin and return, as `pct sites --functions`
 * takes them; "": none. Good until the next call. With the baton, after pct_scope_look(). Ends the process with a
 * message if there are too many. */
const char *pct_patch_functions(const struct link_map *module);

/* Whether some thread could be running in the program's code just now: one that pct did not see start, or one from
 * which the watchdog took the baton. */
bool pct_patch_others_run(void);

#endif
