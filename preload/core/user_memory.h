/* The target's memory, where natively the kernel would read or write it: a bad pointer there is EFAULT, not a crash.
 *
 * Asked of the kernel before the access, by system calls that do nothing else and that every sandbox with threads
 * allows; a handler of SIGSEGV that knows the places of such accesses would not do, as the target may block that
 * signal. What stands on the page of the stack that the caller is on needs no question: mostly it does. What libc
 * itself reads natively (a mutex, a stream, a timeout of select()) is no matter of these functions: there a bad pointer
 * is a crash natively, too. */
#ifndef PCT_PRELOAD_USER_MEMORY_H
#define PCT_PRELOAD_USER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/* Whether all of it can be read. A wrapper to which it says no leaves the call to the kernel, which knows which error
 * comes first. Leaves errno alone, like the others. */
bool pct_user_readable(const void *from, size_t size);

/* The same for what may stand on the same page as something that can be read. */
bool pct_user_readable_beside(const void *from, size_t size, const void *readable);

/* Read it. False: it cannot be read. */
bool pct_user_copy_in(void *to, const void *from, size_t size);

/* Write it; 4 bytes, or 8 or more. False: it cannot be written, and some of it may have been overwritten. */
bool pct_user_copy_out(void *to, const void *from, size_t size);

/* Pieces of memory into one; what is not there ends it, and is no fault. Returns how many bytes there were; negative:
 * none, or nobody may look. Any thread. */
long pct_user_copy_pieces(const struct iovec *to, const struct iovec *from, long pieces);

#endif
