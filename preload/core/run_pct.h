/* Running the `pct` command that belongs to this library, out of the target: for what needs a decoder, a symbolizer,
 * ... */
#ifndef PCT_PRELOAD_RUN_PCT_H
#define PCT_PRELOAD_RUN_PCT_H

#include <stdbool.h>

/* Run it with these arguments ("pct" first, NULL last) in a child that the target cannot see (it sends no signal, and
 * no wait of the target's finds it), with standard output on this descriptor. The descriptor keep, if not negative, is
 * open in the command too, with its number. False: it could not be run, or its exit status is not 0. */
bool pct_run_pct_run(char *const arguments[], int output, int keep);

#endif
