/* Creation and start of threads: thread.c. */
#ifndef PCT_PRELOAD_THREAD_H
#define PCT_PRELOAD_THREAD_H

#include <preload/core/shim.h>

void pct_thread_start(void) PCT_STARTS;
int pct_thread_create(pthread_t *handle, const pthread_attr_t *attr, void *(*start)(void *), void *argument, bool c11);
/* NULL: it is none that pct knows. With the baton. */
struct pct_shim_thread *pct_thread_find(pthread_t handle);
/* It has ended, and nobody may name it any more. */
static inline bool pct_thread_is_gone(const struct pct_shim_thread *thread)
{
    return thread->core.state == PCT_STATE_FINISHED && (thread->joined || thread->detached);
}
extern uint32_t pct_thread_coming; /* threads that the scheduler knows and the kernel does not yet */
/* The calling thread is about to end by the kernel's call, with this status, behind none of its destructors. */
void pct_thread_leave(int status);
/* A thread has done so unseen. With the baton. */
void pct_thread_has_left(void);
/* The calling kernel thread is this one from now on. */
void pct_thread_adopt(struct pct_shim_thread *slot);
/* It ends, or the run does: if it has a real-time priority, to which schedules do not keep, the report says so. */
void pct_thread_note_priority(const struct pct_shim_thread *thread);

#endif
