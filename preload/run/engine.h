/* How the baton passes from thread to thread: engine.c. */
#ifndef PCT_PRELOAD_ENGINE_H
#define PCT_PRELOAD_ENGINE_H

#include <preload/core/shim.h>

extern const struct pct_host pct_host_futex;
/* Asks where libc keeps what a thread's end shows in, before the program begins: a sandbox of its own may end it for
 * the question. By the first thread, while it is the only one. */
void pct_engine_learn(void);
/* The caller is about to end: the next one will wait until it is gone. On its turn. */
void pct_engine_finishing(struct pct_shim_thread *self);
void pct_engine_exiting(struct pct_shim_thread *self);
/* A thread is about to be made while this many live. */
void pct_engine_expect(uint32_t threads);
void pct_engine_wait(struct pct_shim_thread *self);

#endif
