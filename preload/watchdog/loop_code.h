/* The instructions of a loop that waits and counts: a few moves, comparisons, additions and jumps. */
#ifndef PCT_PRELOAD_LOOP_CODE_H
#define PCT_PRELOAD_LOOP_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Whether the instruction that the thread is about to execute is one of those, and writes nothing but registers and the
 * top of the thread's own stack. *read: the address outside of that from which it reads; 0: it does not. Any thread, in
 * a handler that has interrupted the target's code. */
bool pct_loop_code(const ucontext_t *context, uintptr_t *read);

#endif
