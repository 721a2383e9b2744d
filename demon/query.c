/* The questions: see query.h. A state is one term for each scalar; what others cannot reach, and what no action
 * changes, keeps its term. What is in no frame of the test and in no known object may be reached by others, for all
 * that is known: no proof counts on it, and no call can name it. */
#include "query.h"
#include <string.h>

struct asker {
    const struct demon_query *query;
    struct demon_solver *solver;
    const struct demon_binding *binding;
    demon_term *before, *after; /* of each scalar */
    bool calling;               /* it is about what others must do before a call: they hold no lock */
};

/* What stands this many bytes behind where a pointer leads to; of what no cell is of, any value. */
static demon_term load(struct asker *a, const demon_term *terms, demon_term pointer, int32_t offset, uint32_t size)
{
    const struct demon_state *state = a->query->state;
    demon_term value = demon_solver_variable(a->solver, size * 8);
    for (int i = 0; i < state->count; i++) {
        if (state->item[i].size != size)
            continue;
        demon_term object = demon_solver_number(a->solver, state->item[i].address - offset, 64);
        demon_term there = demon_solver_apply(a->solver, DEMON_EQUAL, false, pointer, object);
        demon_term same = demon_solver_apply(a->solver, DEMON_EQUAL, false, value, terms[i]);
        demon_solver_assert(a->solver, demon_solver_apply(a->solver, DEMON_IMPLIES, false, there, same));
    }
    return value;
}

/* Where the object begins that holds the leaf, whose path goes along pointers that others may change. NULL: one of them
 * is nowhere in the state. */
static demon_term deep_object(struct asker *a, const struct demon_leaf *leaf, const demon_term *terms)
{
    const struct demon_state *state = a->query->state;
    struct demon_leaf first = *leaf;
    first.steps = 0;
    first.offset = leaf->step[0];
    int at = demon_state_find(state, demon_state_address(a->query->model, state, a->binding, &first), sizeof(uint64_t));
    if (at < 0 || !demon_state_address(a->query->model, state, a->binding, leaf))
        return NULL;
    demon_term object = terms[at];
    for (uint32_t i = 1; i < leaf->steps; i++)
        object = load(a, terms, object, leaf->step[i], sizeof(uint64_t));
    return object;
}

static bool deep_term(struct asker *a, const struct demon_leaf *leaf, const demon_term *terms, demon_term *term)
{
    demon_term object = deep_object(a, leaf, terms);
    if (object)
        *term = load(a, terms, object, leaf->offset, leaf->size);
    return object;
}

static bool leaf_term(void *context, const struct demon_leaf *leaf, bool old, demon_term *term)
{
    struct asker *a = context;
    const struct demon_state *state = a->query->state;
    if (leaf->steps)
        return deep_term(a, leaf, old ? a->before : a->after, term);
    if (leaf->whole) {
        demon_term free = a->binding->free[leaf->parameter];
        *term = free ? free : demon_solver_number(a->solver, a->binding->argument[leaf->parameter], leaf->size * 8);
        return true;
    }
    int at = demon_state_find(state, demon_state_address(a->query->model, state, a->binding, leaf), leaf->size);
    if (at >= 0)
        *term = old ? a->before[at] : a->after[at];
    return at >= 0;
}

static bool address_term(void *context, const struct demon_leaf *leaf, bool old, demon_term *term)
{
    struct asker *a = context;
    const uint64_t address = demon_state_address(a->query->model, a->query->state, a->binding, leaf);
    if (!leaf->steps) {
        *term = demon_solver_number(a->solver, address, 64);
        return address;
    }
    demon_term object = deep_object(a, leaf, old ? a->before : a->after);
    if (object)
        *term = demon_solver_apply(a->solver, DEMON_ADD, false, object,
                                   demon_solver_number(a->solver, (uint64_t)(int64_t)leaf->offset, 64));
    return object;
}

static bool holds_term(void *context, const struct demon_leaf *leaf, bool *held)
{
    struct asker *a = context;
    *held = false;
    return a->calling || demon_state_holds(a->query->model, a->query->state, a->binding, leaf, PCT_DEMON_BY_TEST, held);
}

/* All clauses of this kind, as one condition; NULL: an object is not there. */
static demon_term clauses(struct asker *a, enum demon_clause_kind kind, bool skip_missing)
{
    const struct demon_terms terms = { .leaf = leaf_term, .address = address_term, .holds = holds_term, .context = a };
    demon_term all = demon_solver_truth(a->solver, true);
    for (int i = 0; i < a->binding->proc->clauses; i++) {
        const struct demon_clause *clause = &a->binding->proc->clause[i];
        demon_term one = clause->kind == kind ? demon_encode(a->solver, clause->expr, &terms) : NULL;
        if (clause->kind == kind && !one && !skip_missing)
            return NULL;
        if (one)
            all = demon_solver_apply(a->solver, DEMON_AND, false, all, one);
    }
    return all;
}

static void start_state(const struct demon_query *q, struct demon_solver *solver, demon_term *terms)
{
    for (int i = 0; i < q->state->count; i++)
        terms[i] = demon_solver_number(solver, q->state->item[i].value, q->state->item[i].size * 8);
}

/* What the rely says of the way from `before` to `after`, and that this keeps the invariant. A clause about an object
 * that is not there says nothing. */
static void assert_rely(struct asker *a)
{
    a->binding = &a->query->test;
    demon_solver_assert(a->solver, clauses(a, DEMON_RELY, true));
    demon_solver_assert(a->solver, clauses(a, DEMON_INVARIANT, true));
}

/* What is required, in this state; NULL: an object is not there. */
static demon_term requirement(struct asker *a, demon_term *state)
{
    a->before = a->after = state;
    return clauses(a, DEMON_REQUIRE, false);
}

/* False: an object is not there. */
static bool assert_broken(struct asker *a)
{
    const struct demon_query *q = a->query;
    demon_term moved[PCT_DEMON_CELLS];
    a->binding = q->goal;
    demon_term holds = requirement(a, a->after), later = NULL;
    for (int i = 0; q->moved && i < q->state->count; i++) {
        const unsigned width = q->state->item[i].size * 8;
        demon_term by = demon_solver_number(a->solver, q->moved[i], width);
        moved[i] = demon_solver_apply(a->solver, DEMON_ADD, false, a->after[i], by);
    }
    if (holds && q->moved)
        later = requirement(a, moved);
    if (later)
        holds = demon_solver_apply(a->solver, DEMON_AND, false, holds, later);
    if (holds)
        demon_solver_assert(a->solver, demon_solver_apply(a->solver, DEMON_NOT, false, holds, NULL));
    return holds;
}

/* Whether it is known what this scalar is: in an object that others know, or a variable of its own, not somewhere
 * behind a pointer, where an object of any type may be. */
static bool is_settled(const struct demon_query *q, const struct demon_scalar *item)
{
    const struct demon_model *m = q->model;
    for (uint32_t i = 0; i < m->plan->cells; i++) {
        const struct pct_demon_cell *cell = &m->plan->cell[i];
        const struct pct_demon_value *value = &q->state->point->cells[i];
        const bool it = value->known && !cell->lock && value->address == item->address && cell->size == item->size;
        if (!it || cell->place.root == PCT_DEMON_CALL_ARGUMENT)
            continue;
        bool variable = !cell->place.steps && !cell->place.offset && !cell->offset;
        for (int o = 0; o < m->objects; o++) {
            const bool same = !memcmp(&m->object[o].place, &cell->place, sizeof cell->place);
            variable &= !same;
            if (same && cell->offset >= 0 && (uint32_t)cell->offset + cell->size <= m->object[o].type->extent)
                return true;
        }
        if (variable)
            return true;
    }
    return false;
}

/* Whether a call could change this scalar, of which the leaf may name some bytes. */
static bool may_name(const struct demon_query *q, const struct demon_proc *proc, const struct demon_leaf *leaf,
                     const struct demon_scalar *item)
{
    const struct demon_model *m = q->model;
    const struct demon_binding none = { .proc = proc };
    const bool parameter = leaf->parameter >= 0;
    const uint64_t end = item->address + item->size;
    if (leaf->whole)
        return false;
    if (leaf->steps || (parameter && (proc->parameter[leaf->parameter].type.plain || !is_settled(q, item))))
        return true;
    if (!parameter) {
        const uint64_t address = demon_state_address(m, q->state, &none, leaf);
        return address < end && item->address < address + leaf->size;
    }
    for (int o = 0; o < m->objects; o++) {
        const uint64_t object = demon_state_object(m, q->state->point, &m->object[o]), at = object + leaf->offset;
        if (object && at < end && item->address < at + leaf->size &&
            !strcmp(m->object[o].type->name, proc->parameter[leaf->parameter].type.name))
            return true;
    }
    return false;
}

/* Whether others may change it. Of objects that are not all known, nothing is concluded from what calls name. */
static bool may_change(const struct demon_query *q, const struct demon_scalar *item)
{
    const struct demon_spec *spec = q->model->spec;
    if (!item->shared)
        return !item->own;
    bool may = !q->by_calls || q->model->left || q->model->cut || q->model->pointers.cut;
    for (int i = 1; i < spec->procs && !may; i++)
        for (int k = 0; spec->proc[i].acts && k < spec->proc[i].frames && !may; k++)
            may = may_name(q, &spec->proc[i], &spec->proc[i].frame[k], item);
    return may;
}

enum demon_answer demon_query_unstable(const struct demon_query *q)
{
    demon_term before[PCT_DEMON_CELLS], after[PCT_DEMON_CELLS];
    struct demon_solver *solver = demon_solver_open();
    if (!solver)
        return DEMON_UNKNOWN;
    struct asker a = { .query = q, .solver = solver, .before = before, .after = after };
    start_state(q, solver, before);
    for (int i = 0; i < q->state->count; i++)
        after[i] =
            may_change(q, &q->state->item[i]) ? demon_solver_variable(solver, q->state->item[i].size * 8) : before[i];
    assert_rely(&a);
    enum demon_answer answer = assert_broken(&a) ? (enum demon_answer)demon_solver_check(solver) : DEMON_NOT_ASKED;
    demon_solver_close(solver);
    return answer;
}

/* Whether a number of this width is from 0 to `most`. */
static demon_term is_small(struct demon_solver *solver, demon_term number, unsigned width, uint64_t most)
{
    if (most >> (width - 1)) /* all are, or would be with a sign */
        return demon_solver_truth(solver, true);
    return demon_solver_apply(solver, DEMON_AT_MOST, false, number, demon_solver_number(solver, most, width));
}

/* Some number that these calls pass is not small. */
static void assert_large(struct demon_solver *solver, const struct demon_binding *bindings, int count)
{
    demon_term all = demon_solver_truth(solver, true);
    for (int c = 0; c < count; c++)
        for (int i = 0; i < bindings[c].proc->parameters; i++)
            if (bindings[c].free[i])
                all = demon_solver_apply(
                    solver, DEMON_AND, false, all,
                    is_small(solver, bindings[c].free[i], bindings[c].proc->parameter[i].type.size * 8, DEMON_SMALL));
    demon_solver_assert(solver, demon_solver_apply(solver, DEMON_NOT, false, all, NULL));
}

/* What the parameters of a call are, in this state; most: what a number may be, 0: any. */
static bool bind_call(const struct demon_query *q, struct demon_solver *solver, const struct demon_call *call,
                      uint64_t most, struct demon_binding *binding)
{
    const struct demon_model *m = q->model;
    *binding = (struct demon_binding){ .proc = &m->spec->proc[call->proc] };
    for (int i = 0; i < binding->proc->parameters; i++) {
        const struct demon_type *type = &binding->proc->parameter[i].type;
        if (call->object[i] >= 0) {
            binding->argument[i] = demon_state_object(m, q->state->point, &m->object[call->object[i]]);
            if (!binding->argument[i])
                return false;
        } else if (!type->pointer && !type->object) {
            binding->free[i] = demon_solver_variable(solver, type->size * 8);
            const uint64_t limit = type->truth ? 1 : most;
            if (limit)
                demon_solver_assert(solver, is_small(solver, binding->free[i], type->size * 8, limit));
        }
    }
    return true;
}

/* What the call may change: others of this size, too, to which a pointer on the leaf's path may lead. */
static void free_leaf_terms(struct asker *a, const struct demon_leaf *leaf)
{
    const struct demon_query *q = a->query;
    const uint64_t address = leaf->whole ? 0 : demon_state_address(q->model, q->state, a->binding, leaf);
    for (int i = 0; i < q->state->count && !leaf->whole; i++) {
        const struct demon_scalar *item = &q->state->item[i];
        if (item->shared && item->size == leaf->size && (leaf->steps || item->address == address) &&
            a->after[i] == a->before[i])
            a->after[i] = demon_solver_variable(a->solver, leaf->size * 8);
    }
}

/* Whether a leaf of the frame names this scalar, before or behind the call; objects: where pointers on its path lead to
 * there. */
static demon_term names(struct asker *a, const struct demon_leaf *leaf, const demon_term objects[2],
                        const struct demon_scalar *item)
{
    const struct demon_query *q = a->query;
    if (leaf->whole || leaf->size != item->size)
        return demon_solver_truth(a->solver, false);
    if (!leaf->steps)
        return demon_solver_truth(a->solver,
                                  demon_state_address(q->model, q->state, a->binding, leaf) == item->address);
    demon_term either = demon_solver_truth(a->solver, false);
    demon_term it = demon_solver_number(a->solver, item->address - leaf->offset, 64);
    for (int i = 0; i < 2; i++)
        if (objects[i])
            either = demon_solver_apply(a->solver, DEMON_OR, false, either,
                                        demon_solver_apply(a->solver, DEMON_EQUAL, false, objects[i], it));
    return either;
}

/* What no leaf of the frame names stays what it is. */
static void assert_frame(struct asker *a)
{
    const struct demon_proc *proc = a->binding->proc;
    demon_term objects[DEMON_LEAVES][2] = { 0 };
    for (int i = 0; i < proc->frames; i++)
        free_leaf_terms(a, &proc->frame[i]);
    for (int i = 0; i < proc->frames; i++)
        if (proc->frame[i].steps) {
            objects[i][0] = deep_object(a, &proc->frame[i], a->before);
            objects[i][1] = deep_object(a, &proc->frame[i], a->after);
        }
    for (int k = 0; k < a->query->state->count; k++) {
        if (a->after[k] == a->before[k])
            continue;
        demon_term may = demon_solver_apply(a->solver, DEMON_EQUAL, false, a->before[k], a->after[k]);
        for (int i = 0; i < proc->frames; i++)
            may = demon_solver_apply(a->solver, DEMON_OR, false, may,
                                     names(a, &proc->frame[i], objects[i], &a->query->state->item[k]));
        demon_solver_assert(a->solver, may);
    }
}

/* One call, from a->before to a->after. False: an object is not there. */
static bool assert_call(struct asker *a, struct demon_binding *binding)
{
    demon_term *before = a->before, *after = a->after;
    memcpy(after, before, (size_t)a->query->state->count * sizeof *after);
    a->binding = binding;
    a->after = before;
    a->calling = true;
    demon_term required = clauses(a, DEMON_REQUIRE, false);
    a->calling = false;
    a->after = after;
    assert_frame(a);
    demon_term ensured = clauses(a, DEMON_ENSURE, false);
    if (!required || !ensured)
        return false;
    demon_solver_assert(a->solver, required);
    demon_solver_assert(a->solver, ensured);
    return true;
}

/* All that the test may wait for. False: an object is not there. */
static bool assert_awaited(struct asker *a)
{
    a->binding = &a->query->test;
    a->before = a->after;
    demon_term holds = clauses(a, DEMON_WAIT, false);
    if (holds)
        demon_solver_assert(a->solver, holds);
    return holds;
}

/* Some scalar is not what it was. */
static void assert_changed(struct asker *a, const demon_term *before, const demon_term *after)
{
    demon_term any = demon_solver_truth(a->solver, false);
    for (int i = 0; i < a->query->state->count; i++)
        any = demon_solver_apply(a->solver, DEMON_OR, false, any,
                                 demon_solver_apply(a->solver, DEMON_UNEQUAL, false, before[i], after[i]));
    demon_solver_assert(a->solver, any);
}

/* What calls are for. */
enum purpose { TO_BREAK, TO_HELP, TO_CHANGE };

/* values: what each scalar is behind the calls; NULL: nobody asks. */
static enum demon_answer solve_bounded(const struct demon_query *q, struct demon_call *calls, int count,
                                       enum purpose purpose, uint64_t most, uint64_t *values)
{
    demon_term state[DEMON_LONGEST + 1][PCT_DEMON_CELLS];
    struct demon_binding binding[DEMON_LONGEST];
    struct demon_solver *solver = demon_solver_open();
    if (!solver)
        return DEMON_UNKNOWN;
    struct asker a = { .query = q, .solver = solver };
    start_state(q, solver, state[0]);
    bool fine = true;
    for (int i = 0; i < count && fine; i++) {
        a.before = state[i];
        a.after = state[i + 1];
        fine = bind_call(q, solver, &calls[i], most, &binding[i]) && assert_call(&a, &binding[i]);
        a.before = state[0];
        if (fine && purpose != TO_HELP)
            assert_rely(&a);
    }
    if (fine && q->large)
        assert_large(solver, binding, count);
    if (fine && purpose == TO_CHANGE)
        assert_changed(&a, state[0], state[count]);
    fine = fine && (purpose == TO_CHANGE || (purpose == TO_HELP ? assert_awaited(&a) : assert_broken(&a)));
    enum demon_answer answer = fine ? (enum demon_answer)demon_solver_check(solver) : DEMON_NOT_ASKED;
    for (int i = 0; answer == DEMON_YES && i < count; i++)
        for (int k = 0; k < binding[i].proc->parameters; k++)
            calls[i].value[k] = binding[i].free[k] ? demon_solver_value(solver, binding[i].free[k]) : 0;
    for (int i = 0; answer == DEMON_YES && values && i < q->state->count; i++)
        values[i] = demon_solver_value(solver, state[count][i]);
    demon_solver_close(solver);
    return answer;
}

bool demon_calls_have_numbers(const struct demon_model *m, const struct demon_call *calls, int count)
{
    for (int c = 0; c < count; c++) {
        const struct demon_proc *proc = &m->spec->proc[calls[c].proc];
        for (int i = 0; i < proc->parameters; i++)
            if (calls[c].object[i] < 0 && !proc->parameter[i].type.pointer && !proc->parameter[i].type.object)
                return true;
    }
    return false;
}

/* Numbers that people pass are small, and a solver likes others. */
static enum demon_answer solve_calls(const struct demon_query *q, struct demon_call *calls, int count,
                                     enum purpose purpose, uint64_t *values)
{
    static const uint64_t most[] = { 16, DEMON_SMALL };
    bool small = !q->large && demon_calls_have_numbers(q->model, calls, count);
    for (size_t i = 0; small && i < sizeof most / sizeof *most; i++)
        if (solve_bounded(q, calls, count, purpose, most[i], values) == DEMON_YES)
            return DEMON_YES;
    return solve_bounded(q, calls, count, purpose, 0, values);
}

enum demon_answer demon_query_calls(const struct demon_query *q, struct demon_call *calls, int count,
                                    uint64_t after[PCT_DEMON_CELLS])
{
    return solve_calls(q, calls, count, TO_BREAK, after);
}

enum demon_answer demon_query_possible(const struct demon_query *q, struct demon_call *calls, int count,
                                       uint64_t after[PCT_DEMON_CELLS])
{
    return solve_calls(q, calls, count, TO_CHANGE, after);
}

enum demon_answer demon_query_helps(const struct demon_query *q, struct demon_call *calls, int count)
{
    return solve_calls(q, calls, count, TO_HELP, NULL);
}

/* --- Contradictions ----------------------------------------------------------------------------------------------- */

struct free_state {
    struct demon_solver *solver;
    struct {
        const struct demon_leaf *leaf;
        bool old;
        demon_term term;
    } item[PCT_DEMON_CELLS];
    int count;
};

static bool free_leaf(void *context, const struct demon_leaf *leaf, bool old, demon_term *term)
{
    struct free_state *f = context;
    old &= !leaf->whole; /* a parameter stays what it is */
    for (int i = 0; i < f->count; i++)
        if (f->item[i].old == old && !strcmp(f->item[i].leaf->path, leaf->path)) {
            *term = f->item[i].term;
            return true;
        }
    if (f->count == PCT_DEMON_CELLS)
        return false;
    *term = f->item[f->count].term = demon_solver_variable(f->solver, leaf->size * 8);
    f->item[f->count].leaf = leaf;
    f->item[f->count++].old = old;
    return true;
}

/* Wherever it is, each time: nothing is concluded from it. */
static bool free_address(void *context, const struct demon_leaf *leaf, bool old, demon_term *term)
{
    const struct free_state *f = context;
    (void)leaf;
    (void)old;
    *term = demon_solver_variable(f->solver, 64);
    return true;
}

/* Any lock may be held: a contract that asks for one is no contradiction, and nothing is concluded from it. */
static bool free_holds(void *context, const struct demon_leaf *leaf, bool *held)
{
    (void)context;
    (void)leaf;
    (void)held;
    return false;
}

/* Of this kind. */
static const struct demon_clause *find_contradiction(const struct demon_proc *proc, enum demon_clause_kind kind)
{
    const struct demon_clause *found = NULL;
    struct demon_solver *solver = demon_solver_open();
    if (!solver)
        return NULL;
    struct free_state state = { .solver = solver };
    const struct demon_terms terms = {
        .leaf = free_leaf, .address = free_address, .holds = free_holds, .context = &state
    };
    for (int i = 0; i < proc->clauses && !found; i++) {
        if (proc->clause[i].kind != kind)
            continue;
        demon_term term = demon_encode(solver, proc->clause[i].expr, &terms);
        if (term)
            demon_solver_assert(solver, term);
        if (term && demon_solver_check(solver) == 0)
            found = &proc->clause[i];
    }
    demon_solver_close(solver);
    return found;
}

const struct demon_clause *demon_query_vacuous(const struct demon_proc *proc)
{
    static const enum demon_clause_kind kinds[] = { DEMON_REQUIRE,   DEMON_ENSURE,    DEMON_RELY,
                                                    DEMON_GUARANTEE, DEMON_INVARIANT, DEMON_WAIT };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const struct demon_clause *found = find_contradiction(proc, kinds[k]);
        if (found)
            return found;
    }
    return NULL;
}
