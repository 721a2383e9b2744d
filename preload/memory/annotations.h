/* What the program says of its races, by the annotations of runtime/annotate.c: that those of a thread do not matter
 * for a while, or those on some bytes never. It may say so before it has a second thread, and with it a race detector.
 */
#ifndef PCT_PRELOAD_ANNOTATIONS_H
#define PCT_PRELOAD_ANNOTATIONS_H

#include <preload/core/shim.h>

/* The detector of this run is to know what was said so far. On the turn of the calling thread, whose slot this is. */
void pct_annotations_tell(const struct pct_shim_thread *self);

/* Before a run of its own, of a forked child or of a host: its detector knows nothing yet. */
void pct_annotations_forget(void);

#endif
