/* What threads tell each other by files and streams, where no step does.
 *
 * For the race detector: nobody sees all that makes, changes and removes files: stores to mapped memory, other
 * processes, most of libc. So whoever finds a file that has changed since the run began, or hears that something is not
 * there, or makes or removes a name, acquires what every thread has done until then: an edge too many, perhaps, one too
 * few only where an old file comes with the folder that a thread has renamed. The state of a file from before the run
 * is news of nobody.
 *
 * Streams read and write within libc. There every one of them goes through a table of functions, in which ours stand
 * for the two that do so. They are no points: but whoever waits at the other end can go on from then, and the race
 * detector has them order as the steps of read() and write() do. */
#ifndef PCT_PRELOAD_NEWS_H
#define PCT_PRELOAD_NEWS_H

#include <preload/core/shim.h>

/* Ours into libc's tables. False: these are not as they are known. While there is one thread. */
bool pct_news_lead(void);

/* A run with a race detector begins. */
void pct_news_begin(void);

void pct_news_acquire(void);
void pct_news_found(int folder, const char *path, bool failed);
void pct_news_read(int fd);

/* What the calling thread hears of files comes after all that others have done. */
static inline void pct_news_any(void)
{
    if (PCT_UNLIKELY(pct_sched_races(&pct_S) != NULL))
        pct_news_acquire();
}

/* The calling thread has looked at the file of this name, with this result: negative where it could not. Any thread,
 * also without the baton. Returns the result, errno untouched. */
static inline long pct_news_at(int folder, const char *path, long result)
{
    if (PCT_UNLIKELY(pct_sched_races(&pct_S) != NULL))
        pct_news_found(folder, path, result < 0);
    return result;
}

/* The same of one that it has looked at, or read from, by a descriptor. */
static inline long pct_news_of(int fd, long result)
{
    if (PCT_UNLIKELY(pct_sched_races(&pct_S) != NULL))
        pct_news_read(fd);
    return result;
}

#endif
