/* Threads that wait in a loop for others to write to memory, in explored runs.
 *
 * A round of such a loop that has changed nothing, neither for others nor for the thread itself, could as well have not
 * been made: whatever comes of a schedule with it comes of the one without, too. So the thread makes no second one, and
 * is disabled for good; and where nothing else can be done,
 *  - if it would read something else by now, the run tells nothing that another one does not, which reads behind the
 *    write: PCT_AWAITED_BLOCKED;
 *  - else time goes on, if anybody waits for that: then it may look again, as time goes on only when nobody can run,
 * and without that round somebody could have;
 *  - else it waits for ever: PCT_AWAITED_FOR_EVER.
 * Whether a round has changed anything is for the host to say (preload/memory/await.h). All with the baton. */
#ifndef PCT_SCHED_AWAIT_H
#define PCT_SCHED_AWAIT_H

#include "sched.h"

/* The running thread has come to an access to this location, and has made a round without progress: returns when time
 * has gone on, and it has the baton. In place of pct_sched_point(). */
void pct_await_write(struct pct_sched *s, struct pct_thread *self, enum pct_op op, struct pct_object *location);

/* Inside the scheduler: nobody can run. Ends the run if one that waits would read something else now. */
void pct_await_look(struct pct_sched *s);
/* Time has gone on. */
void pct_await_jumped(struct pct_sched *s);
/* And will not any more: ends the run if anybody waits. */
void pct_await_end(struct pct_sched *s);

#endif
