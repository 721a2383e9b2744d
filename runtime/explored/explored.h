/* libpct-explored.so, preloaded behind libpct.so into the runs of `pct explore` (docs/EXPLORE.md). Which schedules are
 * equivalent is told by the addresses of objects; so here an address is a function of what its thread has done,
 * whatever others do meanwhile. And calls that read or change what libc, or the file system, keeps for all threads are
 * told, though they are no scheduling points. */
#ifndef PCT_RUNTIME_EXPLORED_H
#define PCT_RUNTIME_EXPLORED_H

#include <preload/memory/channel.h>

#define PCT_EXPLORED __attribute__((visibility("default")))

/* Undefined, and so NULL, unless libpct.so was preloaded. */
#pragma weak pct_explored_thread
#pragma weak pct_explored_not
#pragma weak pct_explored_fresh
#pragma weak pct_explored_gone
#pragma weak pct_explored_hidden
#pragma weak pct_explored_doubt
#pragma weak pct_explored_outside
#pragma weak pct_explored_output
#pragma weak pct_explored_mapped
#pragma weak pct_explored_asks
#pragma weak pct_explored_asks_number
#pragma weak pct_explored_asks_clock

#endif
