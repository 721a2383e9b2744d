/* The threads of a snapshot in a report: see stacks.h. */
#include "stacks.h"
#include <cli/base/cli.h>
#include "schedule.h"
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { PCT_STACKS_GROUP = 20 /* more threads than this are grouped by their stacks */ };

void pct_stacks_print_wait(FILE *out, const struct pct_snapshot *snapshot, const struct pct_snap_thread *thread)
{
    unsigned class_ = pct_snapshot_wait_class(snapshot, thread);
    uint32_t holder = pct_snapshot_waits_for(snapshot, thread);
    if (class_ == PCT_CLASS_THREAD)
        fprintf(out, "waits for the end of thread %u", thread->object);
    else if (class_ == PCT_CLASS_NONE)
        fprintf(out, "waits (%s)", pct_name_op(thread->op));
    else
        fprintf(out, "waits for %s %u (%s)", pct_name_class(class_), thread->object, pct_name_op(thread->op));
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

void pct_stacks_print_frames(FILE *out, const struct pct_stack *stack)
{
    for (size_t i = 0; i < stack->count; i++)
        print_frame(out, i, &stack->frames[i]);
    if (stack->cut)
        fputs("    ...\n", out);
}

static void print_stack(FILE *out, struct pct_unwinder *unwinder, size_t index)
{
    static struct pct_stack stack; /* large, and there is one thread here */
    if (!unwinder)
        return;
    pct_unwind_thread(unwinder, index, &stack);
    pct_stacks_print_frames(out, &stack);
    if (!stack.count)
        fputs("    (its stack cannot be unwound)\n", out);
}

void pct_stacks_print_place(FILE *out, struct pct_unwinder *unwinder, size_t index)
{
    static struct pct_stack stack;
    if (!unwinder)
        return;
    pct_unwind_thread(unwinder, index, &stack);
    /* The first place that has a line is the target's own code in all but the barest builds. */
    for (size_t i = 0; i < stack.count; i++) {
        const struct pct_frame *frame = &stack.frames[i];
        if (!frame->file[0])
            continue;
        fputs(", at ", out);
        pct_cli_print_clean(out, frame->file, sizeof frame->file);
        fprintf(out, ":%d", frame->line);
        return;
    }
    if (stack.count && stack.frames[0].function[0]) {
        fputs(", in ", out);
        pct_cli_print_clean(out, stack.frames[0].function, sizeof stack.frames[0].function);
    }
}

static void print_state(FILE *out, const struct pct_snapshot *snapshot, const struct pct_snap_thread *thread)
{
    char text[96];
    pct_schedule_format(text, sizeof text, thread->op, 0, thread->object);
    switch (thread->state) {
    case PCT_SNAP_RUNNING:
        fputs("running", out);
        break;
    case PCT_SNAP_ENABLED:
        fprintf(out, "could go on%s%s", thread->op ? " with: " : "", thread->op ? text : "");
        break;
    case PCT_SNAP_BLOCKED:
        pct_stacks_print_wait(out, snapshot, thread);
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
 * initialised again has another number. */
static void print_destroyed(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot,
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
        return;
    }
}

static void print_thread(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot,
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
    print_state(out, snapshot, thread);
    print_destroyed(out, trace, snapshot, thread);
    fputs(":\n", out);
    print_stack(out, unwinder, index);
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

static void print_grouped(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot,
                          struct pct_unwinder *unwinder)
{
    struct group *groups = calloc(snapshot->thread_count, sizeof *groups);
    size_t *group_of = calloc(snapshot->thread_count, sizeof *group_of);
    size_t count = 0;
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
        print_stack(memory, unwinder, i);
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
    for (size_t i = 0; i < count; i++) {
        if (groups[i].count > 1)
            print_group(out, snapshot, &groups[i], group_of, i);
        else
            print_thread(out, trace, snapshot, unwinder, groups[i].first);
        free(groups[i].stack);
    }
    free(groups);
    free(group_of);
}

void pct_stacks_print(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot,
                      struct pct_unwinder *unwinder)
{
    size_t finished = 0;
    for (size_t i = 0; i < snapshot->thread_count; i++)
        finished += snapshot->threads[i].state == PCT_SNAP_FINISHED;
    if (!unwinder)
        fputs("(no stacks: the trace has no memory map that can be read)\n", out);
    if (snapshot->thread_count - finished > PCT_STACKS_GROUP)
        print_grouped(out, trace, snapshot, unwinder);
    else
        for (size_t i = 0; i < snapshot->thread_count; i++)
            if (snapshot->threads[i].state != PCT_SNAP_FINISHED)
                print_thread(out, trace, snapshot, unwinder, i);
    size_t shown = snapshot->thread_count - finished;
    /* The shim leaves out threads that have finished, and of very many those that came last. */
    if (trace->header.threads > shown)
        fprintf(out, "%zu more threads had finished, or are not in the trace\n", trace->header.threads - shown);
}
