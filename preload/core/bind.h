/* Our calls of libc are bound when they are first made: bind.c. */
#ifndef PCT_PRELOAD_BIND_H
#define PCT_PRELOAD_BIND_H

/* From now on not by the loader, which takes locks for that, but by us. */
void pct_bind_start(void);

/* All those that are left, before a second thread exists. */
void pct_bind_all(void);

#endif
