/* Signatures of failures: see signature.h. */
#include "signature.h"
#include <cli/base/cli.h>
#include "outcome.h"
#include <cli/trace/frames.h>
#include <cli/trace/schedule.h>
#include <cli/trace/stacks.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* --- The hash ----------------------------------------------------------------------------------------------------- */

/* A run that does not end is somewhere when its time is over, which means nothing; but what its threads are, does. */
static bool never_ends(enum pct_ending ending)
{
    return ending == PCT_ENDING_LIVELOCK || ending == PCT_ENDING_TIMEOUT;
}

static void write_frame(FILE *out, const struct pct_frame *frame)
{
    if (frame->function[0])
        fprintf(out, "%s@%s\n", frame->function, frame->module);
    else
        fprintf(out, "+%llx@%s\n", (unsigned long long)frame->offset, frame->module);
}

/* One stack as text, or NULL. Recursion of any depth is the same recursion. */
static char *write_stack(const struct pct_stack *stack, bool outermost)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (size_t i = outermost && stack->count ? stack->count - 1 : 0; i < stack->count; i++) {
        const struct pct_frame *frame = &stack->frames[i];
        if (!i || outermost || strcmp(frame->function, frame[-1].function) || strcmp(frame->module, frame[-1].module))
            write_frame(out, frame);
    }
    fclose(out);
    return text;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Numbers in what a sanitizer says are of one run: "2147483647 + 1 cannot be represented". */
static void hash_message(XXH3_state_t *state, const char *message)
{
    for (; *message; message++) {
        bool hexadecimal = message[0] == '0' && message[1] == 'x';
        if (hexadecimal)
            message += 2;
        while (isdigit((unsigned char)*message) || (hexadecimal && isxdigit((unsigned char)*message)))
            message++;
        if (!*message)
            break;
        XXH3_64bits_update(state, message, 1);
    }
}

uint64_t pct_signature_hash(const struct pct_signature *signature, enum pct_ending ending)
{
    char *texts[PCT_SIGNATURE_STACKS] = { NULL };
    size_t count = 0;
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, signature->verdict, strlen(signature->verdict) + 1);
    if (!never_ends(ending)) {
        XXH3_64bits_update(&state, &signature->code, sizeof signature->code);
        if (ending == PCT_ENDING_ASSERTION || ending == PCT_ENDING_EXIT)
            XXH3_64bits_update(&state, signature->message, strlen(signature->message));
        else if (ending != PCT_ENDING_OUTPUT) /* where output differs first, is a matter of the schedule */
            hash_message(&state, signature->message);
    }
    for (size_t i = 0; i < signature->count; i++) {
        char *text = write_stack(&signature->stacks[i].frames, never_ends(ending));
        if (text)
            texts[count++] = text;
    }
    /* Which thread is which is a matter of the schedule, and how many stand at the same place, too. */
    qsort(texts, count, sizeof *texts, compare);
    for (size_t i = 0; i < count; i++)
        if (!i || strcmp(texts[i], texts[i - 1]))
            XXH3_64bits_update(&state, texts[i], strlen(texts[i]) + 1);
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    uint64_t hash = XXH3_64bits_digest(&state);
    return hash + !hash;
}

/* --- Whose stacks ------------------------------------------------------------------------------------------------- */

/* It has not begun to do what it was made for, or has done it: whether the time was over before or behind that, is a
 * matter of the schedule. */
static bool is_at_either_end(const struct pct_snap_thread *thread)
{
    const bool first_or_last = thread->op == PCT_OP_THREAD_START || thread->op == PCT_OP_THREAD_FINISH;
    return thread->state == PCT_SNAP_FINISHED || (thread->state == PCT_SNAP_ENABLED && first_or_last);
}

static size_t choose(const struct pct_snapshot *snapshot, const struct pct_trace_header *header, enum pct_ending ending,
                     uint32_t *ids)
{
    size_t count = 0;
    switch (ending) {
    case PCT_ENDING_CRASH:
    case PCT_ENDING_ASSERTION:
        ids[0] = header->culprit;
        return header->culprit != PCT_NO_THREAD;
    case PCT_ENDING_DEADLOCK:
        count = pct_snapshot_cycle(snapshot, ids, PCT_SIGNATURE_STACKS);
        if (count)
            break;
        /* fall through */
    case PCT_ENDING_LIVELOCK:
    case PCT_ENDING_TIMEOUT:
        /* Who only waits for others to end is not to blame, and comes last. */
        for (unsigned joins = 0; joins < 2; joins++)
            for (size_t i = 0; i < snapshot->thread_count && count < PCT_SIGNATURE_STACKS; i++)
                if (!is_at_either_end(&snapshot->threads[i]) &&
                    pct_stacks_is_joining(snapshot, &snapshot->threads[i]) == joins)
                    ids[count++] = snapshot->threads[i].id;
        break;
    default:
        break;
    }
    return count < PCT_SIGNATURE_STACKS ? count : PCT_SIGNATURE_STACKS;
}

static void describe_wait(struct pct_signature_stack *to, const struct pct_snapshot *snapshot,
                          const struct pct_snap_thread *thread, struct pct_unwinder *unwinder)
{
    FILE *out = fmemopen(to->doing, sizeof to->doing, "w");
    if (!out)
        return;
    if (thread->state == PCT_SNAP_BLOCKED)
        pct_stacks_print_wait(out, snapshot, thread, unwinder);
    fclose(out);
    to->doing[sizeof to->doing - 1] = 0;
}

static int add_stacks(struct pct_signature *signature, const struct pct_trace *trace, enum pct_ending ending)
{
    struct pct_snapshot snapshot;
    if (pct_snapshot_read(&snapshot, trace))
        return -ENOMEM;
    uint32_t ids[PCT_SIGNATURE_STACKS];
    size_t count = choose(&snapshot, &trace->header, ending, ids);
    struct pct_unwinder *unwinder = count ? pct_unwind_open(&snapshot) : NULL;
    signature->stacks = calloc(count ? count : 1, sizeof *signature->stacks);
    if (signature->stacks && unwinder) {
        pct_schedule_fill_holders(&snapshot, trace);
        for (size_t i = 0; i < count; i++) {
            const struct pct_snap_thread *thread = pct_snapshot_thread(&snapshot, ids[i]);
            if (!thread)
                continue;
            struct pct_signature_stack *to = &signature->stacks[signature->count++];
            to->thread = ids[i];
            describe_wait(to, &snapshot, thread, unwinder);
            pct_unwind_thread(unwinder, (size_t)(thread - snapshot.threads), &to->frames);
        }
    }
    pct_unwind_close(unwinder);
    pct_snapshot_free(&snapshot);
    return signature->stacks ? 0 : -ENOMEM;
}

/* --- Words -------------------------------------------------------------------------------------------------------- */

/* Text of the target's, as one clean line. */
static void set_line(char *to, size_t size, const char *text)
{
    char *clean = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&clean, &length);
    to[0] = 0;
    if (!out)
        return;
    pct_cli_print_clean(out, text, strcspn(text, "\n"));
    fclose(out);
    snprintf(to, size, "%s", clean);
    free(clean);
}

/* The innermost frame in the program's own source, else in a library's, else the innermost with a name, else NULL. */
static const struct pct_frame *place_of(const struct pct_stack *stack)
{
    const struct pct_frame *best = pct_frame_best(stack);
    return best && (best->file[0] || best->function[0]) ? best : NULL;
}

/* " at a.c:12 (take), b.c:7 (put)": where the threads stand, each place once. */
static void add_places(struct pct_signature *signature, char *title, size_t size)
{
    const char *before = " at ";
    for (size_t i = 0; i < signature->count; i++) {
        const struct pct_frame *place = place_of(&signature->stacks[i].frames);
        char text[420];
        if (!place)
            continue;
        if (place->file[0])
            snprintf(text, sizeof text, "%s:%d%s%s%s", place->file, place->line, place->function[0] ? " (" : "",
                     place->function, place->function[0] ? ")" : "");
        else
            snprintf(text, sizeof text, "%s", place->function);
        size_t length = strlen(title);
        if (!strstr(title, text) && length + strlen(before) + strlen(text) < size) {
            snprintf(title + length, size - length, "%s%s", before, text);
            before = ", ";
        }
        if (!signature->file[0] && place->file[0]) {
            snprintf(signature->file, sizeof signature->file, "%s", place->file);
            signature->line = place->line;
        }
    }
}

static void write_title(struct pct_signature *signature, const struct pct_process *process,
                        const struct pct_result *result)
{
    char ending[256], title[sizeof signature->title];
    pct_outcome_format(ending, sizeof ending, process, result);
    if (signature->message[0])
        snprintf(title, sizeof title, "%.60s: %.400s", ending, signature->message);
    else
        snprintf(title, sizeof title, "%s", ending);
    /* An assertion's text says where it stands. */
    bool told = result->ending == PCT_ENDING_ASSERTION;
    char unused[sizeof title];
    snprintf(unused, sizeof unused, "%s", title);
    add_places(signature, told ? unused : title, sizeof title);
    set_line(signature->title, sizeof signature->title, title);
}

int pct_signature_make(struct pct_signature *signature, const struct pct_process *process,
                       const struct pct_result *result)
{
    const struct pct_trace *trace = result->children ? &result->child : &result->trace;
    *signature = (struct pct_signature){ .verdict = pct_ending_name(result->ending), .code = result->code };
    int failed = result->unrecorded ? 0 : add_stacks(signature, trace, result->ending);
    const char *said = result->complaint[0]                     ? result->complaint
                       : result->ending == PCT_ENDING_ASSERTION ? trace->header.message
                                                                : "";
    set_line(signature->message, sizeof signature->message, said);
    write_title(signature, process, result);
    signature->hash = pct_signature_hash(signature, result->ending);
    return failed;
}

void pct_signature_free(struct pct_signature *signature)
{
    free(signature->stacks);
    signature->stacks = NULL;
    signature->count = 0;
}

uint64_t pct_signature_of(const struct pct_process *process, const struct pct_result *result)
{
    struct pct_signature signature;
    uint64_t hash = pct_signature_make(&signature, process, result) ? 0 : signature.hash;
    pct_signature_free(&signature);
    return hash;
}
