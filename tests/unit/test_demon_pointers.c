/* Contracts of `pct demon` whose paths go along pointers, which calls change: the questions against enumeration of all
 * states. `make check-demon` asks about 2,000. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "demon_random.h"
#include <demon/query.h>
#include <stdio.h>
#include <string.h>

static char error[512];

enum { NODES = 2, NODE = 0x1000, ELSEWHERE = 0x9000, NEXT = 0, VALUE = 8, PATHS = 10, NUMBERS = 4, CONTRACTS = 60 };

/* Two nodes, that are parameters of all; pointers lead to one of them, nowhere, or elsewhere. */
struct nodes {
    uint64_t next[NODES];
    uint8_t value[NODES];
};
struct move {
    struct nodes before, after;
};

/* The node that the path of the leaf ends in. -1: it is not known; none: NODES. */
static int walk(const struct nodes *nodes, const struct demon_leaf *leaf)
{
    uint64_t at = (uint64_t)(leaf->parameter + 1) * NODE;
    for (uint32_t i = 0; i < leaf->steps; i++) {
        if (at > (uint64_t)NODES * NODE || !at)
            return -1;
        at = nodes->next[at / NODE - 1];
    }
    return at && at <= (uint64_t)NODES * NODE ? (int)(at / NODE) - 1 : NODES;
}

static bool node_value(void *context, const struct demon_leaf *leaf, bool old, uint64_t *value)
{
    const struct move *m = context;
    const struct nodes *nodes = old ? &m->before : &m->after;
    const int node = walk(nodes, leaf);
    if (leaf->whole)
        *value = (uint64_t)(leaf->parameter + 1) * NODE;
    else if (node >= 0 && node < NODES)
        *value = leaf->offset == NEXT ? nodes->next[node] : nodes->value[node];
    return leaf->whole || (node >= 0 && node < NODES);
}

/* Wherever the last pointer leads to. */
static bool node_address(void *context, const struct demon_leaf *leaf, bool old, uint64_t *value)
{
    const struct move *m = context;
    const struct nodes *nodes = old ? &m->before : &m->after;
    uint64_t at = (uint64_t)(leaf->parameter + 1) * NODE;
    for (uint32_t i = 0; i < leaf->steps; i++) {
        if (!at || at > (uint64_t)NODES * NODE)
            return false;
        at = nodes->next[at / NODE - 1];
    }
    *value = at + (uint64_t)leaf->offset;
    return true;
}

/* 1, 0, or -1: the values of what is elsewhere decide. */
static int says(const struct demon_expr *e, const struct nodes *before, const struct nodes *after)
{
    struct move m = { *before, *after };
    return demon_evaluate(e, &(struct demon_values){ .leaf = node_value, .address = node_address, .context = &m });
}

/* The last are numbers; the first two the nodes themselves. */
static struct demon_leaf path(unsigned which)
{
    static const char *const names[PATHS] = { "a",   "b",   "a.next",   "b.next",   "a.next.next",
                                              "a.v", "b.v", "a.next.v", "b.next.v", "a.next.next.v" };
    static const unsigned steps[PATHS] = { 0, 0, 0, 0, 1, 0, 0, 1, 1, 2 };
    const bool number = which > 4;
    struct demon_leaf leaf = { .parameter = names[which][0] - 'a', .shared = -1, .steps = steps[which] };
    snprintf(leaf.path, sizeof leaf.path, "%s", names[which]);
    leaf.whole = which < 2;
    leaf.offset = number ? VALUE : NEXT;
    leaf.size = number ? 1 : 8;
    leaf.pointer = !number;
    return leaf;
}

static struct demon_expr *node(enum demon_op op, struct demon_expr *a, struct demon_expr *b)
{
    struct demon_expr *e = calloc(1, sizeof *e);
    assert_non_null(e);
    *e = (struct demon_expr){ .op = op, .a = a, .b = b };
    return e;
}

static struct demon_expr *number_of(int64_t number)
{
    struct demon_expr *e = node(DEMON_NUMBER, NULL, NULL);
    e->number = number;
    return e;
}

static struct demon_expr *leaf_of(enum demon_op op, unsigned which, bool old)
{
    struct demon_expr *e = node(op, NULL, NULL);
    e->leaf = path(which);
    e->old = old;
    return e;
}

/* two: of two states. */
static struct demon_expr *grow_path(bool two, unsigned depth)
{
    const unsigned kind = draw(depth ? 6 : 3);
    const bool old = two && draw(3) == 0, old_too = two && draw(3) == 0;
    if (kind == 0)
        return node(draw(2) ? DEMON_EQUAL : DEMON_UNEQUAL, leaf_of(DEMON_LEAF, 2 + draw(3), old),
                    draw(3)   ? leaf_of(DEMON_LEAF, draw(5), old_too)
                    : draw(2) ? leaf_of(DEMON_ADDRESS, 2 + draw(8), old_too)
                              : number_of(0));
    if (kind == 1 || !two)
        if (kind < 3)
            return node((enum demon_op)(DEMON_EQUAL + draw(6)), leaf_of(DEMON_LEAF, 5 + draw(5), old),
                        draw(2) ? leaf_of(DEMON_LEAF, 5 + draw(5), old_too) : number_of(draw(NUMBERS)));
    if (kind == 2)
        return leaf_of(DEMON_UNCHANGED, 2 + draw(8), false);
    const enum demon_op op = (enum demon_op)(DEMON_NOT + kind - 3 + draw(2));
    return node(op, grow_path(two, depth - 1), op == DEMON_NOT ? NULL : grow_path(two, depth - 1));
}

/* That there are only the states that are enumerated. */
static struct demon_expr *bound_path(bool two)
{
    struct demon_expr *all = NULL;
    for (unsigned i = 0; i < NODES; i++) {
        struct demon_expr *is = node(DEMON_EQUAL, leaf_of(DEMON_LEAF, 2 + i, false), number_of(0));
        for (unsigned k = 0; k < NODES; k++)
            is =
                node(DEMON_OR, is, node(DEMON_EQUAL, leaf_of(DEMON_LEAF, 2 + i, false), leaf_of(DEMON_LEAF, k, false)));
        if (two)
            is = node(DEMON_OR, is, leaf_of(DEMON_UNCHANGED, 2 + i, false));
        is = node(DEMON_AND, is, node(DEMON_LESS, leaf_of(DEMON_LEAF, 5 + i, false), number_of(NUMBERS)));
        all = all ? node(DEMON_AND, all, is) : is;
    }
    return all;
}

static void add_path_clause(struct demon_proc *proc, enum demon_clause_kind kind, struct demon_expr *e)
{
    assert_true(demon_type_condition("random", e, error, sizeof error));
    proc->clause[proc->clauses++] = (struct demon_clause){ .kind = kind, .expr = e };
}

static void add_frames(struct demon_proc *proc, const struct demon_expr *e)
{
    if (!e)
        return;
    if (e->op == DEMON_LEAF && !e->old && !e->leaf.whole && proc->frames < DEMON_LEAVES)
        proc->frame[proc->frames++] = e->leaf;
    add_frames(proc, e->a);
    add_frames(proc, e->b);
}

/* Whether all its paths are there at the start: else nothing is asked. */
static bool is_there(const struct demon_expr *e, const struct nodes *start)
{
    if (!e)
        return true;
    if (e->op != DEMON_LEAF && e->op != DEMON_ADDRESS && e->op != DEMON_UNCHANGED)
        return is_there(e->a, start) && is_there(e->b, start);
    struct demon_leaf before_last = e->leaf;
    before_last.offset = NEXT;
    uint64_t last = 1;
    if (e->leaf.steps) {
        before_last.steps--;
        before_last.whole = false;
        struct move m = { *start, *start };
        last = node_value(&m, &before_last, false, &last) ? last : 0;
    }
    return last;
}

/* A state of those that there are: 256. */
static struct nodes choose_nodes(unsigned i, const struct nodes *start)
{
    struct nodes n;
    for (unsigned k = 0; k < NODES; k++, i /= 4 * NUMBERS) {
        n.next[k] = i % 4 < 3 ? (uint64_t)(i % 4) * NODE : start->next[k];
        n.value[k] = (uint8_t)(i / 4 % NUMBERS);
    }
    return n;
}

enum { CHOICES = 4 * NUMBERS * 4 * NUMBERS };

/* may: unless something elsewhere is what it is not; must: whatever that is. */
struct verdict {
    bool may, must;
};

static void add_case(struct verdict *v, int a, int b, int c)
{
    v->may |= a && b && c;
    v->must |= a == 1 && b == 1 && c == 1;
}

static int both(int a, int b)
{
    return !a || !b ? 0 : a < 0 || b < 0 ? -1 : 1;
}

/* Whether the call of proc 1 may lead from one to the other. */
static int makes(const struct demon_spec *spec, const struct nodes *before, const struct nodes *after)
{
    const struct demon_proc *proc = &spec->proc[1];
    int all = both(says(proc->clause[0].expr, before, before), says(proc->clause[1].expr, before, after));
    for (int k = 0; all && k < NODES; k++)
        for (int offset = NEXT; offset <= VALUE; offset += VALUE) {
            int named = 0;
            for (int i = 0; i < proc->frames; i++) {
                const int was = walk(before, &proc->frame[i]), is = walk(after, &proc->frame[i]);
                const bool fits = proc->frame[i].offset == offset;
                named = fits && (was == k || is == k) ? 1 : fits && is < 0 && !named ? -1 : named;
            }
            const bool same = offset == NEXT ? before->next[k] == after->next[k] : before->value[k] == after->value[k];
            all = same ? all : both(all, named);
        }
    return all;
}

struct path_answers {
    struct verdict unstable, call, twice, help;
};

static struct path_answers enumerate_paths(const struct demon_spec *spec, const struct nodes *start, bool twice)
{
    const struct demon_expr *bounds = spec->proc[0].clause[1].expr;
    struct path_answers is = { .unstable = { false, false } };
    for (unsigned i = 0; i < CHOICES; i++) {
        const struct nodes n = choose_nodes(i, start);
        const int allowed = both(says(bounds, start, &n), says(spec->proc[0].clause[0].expr, start, &n));
        const int holds = says(spec->proc[2].clause[0].expr, &n, &n), broken = holds < 0 ? -1 : !holds;
        const int made = makes(spec, start, &n);
        add_case(&is.unstable, allowed, broken, 1);
        add_case(&is.call, allowed, broken, made);
        add_case(&is.help, made, says(spec->proc[0].clause[2].expr, &n, &n),
                 says(spec->proc[0].clause[3].expr, &n, &n));
        for (unsigned k = 0; twice && allowed && made && k < CHOICES; k++) {
            const struct nodes last = choose_nodes(k, start);
            const int then = both(both(allowed, made), makes(spec, &n, &last));
            const int may =
                then ? both(says(bounds, start, &last), says(spec->proc[0].clause[0].expr, start, &last)) : 0;
            const int held = may ? says(spec->proc[2].clause[0].expr, &last, &last) : 1;
            add_case(&is.twice, then, may, held < 0 ? -1 : !held);
        }
    }
    return is;
}

/* exact: what the formula leaves out of the rely, as it is not there, is nothing. */
static void compare_verdict(const char *what, unsigned n, int answer, bool asked, bool exact, struct verdict v)
{
    if (!asked && answer != DEMON_NOT_ASKED)
        fail_msg("%s %u: nothing could be asked, and the answer is %d", what, n, answer);
    if (asked && ((v.must && answer != DEMON_YES) || (exact && !v.may && answer != DEMON_NO)))
        fail_msg("%s %u: the answer is %d, and enumeration says may %d, must %d", what, n, answer, v.may, v.must);
}

static void ask_path(unsigned n, unsigned *yes, unsigned *decided)
{
    static struct pct_demon_plan plan;
    static struct pct_demon_point point;
    static struct demon_state state;
    static struct demon_model model;
    struct demon_spec *spec = calloc(1, sizeof *spec);
    struct nodes start;
    assert_non_null(spec);
    spec->procs = 3;
    for (int i = 0; i < spec->procs; i++) {
        spec->proc[i].parameters = NODES;
        for (int k = 0; k < NODES; k++)
            spec->proc[i].parameter[k].type.object = spec->proc[i].parameter[k].type.pointer = true;
    }
    model = (struct demon_model){ .spec = spec, .plan = &plan, .objects = NODES };
    plan.cells = 0;
    for (unsigned k = 0; k < NODES; k++) {
        start.next[k] = draw(4) < 3 ? (uint64_t)(1 + draw(2)) * NODE : draw(2) ? (uint64_t)ELSEWHERE : 0;
        start.value[k] = (uint8_t)draw(NUMBERS);
        model.object[k].type = &spec->proc[0].parameter[k].type;
        model.object[k].place = (struct pct_demon_place){ .root = PCT_DEMON_TEST_ARGUMENT, .number = k };
        for (uint32_t offset = NEXT; offset <= VALUE; offset += VALUE) {
            point.cells[plan.cells] = (struct pct_demon_value){ .address = (k + 1) * NODE + offset,
                                                                .value = offset ? start.value[k] : start.next[k],
                                                                .known = 1 };
            plan.cell[plan.cells++] = (struct pct_demon_cell){
                .place = model.object[k].place, .offset = offset, .size = offset ? 1 : 8, .function = UINT32_MAX
            };
        }
    }
    add_path_clause(&spec->proc[0], DEMON_RELY, grow_path(true, 2));
    add_path_clause(&spec->proc[0], DEMON_RELY, bound_path(true));
    add_path_clause(&spec->proc[0], DEMON_WAIT, grow_path(false, 2));
    add_path_clause(&spec->proc[0], DEMON_WAIT, bound_path(false));
    add_path_clause(&spec->proc[1], DEMON_REQUIRE, grow_path(false, 1));
    add_path_clause(&spec->proc[1], DEMON_ENSURE, grow_path(true, 2));
    add_path_clause(&spec->proc[2], DEMON_REQUIRE, grow_path(false, 2));
    add_frames(&spec->proc[1], spec->proc[1].clause[1].expr);
    demon_state_read(&model, &point, &state);
    const struct demon_binding goal = { .proc = &spec->proc[2], .argument = { NODE, 2 * NODE } };
    const struct demon_query query = { .model = &model,
                                       .state = &state,
                                       .goal = &goal,
                                       .test = { .proc = &spec->proc[0], .argument = { NODE, 2 * NODE } } };
    const bool twice = n % 8 == 0;
    const struct path_answers is = enumerate_paths(spec, &start, twice);
    const bool rely = is_there(spec->proc[0].clause[0].expr, &start);
    const bool wait = is_there(spec->proc[0].clause[2].expr, &start);
    const bool goes = is_there(spec->proc[2].clause[0].expr, &start);
    const bool calls = is_there(spec->proc[1].clause[0].expr, &start) && is_there(spec->proc[1].clause[1].expr, &start);
    struct demon_call call[2] = { { .proc = 1, .object = { 0, 1 } }, { .proc = 1, .object = { 0, 1 } } };
    uint64_t after[PCT_DEMON_CELLS];
    compare_verdict("unstable", n, demon_query_unstable(&query), goes, rely, is.unstable);
    compare_verdict("call", n, demon_query_calls(&query, call, 1, after), goes && calls, rely, is.call);
    compare_verdict("help", n, demon_query_helps(&query, call, 1), wait && calls, true, is.help);
    if (twice)
        compare_verdict("two calls", n, demon_query_calls(&query, call, 2, after), goes && calls, rely, is.twice);
    *yes += (goes && is.unstable.must) + (goes && calls && is.call.must) + (wait && calls && is.help.must);
    *decided +=
        (goes && rely && !is.unstable.may) + (goes && calls && rely && !is.call.may) + (wait && calls && !is.help.may);
    for (int i = 0; i < spec->procs; i++)
        for (int k = 0; k < spec->proc[i].clauses; k++)
            cut(spec->proc[i].clause[k].expr);
    free(spec);
}

static void test_pointers(void **unused)
{
    (void)unused;
    const unsigned questions = contracts_wanted(CONTRACTS);
    unsigned yes = 0, no = 0;
    for (unsigned n = 0; n < questions; n++)
        ask_path(n, &yes, &no);
    print_message("# %u contracts along pointers: of 3 questions each, enumeration says yes to %u, no to %u\n",
                  questions, yes, no);
    assert_in_range(yes, questions / 4, questions * 3);
    assert_in_range(no, questions / 4, questions * 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_pointers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
