/* What a program forbids itself: sandbox.c. */
#ifndef PCT_PRELOAD_SANDBOX_H
#define PCT_PRELOAD_SANDBOX_H

#include <stdbool.h>

/* SECCOMP_MODE_STRICT is about to be entered by the calling thread, and by it alone: only read, write, _exit and the
 * return from a handler will be left to it. It leaves the schedule. False: the kernel will refuse. */
bool pct_sandbox_strict(void);
/* A filter of system calls is about to be set, by this program (struct sock_fprog). It may be a bad pointer, and the
 * kernel may refuse. */
void pct_sandbox_filter(const void *program);

#endif
