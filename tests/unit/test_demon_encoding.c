/* Contracts of `pct demon`: the encoding for the solver, and the questions, against enumeration of all states, in which
 * the compiler says what holds. `make check-demon` asks about 10,000 contracts. */
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
#include <stdlib.h>
#include <string.h>

static char error[512];

enum { LEAVES = 2, BITS = 2, STATES = 1 << (2 * LEAVES * BITS), CONTRACTS = 200 };

struct world {
    struct demon_solver *solver;
    demon_term term[2 * LEAVES];
    unsigned state; /* BITS for each leaf, now and before */
};

/* Spread over the bytes: 0, 1, 0x7f.., 0x80...: where signs and carries are. */
static uint64_t spread(unsigned bits)
{
    static const uint64_t values[] = { 0, 1, UINT64_C(0x7f7f7f7f7f7f7f7f), UINT64_C(0x8080808080808080) };
    return values[bits];
}

static uint64_t mask(const struct demon_leaf *leaf, uint64_t value)
{
    return leaf->size == 8 ? value : value & ((UINT64_C(1) << leaf->size * 8) - 1);
}

static uint64_t at(const struct world *w, const struct demon_leaf *leaf, bool old)
{
    unsigned index = (unsigned)leaf->offset * 2 + old;
    return mask(leaf, spread(w->state >> (index * BITS) & ((1u << BITS) - 1)));
}

static bool world_value(void *context, const struct demon_leaf *leaf, bool old, uint64_t *value)
{
    *value = at(context, leaf, old);
    return true;
}

static bool world_term(void *context, const struct demon_leaf *leaf, bool old, demon_term *term)
{
    const struct world *w = context;
    *term = w->term[leaf->offset * 2 + old];
    return true;
}

static bool world_holds(void *context, const struct demon_leaf *leaf, bool *held)
{
    (void)context;
    *held = leaf->offset == 0;
    return true;
}

/* --- What the compiler says --------------------------------------------------------------------------------------- */

/* A number of C's, of one of the types that are left behind promotions, and what a comparison says. */
enum { IS_INT, IS_UNSIGNED, IS_LONG, IS_UNSIGNED_LONG };
struct number {
    int type;
    uint64_t bits;
    bool truth;
};

#define TYPE_OF(x) _Generic((x), int : IS_INT, unsigned : IS_UNSIGNED, long : IS_LONG, unsigned long : IS_UNSIGNED_LONG)

#pragma GCC diagnostic ignored "-Wsign-compare"

/* The compiler chooses the type of each result; what does not fit wraps, as the contracts have it. */
#define PAIR(type, A, B)                                                                                               \
    case type: {                                                                                                       \
        const A x = (A)a.bits;                                                                                         \
        const B y = (B)b.bits;                                                                                         \
        __typeof__(x + y) sum = 0;                                                                                     \
        bool truth = op == DEMON_EQUAL     ? x == y                                                                    \
                     : op == DEMON_UNEQUAL ? x != y                                                                    \
                     : op == DEMON_LESS    ? x < y                                                                     \
                     : op == DEMON_AT_MOST ? x <= y                                                                    \
                     : op == DEMON_GREATER ? x > y                                                                     \
                                           : x >= y;                                                                   \
        (void)(op == DEMON_ADD        ? __builtin_add_overflow(x, y, &sum)                                             \
               : op == DEMON_SUBTRACT ? __builtin_sub_overflow(x, y, &sum)                                             \
                                      : __builtin_mul_overflow(x, y, &sum));                                           \
        return (struct number){ TYPE_OF(sum), (uint64_t)sum, truth };                                                  \
    }
#define PAIRS(type, A)                                                                                                 \
    PAIR(type + IS_INT, A, int)                                                                                        \
    PAIR(type + IS_UNSIGNED, A, unsigned)                                                                              \
    PAIR(type + IS_LONG, A, long) PAIR(type + IS_UNSIGNED_LONG, A, unsigned long)

static struct number compute(enum demon_op op, struct number a, struct number b)
{
    switch (a.type * 4 + b.type) {
        PAIRS(IS_INT * 4, int)
        PAIRS(IS_UNSIGNED * 4, unsigned)
        PAIRS(IS_LONG * 4, long)
        PAIRS(IS_UNSIGNED_LONG * 4, unsigned long)
    default:
        abort();
    }
}

static struct number promote(const struct demon_leaf *leaf, uint64_t bits)
{
#define PROMOTE(size_, sign, T)                                                                                        \
    if (leaf->size == (size_) && leaf->is_signed == (sign))                                                            \
        return (struct number){ TYPE_OF(+(T)bits), (uint64_t) + (T)bits, false };
    PROMOTE(1, true, int8_t)
    PROMOTE(1, false, uint8_t)
    PROMOTE(2, true, int16_t)
    PROMOTE(2, false, uint16_t)
    PROMOTE(4, true, int32_t)
    PROMOTE(4, false, uint32_t)
    PROMOTE(8, true, int64_t)
    PROMOTE(8, false, uint64_t)
#undef PROMOTE
    abort();
}

static struct number number_in_c(const struct demon_expr *e, const struct world *w)
{
    if (e->op == DEMON_NUMBER)
        return (struct number){ e->number <= INT32_MAX ? IS_INT : IS_LONG, (uint64_t)e->number, false };
    if (e->op == DEMON_LEAF)
        return promote(&e->leaf, at(w, &e->leaf, e->old));
    return compute(e->op, number_in_c(e->a, w), number_in_c(e->b, w));
}

static bool holds_in_c(const struct demon_expr *e, const struct world *w)
{
    switch (e->op) {
    case DEMON_HOLDS:
        return e->leaf.offset == 0;
    case DEMON_UNCHANGED:
        return at(w, &e->leaf, true) == at(w, &e->leaf, false);
    case DEMON_NOT:
        return !holds_in_c(e->a, w);
    case DEMON_AND:
        return holds_in_c(e->a, w) && holds_in_c(e->b, w);
    case DEMON_OR:
        return holds_in_c(e->a, w) || holds_in_c(e->b, w);
    case DEMON_IMPLIES:
        return !holds_in_c(e->a, w) || holds_in_c(e->b, w);
    default:
        return number_in_c(e, w).truth;
    }
}

/* --- Random contracts --------------------------------------------------------------------------------------------- */

static struct demon_expr *grow(const struct demon_leaf *leaves, bool condition, unsigned depth)
{
    struct demon_expr *e = calloc(1, sizeof *e);
    assert_non_null(e);
    e->leaf = leaves[draw(LEAVES)];
    e->old = draw(2);
    if (!condition) {
        unsigned kind = depth ? draw(5) : draw(2);
        e->op = kind == 0 ? DEMON_NUMBER : kind == 1 ? DEMON_LEAF : (enum demon_op)(DEMON_ADD + kind - 2);
        e->number = draw(2) ? (int64_t)draw(4) : (int64_t)spread(2) >> (draw(8) * 8);
        if (kind > 1) {
            e->a = grow(leaves, false, depth - 1);
            e->b = grow(leaves, false, depth - 1);
        }
        return e;
    }
    unsigned kind = depth ? draw(12) : draw(8);
    if (kind < 6) {
        e->op = (enum demon_op)(DEMON_EQUAL + kind);
        e->a = grow(leaves, false, depth ? depth - 1 : 0);
        e->b = grow(leaves, false, depth ? depth - 1 : 0);
    } else if (kind < 8) {
        e->op = kind == 6 ? DEMON_UNCHANGED : DEMON_HOLDS;
        e->leaf.lock = kind == 7;
    } else {
        e->op = (enum demon_op)(DEMON_NOT + kind - 8);
        e->a = grow(leaves, true, depth - 1);
        e->b = e->op == DEMON_NOT ? NULL : grow(leaves, true, depth - 1);
    }
    return e;
}

/* Each term is one of the spread values. */
static void bound(struct world *w, const struct demon_leaf *leaves)
{
    for (unsigned i = 0; i < 2 * LEAVES; i++) {
        const struct demon_leaf *leaf = &leaves[i / 2];
        demon_term any = demon_solver_truth(w->solver, false);
        w->term[i] = demon_solver_variable(w->solver, leaf->size * 8);
        for (unsigned k = 0; k < 1 << BITS; k++) {
            demon_term value = demon_solver_number(w->solver, mask(leaf, spread(k)), leaf->size * 8);
            any = demon_solver_apply(w->solver, DEMON_OR, false, any,
                                     demon_solver_apply(w->solver, DEMON_EQUAL, false, w->term[i], value));
        }
        demon_solver_assert(w->solver, any);
    }
}

static void test_encoding(void **unused)
{
    (void)unused;
    const unsigned contracts = contracts_wanted(CONTRACTS);
    unsigned can = 0, unknown = 0; /* unknown: long products take Z3 too long */
    for (unsigned n = 0; n < contracts; n++) {
        struct demon_leaf leaves[LEAVES];
        for (unsigned i = 0; i < LEAVES; i++)
            leaves[i] = (struct demon_leaf){ .offset = i, .size = 1u << draw(4), .is_signed = draw(2) };
        struct demon_expr *e = grow(leaves, true, 2);
        struct world w = { .solver = demon_solver_open() };
        assert_true(demon_type_condition("random", e, error, sizeof error));
        const struct demon_values values = { .leaf = world_value, .holds = world_holds, .context = &w };
        const struct demon_terms terms = { .leaf = world_term, .holds = world_holds, .context = &w };
        bool some = false;
        for (w.state = 0; w.state < STATES; w.state++) {
            bool is = holds_in_c(e, &w);
            if (demon_evaluate(e, &values) != is)
                fail_msg("contract %u: the compiler says %d in state %u", n, is, w.state);
            some |= is;
        }
        bound(&w, leaves);
        demon_solver_assert(w.solver, demon_encode(w.solver, e, &terms));
        int answer = demon_solver_check(w.solver);
        if (answer >= 0 && answer != some)
            fail_msg("contract %u: enumeration says %d", n, some);
        unknown += answer < 0;
        can += some;
        demon_solver_close(w.solver);
        cut(e);
    }
    print_message("# %u contracts, %u satisfiable, %u without an answer\n", contracts, can, unknown);
    assert_in_range(unknown, 0, contracts / 50);
    /* Both answers are common. */
    assert_in_range(can, contracts / 10, contracts - contracts / 20);
}

/* --- The questions against enumeration ---------------------------------------------------------------------------- */

enum { OBJECT = 0x1000, QUESTIONS = 40 };

/* A structure of two bytes at OBJECT, in two states. */
struct bytes {
    uint8_t before[LEAVES], after[LEAVES];
};

static bool byte_value(void *context, const struct demon_leaf *leaf, bool old, uint64_t *value)
{
    const struct bytes *b = context;
    *value = old ? b->before[leaf->offset] : b->after[leaf->offset];
    return true;
}

static int holds_in(const struct demon_expr *e, const struct bytes *bytes)
{
    struct bytes copy = *bytes;
    return demon_evaluate(e, &(struct demon_values){ .leaf = byte_value, .context = &copy });
}

/* Locks are none of these states'; `one_state`: there is no other. */
static void simplify(struct demon_expr *e, bool one_state)
{
    if (!e)
        return;
    if (e->op == DEMON_HOLDS || (one_state && e->op == DEMON_UNCHANGED))
        e->op = DEMON_TRUE;
    e->old &= !one_state;
    simplify(e->a, one_state);
    simplify(e->b, one_state);
}

static void add_clause(struct demon_proc *proc, enum demon_clause_kind kind, const struct demon_leaf *leaves)
{
    struct demon_expr *e = grow(leaves, true, 2);
    simplify(e, kind == DEMON_WAIT || kind == DEMON_REQUIRE);
    assert_true(demon_type_condition("random", e, error, sizeof error));
    proc->clause[proc->clauses++] = (struct demon_clause){ .kind = kind, .expr = e };
}

static bool names(const struct demon_expr *e, uint32_t offset)
{
    return e &&
           ((e->op == DEMON_LEAF && !e->old && e->leaf.offset == offset) || names(e->a, offset) || names(e->b, offset));
}

/* What enumeration says: whether any interference that the rely allows breaks the goal, whether one call does, and
 * whether one lets the test go on. */
struct answers {
    bool unstable, call, help;
};

static struct answers enumerate(const struct demon_spec *spec, const uint8_t start[LEAVES])
{
    const struct demon_expr *rely = spec->proc[0].clause[0].expr, *wait = spec->proc[0].clause[1].expr;
    const struct demon_expr *require = spec->proc[1].clause[0].expr, *ensure = spec->proc[1].clause[1].expr;
    const struct demon_expr *goal = spec->proc[2].clause[0].expr;
    const bool may = holds_in(require, &(struct bytes){ .after = { start[0], start[1] } });
    struct answers is = { .unstable = false };
    for (unsigned i = 0; i < 1 << 16; i++) {
        struct bytes b = { { start[0], start[1] }, { (uint8_t)i, (uint8_t)(i >> 8) } };
        bool allowed = holds_in(rely, &b), broken = !holds_in(goal, &b), made = may;
        for (uint32_t k = 0; k < LEAVES; k++)
            made &= names(ensure, k) || b.before[k] == b.after[k];
        made = made && holds_in(ensure, &b);
        is.unstable |= allowed && broken;
        is.call |= made && allowed && broken;
        is.help |= made && holds_in(wait, &b);
    }
    return is;
}

static void test_questions(void **unused)
{
    (void)unused;
    static struct pct_demon_plan plan;
    static struct pct_demon_point point;
    static struct demon_state state;
    unsigned yes = 0;
    struct demon_leaf leaves[LEAVES];
    for (uint32_t i = 0; i < LEAVES; i++) {
        leaves[i] = (struct demon_leaf){ .shared = -1, .offset = i, .size = 1 };
        snprintf(leaves[i].path, sizeof leaves[i].path, "q.%c", (char)('a' + i));
        plan.cell[i] = (struct pct_demon_cell){ .offset = i, .size = 1, .function = UINT32_MAX };
        point.cells[i] = (struct pct_demon_value){ .address = OBJECT + i, .known = 1 };
    }
    plan.cells = LEAVES;
    for (unsigned n = 0; n < QUESTIONS; n++) {
        struct demon_spec *spec = calloc(1, sizeof *spec);
        assert_non_null(spec);
        spec->procs = 3; /* the test, what others may call, and what the test enters */
        for (int i = 0; i < spec->procs; i++) {
            spec->proc[i].parameters = 1;
            spec->proc[i].parameter[0].type.object = spec->proc[i].parameter[0].type.pointer = true;
        }
        for (uint32_t i = 0; i < LEAVES; i++) {
            leaves[i].is_signed = draw(2);
            point.cells[i].value = mask(&leaves[i], spread(draw(4)));
        }
        add_clause(&spec->proc[0], DEMON_RELY, leaves);
        add_clause(&spec->proc[0], DEMON_WAIT, leaves);
        add_clause(&spec->proc[1], DEMON_REQUIRE, leaves);
        add_clause(&spec->proc[1], DEMON_ENSURE, leaves);
        add_clause(&spec->proc[2], DEMON_REQUIRE, leaves);
        for (uint32_t i = 0; i < LEAVES; i++)
            if (names(spec->proc[1].clause[1].expr, i))
                spec->proc[1].frame[spec->proc[1].frames++] = leaves[i];
        struct demon_model model = { .spec = spec, .plan = &plan, .objects = 1 };
        model.object[0].type = &spec->proc[0].parameter[0].type;
        spec->proc[1].acts = true;
        demon_state_read(&model, &point, &state);
        const struct demon_binding goal = { .proc = &spec->proc[2], .argument = { OBJECT } };
        struct demon_query query = {
            .model = &model, .state = &state, .goal = &goal, .test = { .proc = &spec->proc[0], .argument = { OBJECT } }
        };
        const uint8_t start[LEAVES] = { (uint8_t)point.cells[0].value, (uint8_t)point.cells[1].value };
        const struct answers is = enumerate(spec, start);
        struct demon_call call = { .proc = 1 };
        uint64_t after[PCT_DEMON_CELLS];
        assert_int_equal(demon_query_unstable(&query), is.unstable);
        query.by_calls = true;
        assert_in_range(demon_query_unstable(&query), is.call, is.unstable);
        query.by_calls = false;
        assert_int_equal(demon_query_calls(&query, &call, 1, after), is.call);
        assert_int_equal(demon_query_helps(&query, &call, 1), is.help);
        yes += is.unstable + is.call + is.help;
        for (int i = 0; i < spec->procs; i++)
            for (int k = 0; k < spec->proc[i].clauses; k++)
                cut(spec->proc[i].clause[k].expr);
        free(spec);
    }
    assert_in_range(yes, QUESTIONS / 2, QUESTIONS * 5 / 2); /* both answers are common */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_encoding), cmocka_unit_test(test_questions) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
