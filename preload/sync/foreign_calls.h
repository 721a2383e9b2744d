/* Modelled objects (condition variables, barriers, futexes) and threads without the baton: those that pct does not
 * know, and handlers off turn. Such a thread uses libc's own function; what that means for the threads of the schedule
 * that wait beside the object it leaves here, and who holds the baton looks at its next point. */
#ifndef PCT_PRELOAD_FOREIGN_CALLS_H
#define PCT_PRELOAD_FOREIGN_CALLS_H

#include <pct/trace.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct pct_object;

/* Without the baton: up to `count` of those that wait for this object (a condition variable, a futex) are to be woken.
 */
void pct_tell_wake(enum pct_class class_, const volatile void *object, uint32_t count);

/* Without the baton: the caller is about to wait in this condition variable, in libc. */
void pct_tell_waits(const volatile void *cond);

/* Without the baton: this thread of the schedule is to be cancelled. False: there is nobody to tell. */
bool pct_tell_cancels(pthread_t handle);

/* Without the baton: arrive at a barrier, and wait. False: there is nobody to tell. *serial: whether the caller was the
 * last. */
bool pct_tell_arrives(const volatile void *barrier, bool *serial);

/* With the baton: look now (struct pct_host: told). */
void pct_foreign(void);

/* With the baton: whether threads may wait in libc's own condition variable. */
bool pct_foreign_waits(const struct pct_object *queue);

/* With the baton: the barrier's round is over. */
void pct_foreign_round(const volatile void *barrier);

/* In a fork child: those who told are not here. */
void pct_foreign_forget(void);

/* cond.c, futex.c, barrier.c, with the baton: do what was told. The last returns whether that was the last to arrive.
 */
void pct_cond_wake(struct pct_object *queue, uint32_t count);
void pct_futex_wake_waiters(struct pct_object *queue, uint32_t count);
bool pct_barrier_arrive(struct pct_object *object);

#endif
