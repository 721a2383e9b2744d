/* Threads that libc makes for itself, which a program does not see: the one that waits for the timers of SIGEV_THREAD,
 * those that perform asynchronous operations, and one for each notification by SIGEV_THREAD. Here they are threads of
 * the schedule, like those that the program makes. All of it with the baton. */
#ifndef PCT_PRELOAD_SERVICE_H
#define PCT_PRELOAD_SERVICE_H

#include <preload/signals/signals.h>

/* A detached thread that runs start(argument) and takes no signals. It has not run when this returns. NULL: none could
 * be made. Passes a scheduling point. */
struct pct_shim_thread *pct_service_thread(void *(*start)(void *), void *argument);

/* A thread of this kind that is made once. Zeroed: there is none yet. */
struct pct_service {
    struct pct_shim_thread *thread;
    bool starting;
    struct pct_object queue; /* those that wait until another one has made it */
};

/* Have the thread of this service, which runs serve(NULL). False: none could be made. May pass scheduling
 * points, at which others may come here, too. */
bool pct_service_start(struct pct_shim_thread *self, struct pct_service *service, void *(*serve)(void *));

/* Whom to notify by a thread: what a struct sigevent with SIGEV_THREAD says. */
struct pct_notice {
    void (*function)(union sigval);
    union sigval value;
    size_t stack_size, guard_size; /* stack_size 0: no attributes, the usual ones; a guard may have none */
};

void pct_notice_from(struct pct_notice *notice, const struct sigevent *event);

/* Start a thread that calls the function, with this signal mask. As in libc, nobody hears of it if there is none.
 * Passes a scheduling point. */
void pct_notice_start(const struct pct_notice *notice, uint64_t mask);

#endif
