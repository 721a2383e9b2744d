/* Threads that pct has not made: foreign_threads.c. */
#ifndef PCT_PRELOAD_FOREIGN_THREADS_H
#define PCT_PRELOAD_FOREIGN_THREADS_H

#include <sched/sched.h>
#include <stdint.h>

/* As of struct pct_host: strangers. */
uint64_t pct_foreign_threads(uint64_t until, bool lately);
void pct_foreign_threads_forget(void); /* in a fork child */
/* Likewise: asleep. */
uint64_t pct_foreign_threads_asleep(const struct pct_thread *thread);

/* Before any code of the target, by its only thread; and when its run ends or it becomes another program: threads that
 * came and went unseen are counted. Any thread. */
void pct_foreign_threads_begin(void);
void pct_foreign_threads_serve(void); /* in a fork server, before it makes runs, by its only thread */
void pct_foreign_threads_count(void);
/* From now on the kernel may make threads for this process (io_uring). Any thread. */
void pct_foreign_threads_of_kernel(void);
/* Whether it may: then it writes to the process's descriptors, too. */
bool pct_foreign_threads_has_kernel(void);

#endif
