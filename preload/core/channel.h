/* The channel of an explored run (common/exploration.h). */
#ifndef PCT_PRELOAD_CHANNEL_H
#define PCT_PRELOAD_CHANNEL_H

/* At the start of a run, before its strategy's: follow the plan in this file (NULL: there is none), and log to it;
 * unless another process of this run does already. Ends the process if there is no memory. */
void pct_channel_open(const char *path);

#endif
