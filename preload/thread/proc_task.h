/* What the kernel knows of a thread of this process: /proc/self/task/TID. Any thread may ask, without libc. */
#ifndef PCT_PRELOAD_PROC_TASK_H
#define PCT_PRELOAD_PROC_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pct_task {
    char state;       /* R running, S asleep, D asleep and not to be woken, t stopped by a debugger, ... */
    uint64_t sleeps;  /* times that it gave up the CPU by itself */
    uint64_t blocked; /* the signals that it blocks: bit n-1 for signal n */
};

/* Where a thread sleeps in the kernel. */
enum { PCT_TASK_NO_CALL = -1 };
struct pct_task_call {
    long number; /* of the system call; PCT_TASK_NO_CALL: it touched memory that somebody provides (userfaultfd) */
    uintptr_t arguments[6];
    uintptr_t sp, pc;
};

/* folder: a descriptor of /proc/self/task, or of the root. text: room for what the kernel says, which is too much for
 * the stack of a signal handler. False: there is no such thread, or no /proc. */
enum { PCT_TASK_TEXT = 4096 };
bool pct_task_read(int folder, int32_t tid, struct pct_task *task, char text[PCT_TASK_TEXT]);

/* Only its state, and the flags of the kernel's that say what kind of a thread it is (PF_* of linux/sched.h). */
bool pct_task_read_flags(int folder, int32_t tid, char *state, uint64_t *flags);

/* Of one that has ended, what it gave the kernel; 0: nobody knows. */
int pct_task_status(int folder, int32_t tid);

/* False also if the thread does not sleep. The kernel looks at a thread that is off the CPU,
 * and says so if it was not for all that time. */
bool pct_task_read_call(int folder, int32_t tid, struct pct_task_call *call);

/* Whether only this process or a relative can end this call: the time of the family does not wait for the world's then.
 */
bool pct_task_call_is_kin(const struct pct_task_call *call);

/* Whether its policy is one of real time: then threads that have none get only what it leaves of its CPU. The second
 * asks by a system call that few sandboxes know; 0: for the caller. */
bool pct_task_is_real_time(int folder, int32_t tid);
bool pct_task_asked_is_real_time(int32_t tid);

/* The process ids of its children, of a thread of this process. Returns how many there are, or `most`. */
size_t pct_task_children(int32_t tid, int32_t *children, size_t most);

/* Nanoseconds of CPU time that it has used; 0 if nobody knows. */
uint64_t pct_task_cpu(int32_t tid);

#endif
