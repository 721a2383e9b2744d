/* Processes as the kernel tells of them in /proc: which descend from one, and what they do. */
#ifndef PCT_CLI_DESCENDANTS_H
#define PCT_CLI_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Zero: none. Whoever fills it frees `pid`. */
struct pct_pids {
    pid_t *pid;
    size_t count, room;
};

/* The numbers in the file of this path, which may be long. Without memory: as many as there is room for. */
void pct_pids_add_from(struct pct_pids *all, const char *path);

/* The children of all threads of this process. */
void pct_pids_add_children(struct pct_pids *all, pid_t pid);

/* These, theirs, and so on; `all` is empty. */
void pct_pids_add_descendants(struct pct_pids *all, pid_t first);

/* The state of a process as the kernel has it ('R', 'S', 'T', 'Z', ...), and its parent. Returns 0 if there is none, or
 * no /proc. */
char pct_process_state(pid_t pid, pid_t *parent);

/* The sum of what this function says of the process and of each of its descendants. */
double pct_descendants_sum(pid_t first, double (*of)(pid_t pid));

/* The seconds of a CPU that this process and its descendants have used. */
double pct_descendants_cpu(pid_t first);

/* Whether a thread of these computes at this moment, or waits for nothing but a CPU or a disk. */
bool pct_descendants_busy(pid_t first);

/* What the descendants of a run's first process do now that its time is over, with the stacks of their threads, of at
 * most `size` bytes in all, ended by 0; "": it has none. size: more than PCT_DESCENDANTS_LAST_LINE, which the last line
 * has for itself: how many have no room. The first process itself says where its threads are, in its last report. */
enum { PCT_DESCENDANTS_LAST_LINE = 64 };
void pct_descendants_describe(char *text, size_t size, pid_t first);

#endif
