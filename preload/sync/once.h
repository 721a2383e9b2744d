/* once.c, for C11's call_once. */
#ifndef PCT_PRELOAD_ONCE_H
#define PCT_PRELOAD_ONCE_H

#include <pthread.h>

int pct_once(pthread_once_t *control, void (*routine)(void), int (*real)(pthread_once_t *, void (*)(void)));

#endif
