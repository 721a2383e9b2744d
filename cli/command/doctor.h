/* Is this program controllable? For `pct doctor`, and for run and replay when the shim did not come up. */
#ifndef PCT_CLI_DOCTOR_H
#define PCT_CLI_DOCTOR_H

#include <stdbool.h>

/* Why the linker did not preload the shim into this program (a path), as far as its file tells: lines with "pct: ".
 * Returns false, and prints nothing, if its file shows no reason. */
bool pct_doctor_explain(const char *program);

#endif
