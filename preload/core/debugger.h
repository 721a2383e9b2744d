/* What a debugger finds in a process that runs under libpct.so: where the scheduler's state is, and a place for its
 * breakpoint. cli/command/debug/ is the other side (`pct replay --gdb`, `--lldb`). All four symbols are exported, so
 * that a stripped library serves, too.
 *
 * A debugger sets a breakpoint on pct_debugger_stop(). Before the process runs, or at a breakpoint on
 * pct_debugger_begin(), it writes stop_at and input; while it is stopped, wherever that is, it writes break_step and
 * break_other of struct pct_sched, and 0 into its `stop`, so that they are looked at with the next point. None of this
 * changes the schedule: nothing that a strategy sees depends on it. */
#ifndef PCT_PRELOAD_DEBUGGER_H
#define PCT_PRELOAD_DEBUGGER_H

#include "shim.h"

#define PCT_DEBUGGER_VERSION 3u

enum { PCT_DEBUGGER_INPUT = 4096 };

/* Why pct_debugger_stop() was called. */
enum { PCT_DEBUGGER_STEP = 1, PCT_DEBUGGER_END = 2 };

/* Offsets that the debugger needs, in the order of struct pct_debugger.offsets: X(struct, member). */
#define PCT_DEBUGGER_OFFSETS(X)                                                                                        \
    X(pct_sched, current)                                                                                              \
    X(pct_sched, record)                                                                                               \
    X(pct_sched, stop)                                                                                                 \
    X(pct_sched, objects.slots)                                                                                        \
    X(pct_sched, objects.shift)                                                                                        \
    X(pct_sched, block_step)                                                                                           \
    X(pct_sched, block)                                                                                                \
    X(pct_sched, host)                                                                                                 \
    X(pct_sched, threads)                                                                                              \
    X(pct_sched, break_step)                                                                                           \
    X(pct_sched, break_other)                                                                                          \
    X(pct_shim_thread, core.id)                                                                                        \
    X(pct_shim_thread, core.state)                                                                                     \
    X(pct_shim_thread, core.queued)                                                                                    \
    X(pct_shim_thread, core.wait.op)                                                                                   \
    X(pct_shim_thread, core.wait.object)                                                                               \
    X(pct_shim_thread, core.next)                                                                                      \
    X(pct_shim_thread, tid)                                                                                            \
    X(pct_object, address)                                                                                             \
    X(pct_object, number)                                                                                              \
    X(pct_object, first)                                                                                               \
    X(pct_object, holder)                                                                                              \
    X(pct_object, class_)

enum {
#define PCT_DEBUGGER_COUNT_ONE(type, member) +1
    PCT_DEBUGGER_OFFSET_COUNT = PCT_DEBUGGER_OFFSETS(PCT_DEBUGGER_COUNT_ONE)
#undef PCT_DEBUGGER_COUNT_ONE
};

struct pct_debugger {
    uint32_t version;
    uint32_t reason;               /* while pct_debugger_stop() is called; else 0 */
    uint32_t thread;               /* who called it; PCT_NO_THREAD: none of pct's */
    uint32_t verdict;              /* PCT_DEBUGGER_END: enum pct_verdict */
    uint64_t stop_at;              /* break_step of a run that begins; written by the debugger */
    struct pct_sched *sched;       /* set when a run begins, as is the next */
    struct pct_shim_thread *slots; /* by id */
    uint64_t slot_size;
    struct {
        uint64_t from, to, size;
    } copy; /* while pct_debugger_copy() is called; the debugger writes size 0 when it has copied that */
    uint32_t offsets[PCT_DEBUGGER_OFFSET_COUNT];
    char
        input[PCT_DEBUGGER_INPUT]; /* the file that the run reads as its standard input; empty: what the debugger has */
};
extern PCT_EXPORT struct pct_debugger pct_debugger;

/* Does nothing: the debugger's breakpoint is here. */
PCT_EXPORT void pct_debugger_stop(void);

/* A run begins: stop_at is read here. */
PCT_EXPORT void pct_debugger_begin(void);

/* Does nothing: the debugger copies as pct_debugger.copy says, without stopping. */
PCT_EXPORT void pct_debugger_copy(void);

/* Let the debugger copy code, or overwrite it, whatever its protection. Its breakpoints stand in code as instructions,
 * and where one was it writes back what it has found there: only it knows the code without them. False: there is none
 * that does. */
bool pct_debugger_copies(void *to, const void *from, size_t size);
/* The same; without such a debugger, it is only copied. */
void pct_debugger_copy_code(void *to, const void *from, size_t size);
/* Whether code is the same as this, but for such breakpoints; within a page. */
bool pct_debugger_code_is(const void *code, const void *copy, size_t size);

/* For the scheduler: the thread is about to make the step at which the debugger wants to look. */
void pct_debugger_pause(struct pct_thread *thread);

/* The run is about to be ended with this verdict. */
void pct_debugger_end(enum pct_verdict verdict);

#endif
