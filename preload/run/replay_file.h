/* A recorded schedule that this run is to follow (PCT_REPLAY). */
#ifndef PCT_PRELOAD_REPLAY_FILE_H
#define PCT_PRELOAD_REPLAY_FILE_H

#include <pct/trace.h>

/* It is the schedule of one program: not of those that its process was before it became this one by exec, nor of those
 * that its children become. */
struct pct_recorded {
    const uint64_t *records; /* NULL: none */
    uint64_t count;
    uint32_t images;   /* as in the header */
    const char *token; /* of the run, without the hash if it was killed */
};

/* Read the trace in this file, of either version, whole or cut short by the end of its process. Returns NULL, or what
 * is wrong with it: a sentence for the user. Before the run begins. */
const char *pct_recorded_open(struct pct_recorded *recorded, const char *path);

#endif
