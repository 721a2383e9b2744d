/* The end of a run: end.c. */
#ifndef PCT_PRELOAD_END_H
#define PCT_PRELOAD_END_H

#include <preload/core/shim.h>

void pct_end_normal(void); /* the process ends by itself */
void pct_end_died(void);   /* a sanitizer ends it, after its report */
void pct_end_verdict(enum pct_verdict verdict, const char *message) __attribute__((noreturn));
void pct_end_crash(int signal, void *context);

/* The name of the thread with this id of the kernel, as pthread_setname_np() has set it, ended by a zero; as it is if
 * it cannot be read. Any thread. */
void pct_end_read_name(int tid, char name[16]);

#endif
