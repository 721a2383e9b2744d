/* A script (pct-script(1)) that makes a program keep to the orderings which a bug needs, or to the schedule of a
 * failing run, with the names of functions and variables: what `pct explain --script` writes. */
#ifndef PCT_CLI_ORDER_SCRIPT_H
#define PCT_CLI_ORDER_SCRIPT_H

#include "analysis.h"

/* How operations are told from others. The first is the most robust to changes of the program, but names are not known
 * everywhere, and a call may be made by a function that was inlined. */
enum pct_order_script_detail {
    PCT_ORDER_SCRIPT_FUNCTIONS, /* variables, and the functions that make the calls; threads by their functions */
    PCT_ORDER_SCRIPT_VARIABLES, /* variables, counted; threads by their functions */
    PCT_ORDER_SCRIPT_NUMBERS,   /* the same, but threads by their numbers */
    PCT_ORDER_SCRIPT_SCHEDULE   /* no orderings: the smallest schedule that fails, turn by turn, like VARIABLES */
};

/* Write it, of an analysis that has measured the orderings, or any for a schedule. False: one of the operations is one
 * that scripts have no word for, there are none or too many, or there is no memory. */
bool pct_order_script_write(FILE *out, const struct pct_analysis *analysis, enum pct_order_script_detail detail);

/* The comments that such a script begins with. */
void pct_order_script_head(FILE *out, const struct pct_failure *failure, const char *where);

#endif
