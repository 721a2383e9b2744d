/* What the memory map of a run tells of the program's code, without asking the kernel in each: as it was when the
 * fork server began, while the same modules are loaded. */
#ifndef PCT_PRELOAD_KNOWN_MAPS_H
#define PCT_PRELOAD_KNOWN_MAPS_H

#include <stddef.h>

/* The fork server begins. There is one thread. */
void pct_known_maps_take(void);

/* The text of /proc/self/maps as it was then, for a run that has ended by itself and whose places are recorded. NULL:
 * nobody knows it, or modules were loaded or unloaded since then, or a place lies in other code. */
const char *pct_known_maps(size_t *size);

#endif
