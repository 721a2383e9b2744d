/* A diagnosis on the screen: see print.h. */
#include "print.h"
#include "words.h"
#include <cli/base/cli.h>
#include <cli/base/color.h>
#include <cli/base/status_line.h>
#include <cli/trace/frames.h>
#include <cli/trace/schedule.h>
#include <cli/trace/unwind.h>
#include <cli/trace/variable.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 3, TEXT = 900, INDENT = 14, NARROW = 60 };

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* What an operation on a lock that is made of a word of memory is, behind its name; NULL: it is on none, or on what may
 * be none. */
static const char *lock_of_word(const struct pct_moment *m)
{
    switch (m->awaited ? m->word : PCT_WORD_NONE) {
    case PCT_WORD_TAKES:
        return "takes the lock";
    case PCT_WORD_SHARES:
        return "takes the lock, as others may";
    case PCT_WORD_FAILS:
        return "has not got the lock";
    case PCT_WORD_GIVES:
        return "gives the lock back";
    default:
        return NULL;
    }
}

/* The number of the word that is the lock for which this futex is waited on; 0: there is none. */
static uint32_t word_of_futex(const struct pct_history *h, const struct pct_moment *m)
{
    uint64_t address = m->class_ == PCT_CLASS_FUTEX ? pct_words_waited_for(h, m) : 0;
    for (uint32_t i = h->hold_count; address && i-- > 0;)
        if (h->holds[i].class_ == PCT_CLASS_MEMORY && h->steps[h->holds[i].taken].address == address)
            return h->holds[i].object;
    return 0;
}

/* A wait that began at a step is the same operation when it is still going on at the end. */
static void format_operation(char *buffer, size_t size, const struct pct_history *h, uint32_t step)
{
    const struct pct_moment *m = &h->steps[step];
    bool takes_mutex = m->pending && m->op == PCT_OP_COND_WAIT && m->class_ == PCT_CLASS_MUTEX;
    pct_schedule_format(buffer, size, takes_mutex ? PCT_OP_MUTEX_LOCK : m->op, m->pending ? 0 : m->argument, m->object);
    char name[256];
    const char *does = lock_of_word(m);
    uint32_t word = word_of_futex(h, m);
    size_t length = strlen(buffer);
    if (h->unwinder && m->object && m->class_ != PCT_CLASS_THREAD && m->class_ != PCT_CLASS_FD &&
        pct_variable_name(h->unwinder, m->address, name, sizeof name))
        snprintf(buffer + length, size - length, " `%s`", name);
    length = strlen(buffer);
    if (does)
        snprintf(buffer + length, size - length, " (%s)", does);
    else if (word)
        snprintf(buffer + length, size - length, " (of the lock in memory %u)", word);
    else if (m->op == PCT_OP_COND_WAKE && m->mutex && !m->pending)
        snprintf(buffer + length, size - length, " (takes mutex %u back)", m->mutex);
}

static void format_object(char *buffer, size_t size, const struct pct_history *h, uint32_t step)
{
    const struct pct_moment *m = &h->steps[step];
    char name[256];
    int length = snprintf(buffer, size, "%s %u", pct_name_class(m->class_), m->object);
    if (h->unwinder && length > 0 && (size_t)length < size &&
        pct_variable_name(h->unwinder, m->address, name, sizeof name))
        snprintf(buffer + length, size - (size_t)length, " `%s`", name);
}

static void format_step(char *buffer, size_t size, const struct pct_history *h, uint32_t step)
{
    if (h->steps[step].pending)
        snprintf(buffer, size, "at the end");
    else
        snprintf(buffer, size, "step %u", step + 1);
}

const char *pct_diagnosis_format(char *buffer, size_t size, const struct pct_history *h, const struct pct_diagnosis *d)
{
    char word[TEXT];
    int length = snprintf(buffer, size, "%s: ", pct_rule_words(d->rule));
    for (const char *at = pct_rule_sentence(d->rule); *at && length >= 0 && (size_t)length < size; at++) {
        word[0] = *at;
        word[1] = '\0';
        if (*at == '@' && at[1] && at[2]) {
            uint32_t step = d->step[(unsigned)(at[2] - '0') % PCT_DIAGNOSIS_STEPS];
            if (at[1] == 't')
                snprintf(word, sizeof word, "%u", h->steps[step].thread);
            else if (at[1] == 'o')
                format_object(word, sizeof word, h, step);
            else if (at[1] == 's')
                format_step(word, sizeof word, h, step);
            else
                format_operation(word, sizeof word, h, step);
            /* "at step 7", but not "at at the end" */
            if (at[1] == 's' && h->steps[step].pending && length > 3 && !strncmp(buffer + length - 3, "at ", 3))
                length -= 3;
            at += 2;
        }
        length += snprintf(buffer + length, size - (size_t)length, "%s", word);
    }
    return buffer;
}

static void find_stack(const struct pct_history *h, uint32_t step, struct pct_stack *stack)
{
    const struct pct_moment *m = &h->steps[step];
    stack->count = 0;
    if (!h->unwinder)
        return;
    if (m->pending) {
        const struct pct_snap_thread *thread = pct_snapshot_thread(&h->snapshot, m->thread);
        if (thread)
            pct_unwind_thread(h->unwinder, (size_t)(thread - h->snapshot.threads), stack);
        return;
    }
    for (size_t i = 0; i < h->snapshot.stop_count && !stack->count; i++)
        if (h->snapshot.stops[i].step == step + 1)
            pct_unwind_stop(h->unwinder, i, stack);
    const struct pct_site *site = pct_snapshot_site(&h->snapshot, step);
    if (!stack->count && site && site->call)
        pct_unwind_place(h->unwinder, site->call, m->op != PCT_OP_THREAD_START, stack);
}

void pct_diagnosis_stack(const struct pct_history *h, uint32_t step, struct pct_stack *stack)
{
    find_stack(h, step, stack);
    enum pct_frame_rank best = stack->count && !pct_frames_all ? pct_frame_rank(pct_frame_best(stack)) : 0;
    best = best > PCT_FRAME_HEADER ? PCT_FRAME_HEADER : best;
    size_t kept = 0;
    for (size_t i = 0; i < stack->count; i++)
        if (pct_frame_rank(&stack->frames[i]) >= best)
            stack->frames[kept++] = stack->frames[i];
    stack->count = kept;
}

static void format_frames(FILE *out, const struct pct_stack *stack)
{
    for (size_t i = 0; i < stack->count && (pct_frames_all || i < FRAMES); i++) {
        const struct pct_frame *frame = &stack->frames[i];
        char text[512];
        if (frame->file[0])
            snprintf(text, sizeof text, "%s%s%s:%d", frame->function, frame->function[0] ? " " : "", base(frame->file),
                     frame->line);
        else
            snprintf(text, sizeof text, "%s%s%s", frame->function, frame->function[0] ? " in " : "", frame->module);
        fputs(i ? " < " : "", out);
        pct_cli_print_clean(out, text, sizeof text);
    }
    if (!stack->count)
        fputs("(its place is not known)", out);
}

/* A line of its own, or several where a terminal would break it. */
static void print_frames(FILE *out, const struct pct_stack *stack)
{
    unsigned columns = pct_status_line_columns(out), indent = columns && columns < NARROW ? 4 : INDENT;
    char *line = NULL;
    size_t size;
    FILE *frames = open_memstream(&line, &size);
    if (!frames)
        return;
    format_frames(frames, stack);
    fclose(frames);
    fprintf(out, "%*s", (int)indent, "");
    pct_cli_wrap(out, line, columns, indent, indent);
    fputc('\n', out);
    free(line);
}

void pct_diagnosis_print_step(FILE *out, const struct pct_history *h, uint32_t step, const char *note)
{
    static struct pct_stack stack;
    char text[TEXT], *line = NULL;
    size_t size;
    FILE *clean = open_memstream(&line, &size);
    if (clean) {
        format_step(text, sizeof text, h, step);
        fprintf(clean, "  %-11s thread %u: ", text, h->steps[step].thread);
        format_operation(text, sizeof text, h, step);
        pct_cli_print_clean(clean, text, sizeof text);
        fprintf(clean, "%s%s", note ? "   " : "", note ? note : "");
        fclose(clean);
    }
    pct_cli_wrap(out, line ? line : "?", pct_status_line_columns(out), 0, 4);
    fputc('\n', out);
    free(line);
    /* These are made by the C library, whose place says nothing. */
    if (h->steps[step].op == PCT_OP_THREAD_FINISH || h->steps[step].op == PCT_OP_EXIT)
        return;
    pct_diagnosis_stack(h, step, &stack);
    print_frames(out, &stack);
}

/* A line beside the steps, with what stands where their number does. */
static void print_aside(FILE *out, const char *lead, const char *text)
{
    unsigned indent = (unsigned)strlen(lead);
    fputs(lead, out);
    pct_cli_wrap(out, text, pct_status_line_columns(out), indent, indent);
    fputc('\n', out);
}

static void print_sentence(FILE *out, const char *lead, const struct pct_history *h, const struct pct_diagnosis *d)
{
    char text[4 * TEXT];
    pct_color(out, PCT_COLOR_CAUSE);
    char *sentence = NULL;
    size_t size;
    FILE *clean = open_memstream(&sentence, &size);
    if (clean) {
        pct_cli_print_clean(clean, pct_diagnosis_format(text, sizeof text, h, d), sizeof text);
        fputc('.', clean);
        fclose(clean);
    }
    fputs(lead, out);
    pct_cli_wrap(out, sentence ? sentence : "?", pct_status_line_columns(out), (unsigned)strlen(lead), 2);
    free(sentence);
    pct_color(out, PCT_COLOR_NONE);
    fputc('\n', out);
}

/* The steps stand in the order of the run, those of the sentence and the others alike; of a cycle, thread by thread. */
void pct_diagnosis_print(FILE *out, const char *lead, const struct pct_history *h, const struct pct_diagnosis *d)
{
    static struct pct_stack stack;
    print_sentence(out, lead, h, d);
    unsigned order[PCT_DIAGNOSIS_STEPS];
    for (unsigned i = 0; i < d->count; i++) {
        unsigned at = i;
        for (; at && d->rule != PCT_RULE_WAIT_CYCLE && d->step[order[at - 1]] > d->step[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (unsigned i = 0; i < d->count; i++)
        pct_diagnosis_print_step(out, h, d->step[order[i]], d->note[order[i]]);
    if (d->tried)
        print_aside(out, "  tried       ", "with this in between the run fails, and without it passes");
    if (d->absent && h->unwinder) {
        pct_unwind_place(h->unwinder, d->absent, true, &stack);
        print_aside(out, "  not yet     ", "what came first in every run that passed");
        print_frames(out, &stack);
    }
}

/* The frame by which a step is known in a line; NULL: its place is not known. */
static const struct pct_frame *frame_of(const struct pct_history *h, uint32_t step, struct pct_stack *stack)
{
    pct_diagnosis_stack(h, step, stack);
    return stack->count && stack->frames[0].file[0] ? &stack->frames[0] : NULL;
}

static bool same_line(const struct pct_history *h, uint32_t one, uint32_t other)
{
    static struct pct_stack a, b;
    const struct pct_frame *x = frame_of(h, one, &a), *y = frame_of(h, other, &b);
    return x && y && x->line == y->line && !strcmp(x->file, y->file);
}

bool pct_diagnosis_adds(const struct pct_history *h, const struct pct_diagnosis *d, const struct pct_diagnosis *told)
{
    uint32_t thread = h->steps[d->step[0]].thread;
    for (unsigned i = 0; i < d->count; i++) {
        /* Who else took part in the same makes no other cause of it. */
        bool there = d->rule == told->rule && h->steps[d->step[i]].thread != thread;
        for (unsigned j = 0; j < told->count && !there; j++)
            there = d->step[i] == told->step[j] || same_line(h, d->step[i], told->step[j]);
        if (!there)
            return true;
    }
    return false;
}

void pct_diagnosis_print_brief(FILE *out, const char *lead, const struct pct_history *h, const struct pct_diagnosis *d)
{
    static struct pct_stack stack;
    struct pct_stack one = { 0 };
    char *line = NULL;
    size_t size;
    print_sentence(out, lead, h, d);
    FILE *frames = open_memstream(&line, &size);
    if (!frames)
        return;
    bool any = false;
    for (unsigned i = 0; i < d->count; i++) {
        bool told = false;
        for (unsigned j = 0; j < i && !told; j++)
            told = same_line(h, d->step[i], d->step[j]);
        const struct pct_frame *frame = told ? NULL : frame_of(h, d->step[i], &stack);
        if (!frame)
            continue;
        one.frames[0] = *frame;
        one.count = 1;
        fputs(any ? ", " : "", frames);
        format_frames(frames, &one);
        any = true;
    }
    fclose(frames);
    if (any)
        print_aside(out, "  ", line);
    free(line);
}

const char *pct_diagnosis_operation(char *buffer, size_t size, const struct pct_history *h, uint32_t step)
{
    format_operation(buffer, size, h, step);
    return buffer;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

char *pct_diagnosis_stacks_of(const struct pct_history *h, const uint32_t *step, size_t count)
{
    enum { MOST = 64 }; /* of PCT_SITES */
    uint32_t steps[MOST];
    size_t made = 0, size = 0;
    char *text = NULL;
    for (size_t i = 0; i < count && made < MOST; i++)
        if (step[i] < h->count)
            steps[made++] = step[i];
    FILE *out = made ? open_memstream(&text, &size) : NULL;
    if (!out)
        return NULL;
    qsort(steps, made, sizeof *steps, by_number);
    for (size_t i = 0; i < made; i++)
        if (!i || steps[i] != steps[i - 1])
            fprintf(out, "%s%u", i ? "," : "", steps[i] + 1);
    fclose(out);
    return text;
}

char *pct_diagnoses_stacks(const struct pct_diagnoses *ds, size_t most)
{
    size_t count = ds->count < most ? ds->count : most, steps = 0;
    uint32_t *step = malloc((count * PCT_DIAGNOSIS_STEPS + 1) * sizeof *step);
    for (size_t i = 0; step && i < count; i++)
        for (unsigned j = 0; j < ds->item[i].count; j++)
            step[steps++] = ds->item[i].step[j];
    char *text = step ? pct_diagnosis_stacks_of(ds->history, step, steps) : NULL;
    free(step);
    return text;
}

bool pct_diagnosis_place(const struct pct_history *h, const struct pct_diagnosis *d, struct pct_frame *place)
{
    static struct pct_stack stack;
    /* Of each rule the step that does what it should not; of all others the first. */
    static const unsigned char wrong[PCT_RULE_COUNT] = {
        [PCT_RULE_DESTROYED_WHILE_HELD] = 1, [PCT_RULE_FOREIGN_UNLOCK] = 1, [PCT_RULE_SELF_DEADLOCK] = 1,
        [PCT_RULE_LOST_WAKEUP] = 1,          [PCT_RULE_WRONG_WAITER] = 1,   [PCT_RULE_NO_NOTICE] = 1,
        [PCT_RULE_HELD_AT_FORK] = 1
    };
    pct_diagnosis_stack(h, d->step[wrong[d->rule] < d->count ? wrong[d->rule] : 0], &stack);
    const struct pct_frame *best = pct_frame_best(&stack);
    if (!best || !best->file[0])
        return false;
    *place = *best;
    return true;
}

/* Whether Rust's library looks at the word of a lock: as often as it likes, while it waits for it. */
static bool is_look_of_lock(const struct pct_moment *m, const struct pct_stack *stack)
{
    static const char inside[] = "std::sys::sync::";
    for (size_t i = 0; i < stack->count && pct_moment_access(m) == PCT_ACCESS_READ; i++)
        if (strstr(stack->frames[i].function, inside))
            return true;
    return false;
}

/* Whether no function of the program's own had a part in the step, or it is on a library's variable, or is such a look.
 */
static bool step_is_foreign(const struct pct_history *h, uint32_t step)
{
    static struct pct_stack stack;
    const struct pct_moment *m = &h->steps[step];
    char name[256];
    if (h->unwinder && m->class_ == PCT_CLASS_MEMORY && pct_variable_name(h->unwinder, m->address, name, sizeof name) &&
        pct_frame_is_library(name, "", ""))
        return true;
    find_stack(h, step, &stack);
    if (m->class_ == PCT_CLASS_MEMORY && is_look_of_lock(m, &stack))
        return true;
    for (size_t i = 0; i < stack.count; i++)
        if (!pct_frame_is_library(stack.frames[i].function, stack.frames[i].file, stack.frames[i].module))
            return false;
    return stack.count;
}

bool pct_diagnosis_is_foreign(const struct pct_history *h, const struct pct_diagnosis *d)
{
    unsigned own = 0;
    for (unsigned i = 0; i < d->count; i++)
        own += !step_is_foreign(h, d->step[i]);
    /* The two that belong together do so in the program. */
    bool two = d->rule == PCT_RULE_ATOMICITY && (step_is_foreign(h, d->step[0]) || step_is_foreign(h, d->step[2]));
    return (own < 2 || two) && own < d->count;
}

size_t pct_diagnosis_in_report(const char *report, size_t *title)
{
    static const char likely[] = "likely ", cause[] = "cause: ";
    const char *word = report + (strncmp(report, likely, sizeof likely - 1) ? 0 : sizeof likely - 1);
    if (strncmp(word, cause, sizeof cause - 1) != 0)
        return 0;
    *title = strcspn(report, "\n");
    size_t length = *title + (report[*title] == '\n');
    while (!strncmp(report + length, "  ", 2) || !strncmp(report + length, "or: ", 4)) {
        length += strcspn(report + length, "\n");
        length += report[length] == '\n';
    }
    return length;
}
