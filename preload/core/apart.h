/* Memory of the shim's own, in a part of the address space in which the kernel puts nothing by itself: what the target
 * maps is where it would be without. So it does not matter when this memory is made: in a run, or beforehand, in the
 * process that runs are forked from. */
#ifndef PCT_PRELOAD_APART_H
#define PCT_PRELOAD_APART_H

#include <stddef.h>

/* This many bytes of zeros, to read and write; address space until they are touched. NULL: out of memory. With the
 * baton, or before the run. */
void *pct_apart_map(size_t size);

/* The first `size` bytes of the file that is open as this descriptor, to read. NULL: they cannot be mapped. Likewise.
 */
const void *pct_apart_map_file(long file, size_t size);

#endif
