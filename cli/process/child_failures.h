/* Child processes that failed. Each process of a run has a schedule of its own, of which only that of the first process
 * is recorded; but one that pct ends, or that crashes, leaves its last steps and its stacks beside the trace, in a file
 * with its process id behind the name (preload/run/end.c). */
#ifndef PCT_CLI_CHILD_FAILURES_H
#define PCT_CLI_CHILD_FAILURES_H

#include <cli/trace/trace_read.h>

/* Which children make a failing run, whatever their parents say: --children. Natively a deadlock would have hung the
 * program; a crash its parent may expect, as death tests do. */
enum pct_children { PCT_CHILDREN_STUCK, PCT_CHILDREN_ALL, PCT_CHILDREN_NONE };

/* Open what the first child that failed has left (the one with the lowest id). Returns how many there are. raced: 0;
 * where none failed, those that ended by themselves and had data races, the first of which is opened. */
unsigned pct_children_find(const char *trace_path, enum pct_children which, struct pct_trace *trace, unsigned *raced);

/* Call visit with the path and the process id of each file that a child has left: also of those that ended by
 * themselves, in a run with PCT_SITES=family or under a script. */
void pct_children_visit(const char *trace_path, void (*visit)(const char *path, long pid, void *data), void *data);

/* Remove what the children left. */
void pct_children_remove(const char *trace_path);

#endif
