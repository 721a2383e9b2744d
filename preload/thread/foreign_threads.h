/* Threads that pct has not made: foreign_threads.c. */
#ifndef PCT_PRELOAD_FOREIGN_THREADS_H
#define PCT_PRELOAD_FOREIGN_THREADS_H

#include <stdint.h>

/* As of struct pct_host: strangers. */
uint64_t pct_foreign_threads(uint64_t until);
void pct_foreign_threads_forget(void); /* in a fork child */

#endif
