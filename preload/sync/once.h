/* once.c, for C11's call_once and the engine. */
#ifndef PCT_PRELOAD_ONCE_H
#define PCT_PRELOAD_ONCE_H

#include <pthread.h>

struct pct_thread;

/* In an explored run this thread comes to a point: who waits for a routine that it has left, and not by returning, can
 * go on, and that is to stand in the log. */
void pct_once_arrives(const struct pct_thread *thread);

int pct_once(pthread_once_t *control, void (*routine)(void), int (*real)(pthread_once_t *, void (*)(void)));

#endif
