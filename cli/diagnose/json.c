/* Diagnoses as JSON: see json.h. */
#include "json.h"
#include "print.h"
#include <cli/base/cli.h>
#include <cli/base/json.h>
#include <cli/trace/unwind.h>
#include <string.h>

enum { TEXT = 4000 };

void pct_frame_json(struct json_object *to, const struct pct_frame *frame)
{
    struct json_object *object = pct_json_append_object(to);
    if (frame->function[0])
        pct_json_add_string(object, "function", frame->function);
    if (frame->file[0])
        pct_json_add_string(object, "file", frame->file);
    if (frame->file[0] && frame->line > 0)
        pct_json_add_number(object, "line", (uint64_t)frame->line);
    pct_json_add_string(object, "module", frame->module);
    pct_json_add_number(object, "offset", frame->offset);
}

static void add_frames(struct json_object *to, const char *key, const struct pct_stack *stack)
{
    struct json_object *frames = pct_json_add_array(to, key);
    for (size_t i = 0; i < stack->count; i++)
        pct_frame_json(frames, &stack->frames[i]);
}

/* The steps in the order of the sentence: the ones that it speaks of first. */
static void add_step(struct json_object *to, const struct pct_history *h, const struct pct_diagnosis *d, unsigned at)
{
    static struct pct_stack stack;
    uint32_t step = d->step[at];
    const struct pct_moment *m = &h->steps[step];
    char text[TEXT];
    struct json_object *object = pct_json_append_object(to);
    if (!m->pending)
        pct_json_add_number(object, "step", (uint64_t)step + 1);
    pct_json_add_number(object, "thread", m->thread);
    pct_json_add_string(object, "operation", pct_diagnosis_operation(text, sizeof text, h, step));
    if (d->note[at])
        pct_json_add_string(object, "note", d->note[at]);
    pct_diagnosis_stack(h, step, &stack);
    add_frames(object, "frames", &stack);
}

static void add_diagnosis(struct json_object *to, const struct pct_history *h, const struct pct_diagnosis *d)
{
    static struct pct_stack stack;
    char text[TEXT];
    struct json_object *object = pct_json_append_object(to);
    pct_json_add_string(object, "rule", pct_rule_words(d->rule));
    pct_json_add_string(object, "text", pct_diagnosis_format(text, sizeof text, h, d));
    pct_json_add_bool(object, "likely", pct_diagnosis_is_likely(d));
    pct_json_add_double(object, "score", d->score);
    pct_json_add_number(object, "failing", d->failing);
    pct_json_add_number(object, "passing", d->passing);
    pct_json_add_bool(object, "tried", d->tried);
    struct json_object *steps = pct_json_add_array(object, "steps");
    for (unsigned i = 0; i < d->count; i++)
        add_step(steps, h, d, i);
    if (!d->absent || !h->unwinder)
        return;
    pct_unwind_place(h->unwinder, d->absent, true, &stack);
    add_frames(object, "absent", &stack);
}

void pct_diagnoses_json(struct json_object *to, const struct pct_diagnoses *diagnoses, size_t most)
{
    for (size_t i = 0; i < diagnoses->count && i < most; i++)
        add_diagnosis(to, diagnoses->history, &diagnoses->item[i]);
}
