/* Annotations by kind, as table 2 of the paper counts them: see spec.h. */
#include "spec.h"

static bool has(const struct demon_expr *e, enum demon_op op)
{
    return e && (e->op == op || has(e->a, op) || has(e->b, op));
}

static bool is_linear(const struct demon_expr *e)
{
    if (e->op == DEMON_MULTIPLY && has(e->a, DEMON_LEAF) && has(e->b, DEMON_LEAF))
        return false;
    return (!e->a || is_linear(e->a)) && (!e->b || is_linear(e->b));
}

static bool is_simple(const struct demon_expr *e)
{
    if (e->op == DEMON_NOT)
        return is_simple(e->a);
    return e->op == DEMON_TRUE || (e->op >= DEMON_EQUAL && e->op <= DEMON_AT_LEAST && is_linear(e));
}

static void count(const struct demon_expr *e, struct demon_annotations *to)
{
    if (has(e, DEMON_HOLDS)) {
        to->lock++;
    } else if (e->op == DEMON_AND) {
        count(e->a, to);
        count(e->b, to);
    } else {
        to->simple += is_simple(e);
        to->complex += !is_simple(e);
    }
}

struct demon_annotations demon_count_annotations(const struct demon_spec *spec)
{
    struct demon_annotations all = { .lock = 0 };
    for (int i = 0; i < spec->procs; i++) {
        const struct demon_proc *proc = &spec->proc[i];
        for (int k = 0; k < proc->clauses; k++)
            count(proc->clause[k].expr, &all);
        all.complex += (unsigned)proc->modifies;
    }
    return all;
}
