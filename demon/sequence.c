/* Sequences of calls: see sequence.h. */
#include "sequence.h"
#include <string.h>

struct walk {
    const struct demon_sequences *of;
    struct demon_call call[DEMON_LONGEST];
    int count;
    bool over;
};

static void choose_call(struct walk *w, int place);

/* Whether it is there, and is none that was chosen by another name. */
static bool is_new(const struct walk *w, int object)
{
    const struct demon_model *m = w->of->model;
    const struct pct_demon_point *point = w->of->state->point;
    const uint64_t address = demon_state_object(m, point, &m->object[object]);
    for (int i = 0; address && i < object; i++)
        if (!strcmp(m->object[i].type->name, m->object[object].type->name) &&
            demon_state_object(m, point, &m->object[i]) == address)
            return false;
    return address;
}

/* All calls at this place of the sequence, from this parameter on. */
static void choose(struct walk *w, int place, int parameter)
{
    const struct demon_model *m = w->of->model;
    struct demon_call *call = &w->call[place];
    const struct demon_proc *proc = &m->spec->proc[call->proc];
    if (w->over)
        return;
    if (parameter < proc->parameters) {
        const struct demon_type *type = &proc->parameter[parameter].type;
        call->object[parameter] = -1;
        bool any = false;
        for (int i = 0; type->object && i < m->objects; i++)
            if (!strcmp(m->object[i].type->name, type->name) && is_new(w, i)) {
                call->object[parameter] = i;
                choose(w, place, parameter + 1);
                any = true;
            }
        call->object[parameter] = -1; /* a number, or null */
        if (!type->object || (type->plain && !any))
            choose(w, place, parameter + 1);
    } else if (place + 1 == w->count) {
        w->over = !w->of->take(w->of->context, w->call, w->count);
    } else {
        choose_call(w, place + 1);
    }
}

static void choose_call(struct walk *w, int place)
{
    const struct demon_spec *spec = w->of->model->spec;
    for (int k = 1; k < spec->procs; k++)
        if (spec->proc[k].acts) {
            w->call[place].proc = k;
            choose(w, place, 0);
        }
}

void demon_sequences_run(const struct demon_sequences *sequences)
{
    struct walk w = { .of = sequences };
    for (w.count = 1; w.count <= sequences->longest && !w.over; w.count++)
        choose_call(&w, 0);
}
