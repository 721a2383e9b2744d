/* Which modules are compiled for us: the program and those of its libraries that tell of their accesses. */
#ifndef PCT_RUNTIME_MODULES_H
#define PCT_RUNTIME_MODULES_H

#include <stdbool.h>

/* The module of this code tells of its accesses; said by each of its object files, when it is loaded. */
void pct_module_tells(const void *pc);

/* Whether the module of this code does. */
bool pct_module_is_known(const void *pc);

/* Whether this place lies in a part of such a module that nobody writes: code, constants. */
bool pct_module_is_constant(const void *at);

#endif
