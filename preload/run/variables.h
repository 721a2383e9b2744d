/* What the variables of the environment say of a run, at its start, by the only thread: docs/VARIABLES.md. A mistake
 * ends the process, before any code of the target. */
#ifndef PCT_PRELOAD_VARIABLES_H
#define PCT_PRELOAD_VARIABLES_H

#include <common/config.h>

/* The values as they stand in the environment; NULL: unset, or empty. */
struct pct_variables {
#define VARIABLE(name, value, help) const char *name;
    PCT_VARIABLES(VARIABLE)
#undef VARIABLE
};
extern struct pct_variables pct_variables;

/* Take them from this environment. Those that begin with PCT_ and that pct does not know are refused. */
void pct_variables_read(char **environment);

/* The configuration of the run (pct_shim.config), its strategy, and what of the shim they set. False: no variable says
 * anything of them, so that is left to pct_variables_configure_defaults(): most processes never begin a run. */
bool pct_variables_configure(void);
void pct_variables_configure_defaults(void);

/* What nobody has said, and the machine decides: the seed, the member of the mixture, the time of day. */
void pct_variables_draw(void);

/* End the process: a variable, or what it names, is wrong. */
void pct_start_refuse(const char *message) __attribute__((noreturn));

#endif
