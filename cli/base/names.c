/* Names for the numbers that stand in a trace, from the tables of <pct/trace.h>. Called by all that print a trace. */
#include "cli.h"
#include <stdio.h>

const char *pct_name_op(unsigned op)
{
    static const char *const names[] = {
#define NAME(id, name, class) name,
        PCT_OPS(NAME)
#undef NAME
    };
    return op < PCT_OP_COUNT ? names[op] : "?";
}

const char *pct_name_op_identifier(unsigned op)
{
    static const char *const names[] = {
#define NAME(id, name, class) #id,
        PCT_OPS(NAME)
#undef NAME
    };
    return op < PCT_OP_COUNT ? names[op] : "?";
}

unsigned pct_name_op_class(unsigned op)
{
    static const unsigned char classes[] = {
#define CLASS(id, name, class) PCT_CLASS_##class,
        PCT_OPS(CLASS)
#undef CLASS
    };
    return op < PCT_OP_COUNT ? classes[op] : PCT_CLASS_NONE;
}

const char *pct_name_class(unsigned class_)
{
    static const char *const names[] = {
#define NAME(id, name) name,
        PCT_CLASSES(NAME)
#undef NAME
    };
    return class_ < PCT_CLASS_COUNT ? names[class_] : "?";
}

const char *pct_name_verdict(unsigned verdict)
{
    static const char *const names[] = {
#define NAME(id, name) name,
        PCT_VERDICTS(NAME)
#undef NAME
    };
    return verdict < sizeof names / sizeof *names ? names[verdict] : "?";
}

const char *pct_name_uncontrolled(unsigned kind)
{
    static const char *const names[] = {
#define NAME(id, text) text,
        PCT_UNCONTROLLED(NAME) // NOLINT(bugprone-suspicious-missing-comma): long texts stand on two lines
#undef NAME
    };
    return kind < PCT_UNCONTROLLED_COUNT ? names[kind] : "?";
}

#define INLINE_ONE                                                                                                     \
    "wait or wake by a futex of the program's own: taking such a lock while it is free is no scheduling point "        \
    "without --memory=atomics"
#define UNSEEN_ONE                                                                                                     \
    "run in which races were not looked for, as nothing tells of memory accesses: build the program with pct-cc, or "  \
    "say --memory=globals"

const char *pct_name_uncontrolled_of(unsigned kind, uint64_t count)
{
    static const char *const one[PCT_UNCONTROLLED_COUNT] = {
        [PCT_UNCONTROLLED_FOREIGN] = "operation by a thread that pct did not see start",
        [PCT_UNCONTROLLED_PSHARED] = "operation on a process-shared object",
        [PCT_UNCONTROLLED_OUTSIDE] = "wait that was left to the outside world",
        [PCT_UNCONTROLLED_FUTEX] = "raw futex operation that is not modelled",
        [PCT_UNCONTROLLED_CHILD] = "child process",
        [PCT_UNCONTROLLED_HANDLER] = "operation in a signal handler out of turn",
        [PCT_UNCONTROLLED_EXIT] = "thread whose end the kernel did not confirm in time",
        [PCT_UNCONTROLLED_SLEPT] = "sleep in a call that pct does not intercept: other threads went on",
        [PCT_UNCONTROLLED_SPUN] = "spin on plain memory, without a call: other threads, or a timer, went first",
        [PCT_UNCONTROLLED_RAN] = "long run without a call, ended by real time: other threads, or a timer, went first",
        [PCT_UNCONTROLLED_SIGNAL] = "signal that came from outside, or to the process group",
        [PCT_UNCONTROLLED_PARENT] = "signal to the pct that started the run: not delivered",
        [PCT_UNCONTROLLED_SITE] = "instruction that accesses memory and could not be patched",
        [PCT_UNCONTROLLED_MODULE] = "module of which nothing could be patched",
        [PCT_UNCONTROLLED_WATCH] =
            "access to a watched variable, in a signal handler or the like, that was no scheduling point",
        [PCT_UNCONTROLLED_STRICT] = "thread in strict seccomp mode (read and write only): it ran outside the schedule",
        [PCT_UNCONTROLLED_HELD] = "end of the process, which others held up for 20,000 steps: it ended before them",
        [PCT_UNCONTROLLED_INLINE] = INLINE_ONE, // NOLINT(bugprone-suspicious-missing-comma): as above
        [PCT_UNCONTROLLED_UNSEEN] = UNSEEN_ONE,
        [PCT_UNCONTROLLED_APART] =
            "library loaded apart (dlmopen), with a libc of its own: what it does by that, pct does not see",
        [PCT_UNCONTROLLED_PRIORITY] = "thread with a real-time priority (SCHED_FIFO, SCHED_RR)",
        [PCT_UNCONTROLLED_COMPUTED] = "read of a clock behind long computing: it shows the CPU time that it took",
    };
    return count == 1 && kind < PCT_UNCONTROLLED_COUNT ? one[kind] : pct_name_uncontrolled(kind);
}

char *pct_name_uncontrolled_count(unsigned kind, uint64_t count)
{
    char *text = NULL;
    const char *name = pct_name_uncontrolled_of(kind, count);
    return asprintf(&text, "%llu %s", (unsigned long long)count, name) < 0 ? NULL : text;
}

bool pct_name_is_blind(unsigned kind)
{
    return kind == PCT_UNCONTROLLED_SITE || kind == PCT_UNCONTROLLED_MODULE || pct_name_is_aside(kind);
}

bool pct_name_is_aside(unsigned kind)
{
    return kind == PCT_UNCONTROLLED_UNSEEN || kind == PCT_UNCONTROLLED_PRIORITY;
}
