/* The threads of a snapshot in a report: see stacks.h. */
#include "stacks.h"
#include <cli/base/cli.h>
#include "frames.h"
#include "schedule.h"
#include "variable.h"
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { PCT_STACKS_GROUP = 20 /* more threads than this are grouped by their stacks */ };

/* " `queue.lock`", or nothing. */
static void print_name(FILE *out, const struct pct_snapshot *snapshot, uint32_t number, struct pct_unwinder *unwinder)
{
    char name[400];
    const struct pct_snap_object *object = pct_snapshot_object(snapshot, number);
    if (!object || !pct_variable_name(unwinder, object->address, name, sizeof name))
        return;
    fputs(" `", out);
    pct_cli_print_clean(out, name, sizeof name);
    fputc('`', out);
}

void pct_stacks_print_wait(FILE *out, const struct pct_snapshot *snapshot, const struct pct_snap_thread *thread,
                           struct pct_unwinder *unwinder)
{
    unsigned class_ = pct_snapshot_wait_class(snapshot, thread);
    uint32_t holder = pct_snapshot_waits_for(snapshot, thread);
    if (class_ == PCT_CLASS_THREAD)
        fprintf(out, "waits for the end of thread %u", thread->object);
    else if (class_ == PCT_CLASS_NONE)
        fprintf(out, "waits (%s)", pct_name_op(thread->op));
    else {
        fprintf(out, "waits for %s %u", pct_name_class(class_), thread->object);
        print_name(out, snapshot, thread->object, unwinder);
        fprintf(out, " (%s)", pct_name_op(thread->op));
    }
    if (class_ == PCT_CLASS_THREAD || holder == PCT_NO_THREAD)
        return;
    const struct pct_snap_thread *who = pct_snapshot_thread(snapshot, holder);
    fprintf(out, ", held by %s %u%s", holder == thread->id ? "itself, thread" : "thread", holder,
            who && who->state == PCT_SNAP_FINISHED ? ", which has finished" : "");
}

static void print_frame(FILE *out, size_t number, const struct pct_frame *frame)
{
    fprintf(out, "    #%-2zu ", number);
    if (frame->function[0])
        pct_cli_print_clean(out, frame->function, sizeof frame->function);
    else if (!frame->module[0])
        fprintf(out, "0x%llx", (unsigned long long)frame->pc);
    if (frame->file[0]) {
        fputs(frame->function[0] ? "  at " : "at ", out);
        pct_cli_print_clean(out, frame->file, sizeof frame->file);
        fprintf(out, ":%d", frame->line);
    } else if (frame->module[0]) {
        fputs(frame->function[0] ? "  in " : "in ", out);
        pct_cli_print_clean(out, frame->module, sizeof frame->module);
        fprintf(out, "+0x%llx", (unsigned long long)frame->offset);
    }
    fputc('\n', out);
}

static bool is_library(const struct pct_frame *frame)
{
    return pct_frame_is_library(frame->function, frame->file, frame->module);
}

size_t pct_stacks_print_frames(FILE *out, const struct pct_stack *stack)
{
    size_t left_out = 0;
    bool own = false;
    for (size_t i = 0; i < stack->count; i++)
        own = own || !is_library(&stack->frames[i]);
    for (size_t i = 0; i < stack->count; i++) {
        bool shown = !own || pct_frames_all || !is_library(&stack->frames[i]);
        left_out += !shown;
        if (shown)
            print_frame(out, i, &stack->frames[i]);
    }
    if (stack->cut)
        fputs("    ...\n", out);
    return left_out;
}

/* Returns how many frames were left out. */
static size_t print_stack(FILE *out, struct pct_unwinder *unwinder, size_t index, const struct pct_snap_thread *thread)
{
    static struct pct_stack stack; /* large, and there is one thread here */
    if (!unwinder)
        return 0;
    pct_unwind_thread(unwinder, index, &stack);
    /* One that has not begun has none. Who runs may have called nothing. */
    if (thread->state != PCT_SNAP_RUNNING && stack.count && !stack.frames[0].pc)
        return 0;
    if (!stack.count)
        fputs("    (its stack cannot be unwound)\n", out);
    return pct_stacks_print_frames(out, &stack);
}

bool pct_stacks_is_joining(const struct pct_snapshot *snapshot, const struct pct_snap_thread *thread)
{
    return thread->state == PCT_SNAP_BLOCKED && pct_snapshot_wait_class(snapshot, thread) == PCT_CLASS_THREAD;
}

void pct_stacks_print_place(FILE *out, struct pct_unwinder *unwinder, size_t index)
{
    static struct pct_stack stack;
    if (!unwinder)
        return;
    pct_unwind_thread(unwinder, index, &stack);
    const struct pct_frame *frame = pct_frame_best(&stack);
    if (frame && frame->file[0]) {
        fputs(", at ", out);
        pct_cli_print_clean(out, frame->file, sizeof frame->file);
        fprintf(out, ":%d", frame->line);
    } else if (frame && frame->function[0]) {
        fputs(", in ", out);
        pct_cli_print_clean(out, frame->function, sizeof frame->function);
    }
}

static void print_state(FILE *out, const struct pct_snapshot *snapshot, const struct pct_snap_thread *thread,
                        struct pct_unwinder *unwinder)
{
    char text[96];
    pct_schedule_format_next(text, sizeof text, thread->op, thread->object);
    switch (thread->state) {
    case PCT_SNAP_RUNNING:
        fputs("running", out);
        break;
    case PCT_SNAP_ENABLED:
        fprintf(out, "could go on%s%s", thread->op ? " with: " : "", thread->op ? text : "");
        break;
    case PCT_SNAP_BLOCKED:
        pct_stacks_print_wait(out, snapshot, thread, unwinder);
        break;
    case PCT_SNAP_FINISHED:
        fputs("has finished", out);
        break;
    case PCT_SNAP_OUTSIDE:
        fprintf(out, "waits for the outside world%s%s%s", thread->op ? " (" : "", thread->op ? text : "",
                thread->op ? ")" : "");
        break;
    default:
        fputs("in an unknown state", out);
    }
    if (thread->deadline != UINT64_MAX && thread->state != PCT_SNAP_RUNNING && thread->state != PCT_SNAP_FINISHED)
        fprintf(out, ", at most until virtual time %.6f s", (double)thread->deadline / 1e9);
}

static bool destroys(unsigned op)
{
    return op == PCT_OP_MUTEX_DESTROY || op == PCT_OP_COND_DESTROY || op == PCT_OP_RWLOCK_DESTROY ||
           op == PCT_OP_BARRIER_DESTROY || op == PCT_OP_SPIN_DESTROY || op == PCT_OP_SEM_DESTROY;
}

/* What it waits for was destroyed while threads were about to use it: who did that, and when. An object that is
 * initialised again has another number. Returns whether it was so. */
static bool print_destroyed(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot,
                            const struct pct_snap_thread *thread)
{
    unsigned class_ = pct_snapshot_wait_class(snapshot, thread);
    for (uint64_t i = thread->state == PCT_SNAP_BLOCKED && thread->object ? trace->count : 0; i-- > 0;) {
        uint64_t record = trace->records[i];
        unsigned op = PCT_RECORD_OP(record);
        if (!destroys(op) || PCT_RECORD_ARG(record) == PCT_ARG_ERROR || pct_name_op_class(op) != class_ ||
            PCT_RECORD_OBJECT(record) != thread->object)
            continue;
        fprintf(out, ", which thread %u destroyed in step %llu", PCT_RECORD_THREAD(record),
                (unsigned long long)(trace->first + i + 1));
        return true;
    }
    return false;
}

/* As in a child process whose parent held it at the fork. */
static bool is_held_by_nobody(const struct pct_snapshot *snapshot, const struct pct_snap_thread *thread)
{
    return thread->state == PCT_SNAP_BLOCKED && pct_snapshot_wait_class(snapshot, thread) == PCT_CLASS_MUTEX &&
           pct_snapshot_waits_for(snapshot, thread) == PCT_NO_THREAD;
}

static size_t print_thread(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot,
                           struct pct_unwinder *unwinder, size_t index)
{
    const struct pct_snap_thread *thread = &snapshot->threads[index];
    fprintf(out, "thread %u", thread->id);
    if (thread->name[0]) {
        fputs(" \"", out);
        pct_cli_print_clean(out, thread->name, sizeof thread->name);
        fputc('"', out);
    }
    fputs(trace->header.culprit == thread->id ? " (here it happened) " : " ", out);
    print_state(out, snapshot, thread, unwinder);
    if (!print_destroyed(out, trace, snapshot, thread) && is_held_by_nobody(snapshot, thread))
        fputs(", held by none of these threads", out);
    fputs(":\n", out);
    return print_stack(out, unwinder, index, thread);
}

/* Threads with the same state, pending operation and stack. */
struct group {
    uint64_t hash;
    size_t first; /* index of its first thread */
    size_t count;
    char *stack;
};

static void print_group(FILE *out, const struct pct_snapshot *snapshot, const struct group *group,
                        const size_t *group_of, size_t which)
{
    const struct pct_snap_thread *first = &snapshot->threads[group->first];
    enum { MOST = 12 };
    size_t shown = 0;
    fprintf(out, "%zu threads (", group->count);
    for (size_t i = 0; i < snapshot->thread_count && shown < MOST; i++)
        if (group_of[i] == which)
            fprintf(out, "%s%u", shown++ ? ", " : "", snapshot->threads[i].id);
    fprintf(out, "%s), all %s%s%s:\n%s", group->count > MOST ? ", ..." : "",
            first->state == PCT_SNAP_BLOCKED   ? "blocked"
            : first->state == PCT_SNAP_OUTSIDE ? "waiting for the outside world"
                                               : "able to go on",
            first->op ? ", before: " : "", first->op ? pct_name_op(first->op) : "", group->stack);
}

/* Returns how many frames were left out. */
static size_t print_grouped(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot,
                            struct pct_unwinder *unwinder)
{
    struct group *groups = calloc(snapshot->thread_count, sizeof *groups);
    size_t *group_of = calloc(snapshot->thread_count, sizeof *group_of);
    size_t count = 0, left_out = 0;
    for (size_t i = 0; groups && group_of && i < snapshot->thread_count; i++) {
        const struct pct_snap_thread *thread = &snapshot->threads[i];
        group_of[i] = SIZE_MAX;
        if (thread->state == PCT_SNAP_FINISHED)
            continue;
        char *text = NULL;
        size_t size = 0;
        FILE *memory = open_memstream(&text, &size);
        if (!memory)
            break;
        left_out += print_stack(memory, unwinder, i, thread);
        fclose(memory);
        /* The thread to blame, and the one that ran, stand alone. */
        bool alone = thread->id == trace->header.culprit || thread->state == PCT_SNAP_RUNNING;
        uint64_t kind = alone ? ~(uint64_t)thread->id : (uint64_t)thread->state << 32 | thread->op;
        uint64_t hash = XXH3_64bits_withSeed(text, size, kind);
        size_t which = 0;
        while (which < count && groups[which].hash != hash)
            which++;
        if (which == count)
            groups[count++] = (struct group){ .hash = hash, .first = i, .stack = text };
        else
            free(text);
        groups[which].count++;
        group_of[i] = which;
    }
    for (size_t i = 0; i < 2 * count; i++) {
        bool joins = i >= count;
        size_t which = joins ? i - count : i;
        const struct group *group = &groups[which];
        if (pct_stacks_is_joining(snapshot, &snapshot->threads[group->first]) != joins)
            continue;
        if (group->count > 1)
            print_group(out, snapshot, group, group_of, which);
        else
            print_thread(out, trace, snapshot, unwinder, group->first);
    }
    for (size_t i = 0; i < count; i++)
        free(groups[i].stack);
    free(groups);
    free(group_of);
    return left_out;
}

void pct_stacks_print_objects(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot,
                              struct pct_unwinder *unwinder, uint64_t from)
{
    enum { MOST = 16 };
    uint32_t seen[MOST];
    size_t count = 0;
    char name[400];
    for (uint64_t i = from; i < trace->count && count < MOST; i++) {
        unsigned class_ = pct_name_op_class(PCT_RECORD_OP(trace->records[i]));
        uint32_t number = PCT_RECORD_OBJECT(trace->records[i]);
        bool told = class_ == PCT_CLASS_NONE || class_ == PCT_CLASS_THREAD || class_ == PCT_CLASS_FD ||
                    class_ == PCT_CLASS_POINT || !number;
        for (size_t j = 0; j < count && !told; j++)
            told = seen[j] == number;
        const struct pct_snap_object *object = told ? NULL : pct_snapshot_object(snapshot, number);
        if (!object || !pct_variable_name(unwinder, object->address, name, sizeof name))
            continue;
        fprintf(out, "%s%s %u", count ? "; " : "objects: ", pct_name_class(class_), number);
        print_name(out, snapshot, number, unwinder);
        seen[count++] = number;
    }
    if (count)
        fputc('\n', out);
}

void pct_stacks_print(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot,
                      struct pct_unwinder *unwinder)
{
    size_t finished = 0, count = snapshot->thread_count, left_out = 0;
    for (size_t i = 0; i < count; i++)
        finished += snapshot->threads[i].state == PCT_SNAP_FINISHED;
    if (!unwinder)
        fputs("(no stacks: the trace has no memory map that can be read)\n", out);
    if (count - finished > PCT_STACKS_GROUP)
        left_out = print_grouped(out, trace, snapshot, unwinder);
    else
        for (size_t i = 0; i < 2 * count; i++) {
            bool joins = i >= count;
            size_t index = joins ? i - count : i;
            const struct pct_snap_thread *thread = &snapshot->threads[index];
            if (thread->state != PCT_SNAP_FINISHED && pct_stacks_is_joining(snapshot, thread) == joins)
                left_out += print_thread(out, trace, snapshot, unwinder, index);
        }
    if (left_out)
        fputs("(without frames of libraries: --all-frames shows them)\n", out);
    size_t shown = count - finished;
    /* The shim leaves out threads that have finished, and of very many those that came last. */
    size_t more = trace->header.threads > shown ? trace->header.threads - shown : 0;
    if (more == 1)
        fputs("1 more thread had finished, or is not in the trace\n", out);
    else if (more)
        fprintf(out, "%zu more threads had finished, or are not in the trace\n", more);
}
