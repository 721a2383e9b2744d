/* Whether an instruction writes to memory, for who follows a thread from one to the next. */
#ifndef PCT_PRELOAD_WRITES_H
#define PCT_PRELOAD_WRITES_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

enum { PCT_WRITES_CODE = 15 }; /* bytes of an instruction at most */

/* Whether the one that is next, which begins with these bytes, may write to memory outside of [from, to). One that only
 * exchanges, as locks do in their loops, does not count: what it could change is a register, too. */
bool pct_writes_elsewhere(const unsigned char code[PCT_WRITES_CODE], const ucontext_t *context, uint64_t from,
                          uint64_t to);

#endif
