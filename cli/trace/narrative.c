/* What happened in a recorded run, in words: see narrative.h. */
#include "narrative.h"
#include <cli/base/cli.h>
#include "frames.h"
#include "schedule.h"
#include "variable.h"
#include <errno.h>
#include <pct/strategy.h>
#include <stdlib.h>
#include <string.h>

int pct_narrative_open(struct pct_narrative *narrative, const struct pct_trace *trace)
{
    *narrative = (struct pct_narrative){ .trace = trace, .number = pct_switches_number(trace) };
    if (!narrative->number || pct_snapshot_read(&narrative->snapshot, trace)) {
        free(narrative->number);
        return -ENOMEM;
    }
    pct_schedule_fill_holders(&narrative->snapshot, trace);
    narrative->unwinder = pct_unwind_open(&narrative->snapshot);
    return 0;
}

void pct_narrative_close(struct pct_narrative *narrative)
{
    pct_unwind_close(narrative->unwinder);
    pct_snapshot_free(&narrative->snapshot);
    free(narrative->number);
    *narrative = (struct pct_narrative){ 0 };
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

char *pct_narrative_stacks(const uint64_t *steps, size_t count)
{
    enum { MOST = 64 }; /* of PCT_SITES */
    uint64_t *sorted = malloc((count + 1) * sizeof *sorted);
    char *text = NULL;
    size_t size = 0, written = 0;
    FILE *out = sorted ? open_memstream(&text, &size) : NULL;
    if (out) {
        for (size_t i = 0; i < count; i++)
            sorted[i] = steps[i];
        qsort(sorted, count, sizeof *sorted, by_value);
        for (size_t i = 0; i < count && written < MOST; i++)
            if (sorted[i] < PCT_STEP_LATER && (!i || sorted[i] != sorted[i - 1]))
                fprintf(out, "%s%llu", written++ ? "," : "", (unsigned long long)sorted[i] + 1);
        if (!written)
            fputs("on", out);
        fclose(out);
    }
    free(sorted);
    return text;
}

uint64_t pct_narrative_find(const struct pct_narrative *narrative, uint32_t thread, uint32_t number)
{
    const struct pct_trace *trace = narrative->trace;
    uint64_t i = 0;
    while (i < trace->count &&
           (PCT_RECORD_THREAD(trace->records[i]) != thread || narrative->number[i] != number || !number))
        i++;
    return i;
}

/* Whether this operation, if it succeeds, gives its thread an object that others then wait for. */
static bool locks(unsigned op)
{
    return op == PCT_OP_MUTEX_LOCK || op == PCT_OP_MUTEX_TRYLOCK || op == PCT_OP_SPIN_LOCK ||
           op == PCT_OP_SPIN_TRYLOCK || (op >= PCT_OP_RWLOCK_RDLOCK && op <= PCT_OP_RWLOCK_TRYWRLOCK);
}

uint64_t pct_narrative_find_lock(const struct pct_narrative *narrative, uint32_t thread,
                                 const struct pct_snap_thread *waiter)
{
    const struct pct_trace *trace = narrative->trace;
    bool lock = pct_snapshot_wait_class(&narrative->snapshot, waiter) != PCT_CLASS_THREAD;
    for (uint64_t i = trace->count; lock && i-- > 0;) {
        uint64_t record = trace->records[i];
        if (PCT_RECORD_THREAD(record) == thread && PCT_RECORD_OBJECT(record) == waiter->object &&
            locks(PCT_RECORD_OP(record)) && PCT_RECORD_ARG(record) != PCT_ARG_BUSY)
            return i;
    }
    return trace->count;
}

struct pct_event pct_narrative_event(const struct pct_narrative *narrative, uint64_t step)
{
    uint64_t record = narrative->trace->records[step];
    return (struct pct_event){ .thread = PCT_RECORD_THREAD(record),
                               .number = narrative->number[step],
                               .op = PCT_RECORD_OP(record),
                               .object = PCT_RECORD_OBJECT(record),
                               .step = step };
}

/* The file's own name: directories say little on one line. */
static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void format_frame(char *buffer, size_t size, const struct pct_frame *frame)
{
    if (frame->file[0])
        snprintf(buffer, size, "%s:%d%s%s%s", base(frame->file), frame->line, frame->function[0] ? " (" : "",
                 frame->function, frame->function[0] ? ")" : "");
    else if (frame->function[0])
        snprintf(buffer, size, "%s in %s", frame->function, frame->module);
    else if (frame->module[0])
        snprintf(buffer, size, "%s+0x%llx", frame->module, (unsigned long long)frame->offset);
    else
        snprintf(buffer, size, "%s", "");
}

/* The stack before this operation, if it was kept. */
static bool find_stack(const struct pct_narrative *narrative, const struct pct_event *event, struct pct_stack *stack)
{
    const struct pct_snapshot *snapshot = &narrative->snapshot;
    stack->count = 0;
    if (event->step == PCT_STEP_LATER && narrative->later) {
        struct pct_event there = *event;
        there.step = pct_narrative_find(narrative->later, event->thread, event->number);
        return there.step < narrative->later->trace->count && find_stack(narrative->later, &there, stack);
    }
    if (!narrative->unwinder)
        return false;
    if (event->step == PCT_STEP_PENDING) {
        const struct pct_snap_thread *thread = pct_snapshot_thread(snapshot, event->thread);
        if (thread)
            pct_unwind_thread(narrative->unwinder, (size_t)(thread - snapshot->threads), stack);
        return stack->count;
    }
    for (size_t i = 0; i < snapshot->stop_count; i++)
        if (snapshot->stops[i].step == event->step + 1) {
            pct_unwind_stop(narrative->unwinder, i, stack);
            return stack->count;
        }
    const struct pct_site *site = pct_snapshot_site(snapshot, event->step);
    if (site && site->call)
        pct_unwind_place(narrative->unwinder, site->call, event->op != PCT_OP_THREAD_START, stack);
    return stack->count;
}

const char *pct_narrative_place(const struct pct_narrative *narrative, char *buffer, size_t size,
                                const struct pct_event *event)
{
    static struct pct_stack stack;
    *buffer = 0;
    if (!find_stack(narrative, event, &stack))
        return buffer;
    /* Code of libraries, and helpers in headers, are passed over if there is a place above them that is more the
     * program's own. */
    format_frame(buffer, size, pct_frame_best(&stack));
    return buffer;
}

bool pct_narrative_stack(const struct pct_narrative *narrative, const struct pct_event *event, struct pct_stack *stack)
{
    stack->count = 0;
    bool found = find_stack(narrative, event, stack);
    /* What libraries do says little beside the program's own code. */
    bool own = pct_frame_best(stack) && pct_frame_rank(pct_frame_best(stack)) >= PCT_FRAME_HEADER;
    enum pct_frame_rank least = own && !pct_frames_all ? PCT_FRAME_HEADER : PCT_FRAME_NO_LINE;
    size_t kept = 0;
    for (size_t i = 0; i < stack->count; i++)
        if (pct_frame_rank(&stack->frames[i]) >= least)
            stack->frames[kept++] = stack->frames[i];
    stack->count = kept;
    return found;
}

void pct_narrative_print_stack(const struct pct_narrative *narrative, FILE *out, const struct pct_event *event,
                               const char *margin, unsigned most)
{
    static struct pct_stack stack;
    char text[512];
    if (!pct_narrative_stack(narrative, event, &stack) && event->op != PCT_OP_EXIT)
        fprintf(out, "%s(its place is not known)\n", margin);
    for (size_t i = 0; i < stack.count; i++) {
        if (i == most) {
            fprintf(out, "%s...\n", margin);
            break;
        }
        format_frame(text, sizeof text, &stack.frames[i]);
        fputs(margin, out);
        pct_cli_print_clean(out, text, sizeof text);
        fputc('\n', out);
    }
}

static bool is_descriptor(unsigned op)
{
    return pct_name_op_class(op) == PCT_CLASS_FD;
}

const char *pct_narrative_object(const struct pct_narrative *narrative, char *buffer, size_t size,
                                 const struct pct_event *event)
{
    const struct pct_trace *trace = narrative->trace;
    unsigned class_ = pct_name_op_class(event->op);
    char name[256], place[300];
    uint64_t first = trace->count;
    *buffer = 0;
    if (!event->object || class_ == PCT_CLASS_THREAD || class_ == PCT_CLASS_NONE || class_ == PCT_CLASS_FD ||
        !narrative->unwinder)
        return buffer;
    const char *point = class_ == PCT_CLASS_POINT ? pct_snapshot_point(&narrative->snapshot, event->object) : NULL;
    if (point) {
        snprintf(buffer, size, "`%s`", point);
        return buffer;
    }
    for (uint64_t i = 0; i < trace->count; i++) {
        unsigned op = PCT_RECORD_OP(trace->records[i]), other = pct_name_op_class(op);
        if (PCT_RECORD_OBJECT(trace->records[i]) != event->object || is_descriptor(op) || other == PCT_CLASS_THREAD ||
            other == PCT_CLASS_NONE)
            continue;
        first = first == trace->count ? i : first;
        const struct pct_site *site = pct_snapshot_site(&narrative->snapshot, i);
        if (site && pct_variable_name(narrative->unwinder, site->object, name, sizeof name)) {
            snprintf(buffer, size, "`%s`", name);
            return buffer;
        }
    }
    const struct pct_snap_object *object = pct_snapshot_object(&narrative->snapshot, event->object);
    if (object && pct_variable_name(narrative->unwinder, object->address, name, sizeof name)) {
        snprintf(buffer, size, "`%s`", name);
    } else if (first < trace->count) {
        struct pct_event use = pct_narrative_event(narrative, first);
        if (*pct_narrative_place(narrative, place, sizeof place, &use))
            snprintf(buffer, size, "first used at %s", place);
    }
    return buffer;
}

const char *pct_narrative_operation(const struct pct_narrative *narrative, char *buffer, size_t size,
                                    const struct pct_event *event)
{
    char name[600];
    unsigned argument =
        event->step < narrative->trace->count ? PCT_RECORD_ARG(narrative->trace->records[event->step]) : 0;
    pct_schedule_format(buffer, size, event->op, argument, event->object);
    pct_narrative_object(narrative, name, sizeof name, event);
    size_t length = strlen(buffer);
    if (name[0] == '`')
        snprintf(buffer + length, size - length, " %s", name);
    return buffer;
}
