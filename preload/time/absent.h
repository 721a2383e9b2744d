/* Programs that look for what another program has yet to make (a file, a server), sleep, and look again. No call of
 * theirs waits for it, so their sleeps would end at once in virtual time, all their tries be over before the other one
 * has made a step, and a million of them be taken for a livelock. A thread that has done so several times in a row
 * waits for the outside: its sleeps take as long as they say. Not where others have deadlines: those who look for what
 * is optional beside them would make each run as long as its sleeps. Not where the process has relatives, who share its
 * time and may be the ones who make the file. */
#ifndef PCT_PRELOAD_ABSENT_H
#define PCT_PRELOAD_ABSENT_H

#include <preload/core/shim.h>
#include <errno.h>

/* What a call has returned that looked for something by its name or address, -1 with errno: passed on, and noted for
 * the calling thread if nothing was there. Any thread, also without the baton. */
static inline int pct_absent_note(int result)
{
    if (PCT_UNLIKELY(result < 0) && (errno == ENOENT || errno == ECONNREFUSED) && pct_self)
        pct_self->absent = true;
    return result;
}

/* The thread with the baton is about to sleep. */
void pct_absent_sleeps(struct pct_shim_thread *self);

/* Whether threads wait in this way, and nothing else goes on. until: the first deadline of all, virtual ns. With the
 * baton, when no thread can run; or when the one with the baton is about to sleep. */
bool pct_absent_awaited(uint64_t until);

#endif
