/* Rounds of loops that have changed nothing, in explored runs of programs that were compiled to tell of their accesses
 * (pct-cc), or patched (--memory). sched/await.h says what becomes of them.
 *
 * A thread has made such a round if it comes to an access that only looks with the registers and the stack with which
 * it came to one before, at the same place; and all that it did in between was to look at memory, to write what
 * stood there already, and to yield. To write on its own stack is no progress either, as that is compared; if others
 * use what changes there, there is a doubt (PCT_DOUBT_OWN). A loop that counts its rounds makes progress in each: these
 * are followed up to a bound (PCT_LOG_AGAIN). What its code does beside that and does not tell is not known: an
 * assumption of the verdict (PCT_ASSUMES_AWAIT). Registers: those that a called function preserves, as compiled code
 * calls one for each access; in patched code all general ones, the flags, and the vector registers up to 256 bits.
 */
#ifndef PCT_PRELOAD_AWAIT_H
#define PCT_PRELOAD_AWAIT_H

#include <preload/core/shim.h>

/* Words of the vector registers in struct pct_shim_thread. */
enum { PCT_AWAIT_VECTORS = 80 };

/* entry.c: the run is an explored one, and has a second thread. */
extern bool pct_memory_explored;

/* pct_memory_access(), where that is of no interest. */
void pct_memory_told(const volatile void *address, size_t size, unsigned what, const void *pc);

/* The thread, which has the baton, has come to this access, before its point: whether it has made a round without
 * progress. looks: it changes nothing, or pct_memory_after() says that it has. Only in explored runs. */
bool pct_await_round(struct pct_shim_thread *self, uintptr_t address, size_t size, bool looks, uintptr_t pc);

/* It has passed that point, and is about to make the access. */
void pct_await_passed(struct pct_shim_thread *self);

/* Its last access, a compare and exchange, has put here what it found. */
void pct_await_expected(struct pct_shim_thread *self, uintptr_t address);

/* The thread's last access has changed memory, or one was made that was not told of. */
void pct_await_progress(struct pct_shim_thread *self);

/* For the scheduler: whether any thread that waits would read something else in its next round than in its last one.
 */
bool pct_await_changed(void);

#endif
