/* The locks of streams: streams.c. */
#ifndef PCT_PRELOAD_STREAMS_H
#define PCT_PRELOAD_STREAMS_H

#include <preload/core/shim.h>
#include <stdio.h>

/* Before a call of libc that takes this stream's lock and gives it back: wait in the schedule until it can be had, if
 * others may have it at a scheduling point. */
void pct_stream_pass(FILE *file);

/* Whether another thread has it now, so that such a call would sleep. */
bool pct_stream_is_taken(const FILE *file);

/* A run begins: whether each such call is a point. */
void pct_streams_start(void);

/* Who has the lock of the stream that this thread waits for; PCT_NO_THREAD: nobody, or it waits for something else. */
uint32_t pct_stream_holder(const struct pct_thread *thread);

#endif
