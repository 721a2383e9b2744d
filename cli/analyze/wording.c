/* What operations are called in a script: see wording.h. */
#include "wording.h"
#include <cli/trace/frames.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What scripts call an operation; "": they have no word for it. */
static void word_of(unsigned op, char *word, size_t size)
{
    static const struct {
        const char *word;
        uint8_t first, last;
    } words[] = {
        { "starts", PCT_OP_THREAD_START, PCT_OP_THREAD_START },
        { "creates", PCT_OP_THREAD_CREATE, PCT_OP_THREAD_CREATE },
        { "joins", PCT_OP_THREAD_JOIN, PCT_OP_THREAD_TRYJOIN },
        { "locks", PCT_OP_MUTEX_LOCK, PCT_OP_MUTEX_TRYLOCK },
        { "unlocks", PCT_OP_MUTEX_UNLOCK, PCT_OP_MUTEX_UNLOCK },
        { "waits", PCT_OP_COND_WAIT, PCT_OP_COND_WAIT },
        { "signals", PCT_OP_COND_SIGNAL, PCT_OP_COND_BROADCAST },
        { "locks", PCT_OP_RWLOCK_RDLOCK, PCT_OP_RWLOCK_TRYWRLOCK },
        { "unlocks", PCT_OP_RWLOCK_UNLOCK, PCT_OP_RWLOCK_UNLOCK },
        { "waits", PCT_OP_BARRIER_ARRIVE, PCT_OP_BARRIER_ARRIVE },
        { "locks", PCT_OP_SPIN_LOCK, PCT_OP_SPIN_TRYLOCK },
        { "unlocks", PCT_OP_SPIN_UNLOCK, PCT_OP_SPIN_UNLOCK },
        { "waits", PCT_OP_SEM_WAIT, PCT_OP_SEM_WAIT },
        { "posts", PCT_OP_SEM_POST, PCT_OP_SEM_POST },
        { "waits", PCT_OP_FUTEX_WAIT, PCT_OP_FUTEX_WAIT },
        { "reads", PCT_OP_LOAD, PCT_OP_LOAD },
        { "writes", PCT_OP_STORE, PCT_OP_STORE },
        { "reads", PCT_OP_ATOMIC_LOAD, PCT_OP_ATOMIC_LOAD },
        { "writes", PCT_OP_ATOMIC_STORE, PCT_OP_ATOMIC_STORE },
        { "accesses", PCT_OP_ATOMIC_UPDATE, PCT_OP_ATOMIC_TRY },
        { "point", PCT_OP_POINT, PCT_OP_POINT },
    };
    *word = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (op >= words[i].first && op <= words[i].last) {
            snprintf(word, size, "%s", words[i].word);
            return;
        }
    if (op > PCT_OP_THREAD_FINISH)
        snprintf(word, size, "does \"%s\"", pct_name_op(op));
}

/* The variable that this operation is on, "": it has no name that a script could use. */
static void variable_of(const struct pct_narrative *n, const struct pct_event *event, char *name, size_t size)
{
    char text[600];
    size_t length = 0;
    *name = 0;
    if (*pct_narrative_object(n, text, sizeof text, event) != '`')
        return;
    while (isalnum((unsigned char)text[1 + length]) || (text[1 + length] && strchr("_.+[]", text[1 + length])))
        length++;
    if (length && length < size && text[1 + length] == '`')
        snprintf(name, size, "%.*s", (int)length, text + 1);
}

/* The name of a function as people write it, without its arguments; "": it has none, as a closure, or one with more in
 * it than namespaces. */
static void plain_name(const char *function, char *name, size_t size)
{
    size_t length = 0;
    while (isalnum((unsigned char)function[length]) || (function[length] && strchr("_:~", function[length])))
        length++;
    bool plain = (!function[length] || function[length] == '(') && length && length < size;
    plain = plain && (length < 8 || strncmp(function + length - 8, "operator", 8) != 0); /* operator(): a closure */
    snprintf(name, size, "%.*s", plain ? (int)length : 0, function);
}

/* The functions in whose code a step was made, from the innermost of those that were inlined into the last one on.
 * NULL: not known. */
static const struct pct_stack *find_place(const struct pct_narrative *n, uint64_t step, bool call)
{
    static struct pct_stack stack;
    const struct pct_site *site = step < n->trace->count ? pct_snapshot_site(&n->snapshot, step) : NULL;
    if (!site || !site->call || !n->unwinder)
        return NULL;
    pct_unwind_place(n->unwinder, site->call, call, &stack);
    return &stack;
}

/* What `from` calls a function: Rust's closures have names, too. */
static void name_from(const char *function, char *name, size_t size)
{
    static const char closure[] = "::{{closure}}";
    char bare[200];
    size_t length = strlen(function), end = length;
    while (end > strlen(closure) && !strncmp(function + end - strlen(closure), closure, strlen(closure)))
        end -= strlen(closure);
    snprintf(bare, sizeof bare, "%.*s", (int)end, function);
    plain_name(bare, name, size);
    if (*name && end < length)
        snprintf(name, size, "%s", length < size ? function : "");
}

/* The function that a step was made in, "": not known, or it has a name that is not plain; so it is where the call was
 * inlined into it, which another compiler need not do. all: that is all there is to know of the step, so it is the
 * outermost of the program's own that was inlined there. */
static void function_of(const struct pct_narrative *n, uint64_t step, bool all, char *name, size_t size)
{
    const struct pct_stack *stack = find_place(n, step, true);
    *name = 0;
    if (stack && stack->count == 1)
        name_from(stack->frames[0].function, name, size);
    for (size_t i = stack && all ? stack->count : 0; i-- && !*name;)
        if (!pct_frame_is_library(stack->frames[i].function, stack->frames[i].file, stack->frames[i].module))
            name_from(stack->frames[i].function, name, size);
}

/* Whether a step was made in the code of this function, or in one that was inlined into it. */
static bool is_from(const struct pct_narrative *n, uint64_t step, const char *function)
{
    char name[200];
    const struct pct_stack *stack = find_place(n, step, true);
    for (size_t i = 0; stack && i < stack->count; i++) {
        name_from(stack->frames[i].function, name, sizeof name);
        if (!strcmp(name, function))
            return true;
    }
    return false;
}

/* A step as the script tells it from others. */
struct described {
    char word[64], variable[128], function[200];
};

static bool describe(const struct pct_wording *s, const struct pct_worded *e, struct described *d)
{
    struct pct_event event = { .thread = e->thread, .op = e->op, .step = e->step };
    const struct pct_narrative *n = e->of;
    if (e->step < n->trace->count) {
        event = pct_narrative_event(n, e->step);
    } else {
        const struct pct_snap_thread *thread = pct_snapshot_thread(&n->snapshot, e->thread);
        event.object = thread ? thread->object : 0;
    }
    *d = (struct described){ 0 };
    word_of(e->op, d->word, sizeof d->word);
    if (!d->word[0])
        return false;
    if (s->nameless)
        return true;
    if (strncmp(d->word, "does ", 5) != 0)
        variable_of(n, &event, d->variable, sizeof d->variable);
    if (s->detail == PCT_ORDER_SCRIPT_FUNCTIONS)
        function_of(n, e->step, !d->variable[0], d->function, sizeof d->function);
    return true;
}

/* An update both reads and writes. */
static bool is_word(const char *word, const char *wanted)
{
    const char *other = !strcmp(word, "accesses") ? wanted : !strcmp(wanted, "accesses") ? word : "";
    return !strcmp(word, wanted) || !strcmp(other, "reads") || !strcmp(other, "writes");
}

/* Whether what is wanted means this one, too, which is at this step. */
static bool is_meant(const struct pct_narrative *n, uint64_t step, const struct described *one,
                     const struct described *wanted)
{
    return is_word(one->word, wanted->word) && (!wanted->variable[0] || !strcmp(one->variable, wanted->variable)) &&
           (!wanted->function[0] || is_from(n, step, wanted->function));
}

uint64_t pct_wording_find(const struct pct_trace *trace, uint32_t thread, uint32_t op, uint32_t count)
{
    struct pct_event event = { .thread = thread, .op = op, .count = count };
    return pct_orders_find(&event, trace) ? event.step : trace->count;
}

/* The outermost function of the program's own in whose code a step was made, or whose calls were; "": it has no plain
 * name, or is not known. */
static void outermost(const struct pct_narrative *n, uint64_t step, char *name, size_t size)
{
    static struct pct_stack stack;
    struct pct_event event = pct_narrative_event(n, step);
    *name = 0;
    if (!pct_narrative_stack(n, &event, &stack))
        return;
    for (size_t i = stack.count; i-- && !*name;)
        if (!pct_frame_is_library(stack.frames[i].function, stack.frames[i].file, stack.frames[i].module))
            plain_name(stack.frames[i].function, name, size);
}

/* The function that this thread starts with, or first enters of the program's own where a library starts it; "": not
 * known. Returns the step from which on it is in that. */
static uint64_t start_of(const struct pct_narrative *n, uint32_t thread, char *name, size_t size)
{
    const struct pct_trace *trace = n->trace;
    uint64_t start = pct_wording_find(trace, thread, PCT_OP_THREAD_START, 1), step = start;
    const struct pct_stack *place = find_place(n, start, false);
    *name = 0;
    if (!place)
        return start;
    const struct pct_frame *frame = place->count ? &place->frames[place->count - 1] : NULL;
    if (!frame || !pct_frame_is_library(frame->function, frame->file, frame->module)) {
        plain_name(frame ? frame->function : "", name, size);
        return start;
    }
    unsigned looked = 0;
    while (++step < trace->count && !*name && looked < PCT_ANALYSIS_BEGINNING)
        if (PCT_RECORD_THREAD(trace->records[step]) == thread) {
            outermost(n, step, name, size);
            looked++;
        }
    return *name ? step - 1 : start;
}

/* Whether threads that start with this function were made before, of which the script has no name. */
static bool has_unnamed_before(const struct pct_wording *s, uint32_t thread, const char *function)
{
    char other[200];
    for (uint32_t t = 1; t < thread; t++) {
        size_t k = 0;
        while (k < s->names && s->named[k] != t)
            k++;
        start_of(s->narrative, t, other, sizeof other);
        if (k == s->names && !strcmp(other, function))
            return true;
    }
    return false;
}

/* Whether the script names it by the function `start`. */
static bool is_named_by(const struct pct_wording *s, uint32_t thread, const char *start)
{
    return thread && !s->nameless && s->detail != PCT_ORDER_SCRIPT_NUMBERS && *start &&
           !has_unnamed_before(s, thread, start);
}

/* The step from which on a thread's operations count: the main thread stands from where the last other was made, but in
 * a whole schedule; one that a library starts from where it enters the function that it is named by. */
static uint64_t begins_at(const struct pct_wording *s, const struct pct_worded *e)
{
    const struct pct_trace *trace = e->of->trace;
    uint64_t begin = 0;
    char start[200];
    bool orders = s->detail != PCT_ORDER_SCRIPT_SCHEDULE;
    uint64_t entered = e->thread ? start_of(e->of, e->thread, start, sizeof start) : 0;
    if (e->thread && is_named_by(s, e->thread, start))
        return entered;
    for (uint64_t i = 0; orders && e->thread == 0 && i < trace->count; i++) {
        uint64_t record = trace->records[i];
        for (size_t k = 0; k < s->names; k++)
            if (PCT_RECORD_OP(record) == PCT_OP_THREAD_CREATE && PCT_RECORD_OBJECT(record) == s->named[k])
                begin = i + 1;
    }
    return begin;
}

/* The how-manieth of its kind it is since the thread's entry before. */
static unsigned count_of(const struct pct_wording *s, size_t index, const struct described *d)
{
    const struct pct_worded *e = &s->entry[index];
    const struct pct_trace *trace = e->of->trace;
    uint64_t from = begins_at(s, e), end = e->step < trace->count ? e->step : trace->count;
    unsigned count = 1;
    for (size_t i = 0; i < index; i++)
        if (s->entry[i].thread == e->thread && s->entry[i].of == e->of && s->entry[i].step < trace->count)
            from = s->entry[i].step + 1;
    for (uint64_t i = from; i < end; i++) {
        struct described other;
        struct pct_worded one = { .step = i, .of = e->of, .thread = e->thread };
        one.op = PCT_RECORD_OP(trace->records[i]);
        if (PCT_RECORD_THREAD(trace->records[i]) == e->thread && describe(s, &one, &other) &&
            is_meant(e->of, i, &other, d))
            count++;
    }
    return count;
}

/* --- The text ----------------------------------------------------------------------------------------------------- */

void pct_wording_thread(FILE *out, const struct pct_wording *s, uint32_t thread)
{
    char start[200];
    start_of(s->narrative, thread, start, sizeof start);
    if (!thread)
        fprintf(out, "%slocal main = thread(0)\n", s->margin);
    else if (is_named_by(s, thread, start))
        fprintf(out, "%slocal t%u = thread \"%s\"\n", s->margin, thread, start);
    else
        fprintf(out, "%slocal t%u = thread(%u)%s%s\n", s->margin, thread, thread, *start ? " -- starts with " : "",
                start);
}

static void write_place(FILE *out, const struct pct_worded *e)
{
    char place[500];
    struct pct_event event = { .thread = e->thread, .op = e->op, .step = PCT_STEP_PENDING };
    if (e->step < e->of->trace->count)
        event = pct_narrative_event(e->of, e->step);
    if (!*pct_narrative_place(e->of, place, sizeof place, &event))
        return;
    fputs(" -- ", out);
    pct_cli_print_clean(out, place, sizeof place);
}

bool pct_wording_entry(FILE *out, const struct pct_wording *s, size_t index, const char *before, const char *behind)
{
    const struct pct_worded *e = &s->entry[index];
    struct described d;
    if (!describe(s, e, &d))
        return false;
    fprintf(out, "%s%s{ ", s->margin, before);
    if (e->thread)
        fprintf(out, "t%u, ", e->thread);
    else
        fputs("main, ", out);
    fputs(d.word, out);
    if (d.variable[0])
        fprintf(out, " \"%s\"", d.variable);
    if (d.function[0])
        fprintf(out, " * from \"%s\"", d.function);
    if (e->made)
        fputs(" * once", out);
    unsigned count = count_of(s, index, &d);
    if (count > 1)
        fprintf(out, ", %u", count);
    fprintf(out, " }%s", behind);
    write_place(out, e);
    fputc('\n', out);
    return true;
}

/* What pct_choose() returned to this thread, in a line: from this step on, the first. */
static void write_thread_choices(FILE *out, const struct pct_wording *s, uint64_t from)
{
    const struct pct_trace *trace = s->narrative->trace;
    uint32_t thread = PCT_RECORD_THREAD(trace->records[from]);
    fprintf(out, "%schooses(%u", s->margin, thread);
    for (uint64_t i = from; i < trace->count; i++)
        if (PCT_RECORD_THREAD(trace->records[i]) == thread && PCT_RECORD_OP(trace->records[i]) == PCT_OP_CHOICE)
            fprintf(out, ", %u", PCT_RECORD_ARG(trace->records[i]));
    fputs(")\n", out);
}

void pct_wording_choices(FILE *out, const struct pct_wording *s)
{
    const struct pct_trace *trace = s->narrative->trace;
    bool *written = calloc(PCT_MAX_THREADS, sizeof *written);
    for (uint64_t i = 0; written && i < trace->count; i++) {
        uint32_t thread = PCT_RECORD_THREAD(trace->records[i]);
        if (PCT_RECORD_OP(trace->records[i]) != PCT_OP_CHOICE || written[thread])
            continue;
        write_thread_choices(out, s, i);
        written[thread] = true;
    }
    free(written);
}

void pct_wording_free(struct pct_wording *s)
{
    free(s->entry);
    free(s->named);
}
