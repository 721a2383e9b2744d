/* The tables with addresses in them, which the loader leaves to us: tables.c. */
#ifndef PCT_PRELOAD_TABLES_H
#define PCT_PRELOAD_TABLES_H

/* Before anything is looked up in a constant with an address in it: a strategy, a list of words. What does so must not
 * be compiled into the caller, as compilers count on constants. Also in a signal handler, and several times. */
void pct_tables_relocate(void);

#endif
