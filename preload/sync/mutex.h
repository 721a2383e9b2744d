/* Mutexes, for condition variables and C11: mutex.c. */
#ifndef PCT_PRELOAD_MUTEX_H
#define PCT_PRELOAD_MUTEX_H

#include <preload/core/shim.h>

int pct_mutex_try(struct pct_shim_thread *self, pthread_mutex_t *mutex);
int pct_mutex_release(struct pct_shim_thread *self, pthread_mutex_t *mutex, struct pct_object *object);
pct_readiness pct_mutex_ready;
bool pct_mutex_alike(const pthread_mutex_t *mutex);         /* its waits are alike: struct pct_wait */
uint32_t pct_mutex_holder(const struct pct_thread *thread); /* as of struct pct_host */
/* Who has the mutex before which this thread stands; PCT_NO_THREAD: nobody, or it stands before something else. */
uint32_t pct_mutex_owner(const struct pct_thread *thread);
/* Whether other processes take part in it. */
bool pct_mutex_shared(const pthread_mutex_t *mutex);

#endif
