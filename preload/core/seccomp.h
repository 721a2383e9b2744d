/* What a sandbox that the program has entered leaves the shim to ask: see seccomp.c. */
#ifndef PCT_PRELOAD_SECCOMP_H
#define PCT_PRELOAD_SECCOMP_H

#include <stdbool.h>

enum pct_question {
    PCT_QUESTION_READY, /* whether an operation on a descriptor would block */
    PCT_QUESTION_CHILD, /* whether there is a child to wait for */
    PCT_QUESTIONS
};

/* A filter of system calls is in force from now on. */
void pct_seccomp_entered(void);
/* Whether it keeps the kernel from answering. */
bool pct_seccomp_refuses(enum pct_question question);

/* Whether System V's shared memory may be asked for: not in a sandbox, nor where a filter that was there before the
 * program began kills for that. Before the family is founded or found, on the baton holder's turn or by the first
 * thread; makes a child to ask where there is a filter. */
bool pct_seccomp_may_share(void);

#endif
