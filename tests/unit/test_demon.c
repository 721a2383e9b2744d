/* Contracts of `pct demon`: the language and its messages, C's conversions, and the encoding for the solver against
 * enumeration of all states. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <demon/query.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char error[512];

static struct demon_spec *parse(const char *text)
{
    static char name[] = "t.demon", copy[8192];
    error[0] = 0;
    snprintf(copy, sizeof copy, "%s", text);
    const struct demon_source source = { .name = name, .text = copy, .line = 1 };
    return demon_spec_parse(&source, 1, NULL, error, sizeof error);
}

static void says(const char *text, const char *message)
{
    assert_null(parse(text));
    assert_string_equal(error, message);
}

static void test_language(void **unused)
{
    (void)unused;
    struct demon_spec *spec = parse("-- a queue\n"
                                    "shared limit\n"
                                    "test take(q)\n"
                                    "  rely locked: holds(q.lock) implies unchanged(q.size)\n"
                                    "       more: q.size >= old q.size\n"
                                    "  wait some: q.size > 0\n"
                                    "proc put(q, n)\n"
                                    "  require fits: q.size + n * 2 <= limit and not n = 0\n"
                                    "  ensure put: q.size = old q.size + n\n"
                                    "  modifies q.last\n");
    assert_non_null(spec);
    assert_int_equal(spec->procs, 2);
    assert_string_equal(spec->proc[0].clause[1].tag, "more");
    assert_int_equal(spec->proc[0].clause[2].kind, DEMON_WAIT);
    assert_true(demon_proc_has(&spec->proc[0], DEMON_WAIT));
    assert_false(demon_proc_has(&spec->proc[1], DEMON_WAIT));
    assert_string_equal(spec->proc[1].clause[0].text, "q.size + n * 2 <= limit and not n = 0");
    assert_true(spec->proc[1].acts);
    assert_false(spec->proc[0].acts);
    assert_int_equal(spec->proc[1].frames, 2);
    assert_string_equal(spec->proc[1].frame[0].path, "q.last");
    assert_string_equal(spec->proc[1].frame[1].path, "q.size");
    const struct demon_expr *e = spec->proc[1].clause[0].expr;
    assert_int_equal(e->op, DEMON_AND);
    assert_int_equal(e->a->op, DEMON_AT_MOST);
    assert_int_equal(e->a->a->op, DEMON_ADD);
    assert_int_equal(e->a->a->b->op, DEMON_MULTIPLY);
    assert_int_equal(e->b->op, DEMON_NOT);
    demon_spec_free(spec);
    spec = parse("test take(q) assert \"q.c:12\" some: q.size > 0 locked: holds(q.lock) rely a: 1 = 1\n"
                 "assert \"lib/r.c:3\" few: q.size < 9 assert \"q.c:12\" more: q.size > 1 proc put(q)");
    assert_non_null(spec);
    assert_int_equal(spec->procs, 4);
    assert_int_equal(spec->proc[0].clauses, 1);
    assert_true(spec->proc[1].is_line && spec->proc[2].is_line && !spec->proc[3].is_line);
    assert_string_equal(spec->proc[1].name, "q.c:12");
    assert_int_equal(spec->proc[1].clauses, 3);
    assert_string_equal(spec->proc[1].clause[2].tag, "more");
    assert_string_equal(demon_clause_word(&spec->proc[1], DEMON_REQUIRE), "assert");
    assert_string_equal(spec->proc[1].parameter[0].name, "q");
    assert_string_equal(spec->proc[2].name, "lib/r.c:3");
    assert_false(spec->proc[1].acts);
    demon_spec_free(spec);
    spec = parse("test t(a) require x: a = 1 implies a = 2 implies a - 1 - 1 = 3");
    assert_int_equal(spec->proc[0].clause[0].expr->b->op, DEMON_IMPLIES);
    assert_int_equal(spec->proc[0].clause[0].expr->b->b->a->a->op, DEMON_SUBTRACT);
    demon_spec_free(spec);
}

static void test_messages(void **unused)
{
    (void)unused;
    says("", "t.demon:1: there is no test: `test NAME(PARAMETER, ...)` names the routine");
    says("test f(queue)\n  require a: quue.size > 0",
         "t.demon:2: f has no parameter 'quue', and it is not shared; did you mean queue?");
    says("test f(q)\nreqire a: q.x > 0", "t.demon:2: unknown word reqire; did you mean require?");
    says("test f(q)\n require q.x > 0", "t.demon:2: ':' is expected, not .");
    says("test f(q)\n rely a: q.x >",
         "t.demon:2: the name of a parameter or shared variable is expected, not the end of "
         "the file");
    says("test f(q)\n ensure a: q.x = 1", "t.demon:2: ensure is of a proc, which others may call: f is the test");
    says("test f(q) proc g(q) guarantee a: q.x = 1", "t.demon:1: guarantee is of the test: g is a proc");
    says("test f(q)\n invariant a: q.x = 1 or old q.x = 2",
         "t.demon:2: an invariant is of one state: `old` and `unchanged` are for rely and guarantee");
    says("test f(q)\n guarantee a: holds(q.m) or unchanged(q.x)",
         "t.demon:2: a guarantee spans all that the test does between two points, where locks come and go: no `holds`");
    says("test f(q)\n assert \"q.c:1\" a: q.x = old q.x",
         "t.demon:2: what is asserted at a line is of one state: `old` and `unchanged` are for rely and guarantee");
    says("test f(q)\n assert a: q.x = 1", "t.demon:2: assert is followed by \"FILE:LINE\", not a");
    says("test f(q)\n assert \"q.c\" a: q.x = 1", "t.demon:2: assert is followed by \"FILE:LINE\", not q.c");
    says("test f(q)\n assert \"q.c:1 a: q.x = 1", "t.demon:2: assert is followed by \"FILE:LINE\", not \"");
    says("test f(q)\n assert \"q.c:1\" a: qq.x = 1",
         "t.demon:2: f has no parameter 'qq', and it is not shared; did you mean q?");
    says("test f(q)\nasert \"q.c:1\" a: q.x = 1", "t.demon:2: unknown word asert; did you mean assert?");
    says("test f(q) proc g(q) assert \"q.c:1\" a: q.x = 1", "t.demon:1: assert is of the test: g is a proc");
    says("assert \"q.c:1\" a: 1 = 1", "t.demon:1: 'assert' stands below no test");
    says("test f(q) \"rather long\" g(q)",
         "t.demon:1: shared, ghost, test, proc, or a clause (require, ensure, modifies, rely, guarantee, invariant, "
         "wait, assert) is expected, not rather long");
    says("test f(q)\n wait a: q.x = 1 and holds(q.m)",
         "t.demon:2: what the test waits for is of one state, in which it holds no lock: no `old`, `unchanged` and "
         "`holds`");
    says("test f(q)\n wait a: q.x > old q.x",
         "t.demon:2: what the test waits for is of one state, in which it holds no lock: no `old`, `unchanged` and "
         "`holds`");
    says("test f(q) proc g(q) wait a: q.x = 1", "t.demon:1: wait is of the test: g is a proc");
    const char *ghost = "t.demon:1: a ghost changes by `NAME = ...`, of old values, parameters and numbers alone";
    says("ghost g test f(q) proc p(n) ensure a: g > old g", ghost);
    says("ghost g test f(q) proc p(n) ensure a: g = old g + n or n = 0", ghost);
    says("ghost g test f(q) proc p(q) ensure a: q.x = 1 and g = q.x", ghost);
    says("ghost g test f(q) proc p(n) ensure a: unchanged(g)", ghost);
    says("ghost g test f(q) proc p(n) modifies g", ghost);
    says("ghots g test f(q)", "t.demon:1: unknown word ghots; did you mean ghost?");
    says("invariant a: 1 = 1", "t.demon:1: 'invariant' stands below no proc or test");
    says("test f(q) invriant a: 1 = 1", "t.demon:1: unknown word invriant; did you mean invariant?");
    says("test f(q) proc f(q)", "t.demon:1: f is there already (t.demon:1)");
    says("test f(a, b, c, d, e, f, g)", "t.demon:1: f has more than 6 parameters");
    says("test f(a) require x: a = 99999999999999999999",
         "t.demon:1: '99999999999999999999' is not a number below 2^63");
    char deep[4096] = "test f(a) require x: ";
    memset(deep + strlen(deep), '(', 3000);
    assert_null(parse(deep));
}

/* Make all leaves of a condition scalars of this size. */
static void shape(struct demon_expr *e, uint32_t size, bool is_signed)
{
    if (!e)
        return;
    e->leaf.size = size;
    e->leaf.is_signed = is_signed;
    shape(e->a, size, is_signed);
    shape(e->b, size, is_signed);
}

static bool constant_leaf(void *context, const struct demon_leaf *leaf, bool old, uint64_t *value)
{
    (void)leaf;
    (void)old;
    *value = *(const uint64_t *)context;
    return true;
}

static int value_of(const char *condition, uint32_t size, bool is_signed, uint64_t value)
{
    char text[256];
    snprintf(text, sizeof text, "test f(q) require x: %s", condition);
    struct demon_spec *spec = parse(text);
    assert_non_null(spec);
    struct demon_expr *e = spec->proc[0].clause[0].expr;
    shape(e, size, is_signed);
    assert_true(demon_type_condition("t.demon", e, error, sizeof error));
    const struct demon_values values = { .leaf = constant_leaf, .context = &value };
    int result = demon_evaluate(e, &values);
    demon_spec_free(spec);
    return result;
}

static void test_conversions(void **unused)
{
    (void)unused;
    assert_int_equal(value_of("q.n - 1 > 0", 4, false, 0), 1); /* unsigned: 4294967295 */
    assert_int_equal(value_of("q.n - 1 > 0", 4, true, 0), 0);  /* int */
    assert_int_equal(value_of("q.n - 1 > 0", 1, false, 0), 0); /* promoted to int */
    assert_int_equal(value_of("q.n < 0", 1, true, 0xff), 1);   /* signed char: -1 */
    assert_int_equal(value_of("q.n = 255", 1, false, 0xff), 1);
    assert_int_equal(value_of("q.n < -1", 4, false, 5), 1);         /* -1 becomes 4294967295 */
    assert_int_equal(value_of("q.n < 4294967296", 4, false, 5), 1); /* long */
    assert_int_equal(value_of("q.n * 65536 = 0", 4, true, 65536), 1);
    struct demon_spec *spec = parse("test f(q) require x: q.n and q.n = 1");
    shape(spec->proc[0].clause[0].expr, 4, true);
    assert_false(demon_type_check(spec, error, sizeof error));
    assert_string_equal(error, "t.demon:1: a condition is expected, not a number");
    demon_spec_free(spec);
}

/* Who enters what gives ghosts their values, behind each entry. */
static void test_ghosts(void **unused)
{
    (void)unused;
    static struct {
        struct pct_demon_plan plan;
        struct pct_demon_point point[4];
    } run;
    static const uint64_t numbers[] = { 0, 3, 4, 5 };
    struct demon_spec *spec = parse("ghost sum, last\n"
                                    "test f(n)\n"
                                    "proc add(n) ensure one: sum = old sum + n * 2 and last = old sum - 1\n"
                                    "proc act(q) ensure two: q.x = 1 and last = 7\n");
    assert_non_null(spec);
    assert_false(spec->proc[1].acts); /* by ghosts alone nobody may call it */
    assert_true(spec->proc[2].acts);
    for (int i = 1; i < spec->procs; i++) {
        shape(spec->proc[i].clause[0].expr, 8, true);
        spec->proc[i].parameter[0].type = (struct demon_type){ .size = 8, .is_signed = true };
    }
    struct demon_expr *e = spec->proc[1].clause[0].expr;
    e->a->b->b->a->leaf.whole = true; /* n */
    assert_true(demon_type_condition("t.demon", e, error, sizeof error));
    struct demon_model model = { .spec = spec, .plan = &run.plan };
    for (uint32_t i = 0; i < 2; i++)
        run.plan.cell[i] = (struct pct_demon_cell){
            .place = { .root = PCT_DEMON_GHOST, .address = spec->shared[i].address }, .size = 8, .function = UINT32_MAX
        };
    run.plan.cells = 2;
    run.plan.points = run.plan.room = 4;
    for (uint32_t i = 0; i < 4; i++)
        run.point[i] = (struct pct_demon_point){ .function = i > 0, .arguments = { numbers[i] } };
    demon_state_fill_ghosts(&model, &run.plan);
    static const int64_t sums[] = { 0, 0, 6, 14 }, lasts[] = { 0, 0, -1, 5 };
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(run.plan.point[i].cells[0].value, sums[i]);
        assert_int_equal(run.plan.point[i].cells[1].value, lasts[i]);
        assert_true(run.plan.point[i].cells[1].known);
    }
    demon_spec_free(spec);
}

static void test_contradiction(void **unused)
{
    (void)unused;
    struct demon_spec *spec = parse("test f(q) require a: q.n > 5 b: q.n < 3");
    for (int i = 0; i < 2; i++)
        shape(spec->proc[0].clause[i].expr, 4, true);
    assert_true(demon_type_check(spec, error, sizeof error));
    assert_true(demon_query_vacuous(&spec->proc[0]));
    demon_spec_free(spec);
    spec = parse("test f(q) require a: q.n > 5 b: q.n < 7");
    for (int i = 0; i < 2; i++)
        shape(spec->proc[0].clause[i].expr, 4, true);
    assert_true(demon_type_check(spec, error, sizeof error));
    assert_false(demon_query_vacuous(&spec->proc[0]));
    demon_spec_free(spec);
}

/* --- The encoding against enumeration ----------------------------------------------------------------------------- */

enum { LEAVES = 2, BITS = 2, STATES = 1 << (2 * LEAVES * BITS), CONTRACTS = 200 };

struct world {
    struct demon_solver *solver;
    demon_term term[2 * LEAVES];
    unsigned state; /* BITS for each leaf, now and before */
};

static uint64_t seed = 1;

static unsigned draw(unsigned below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % below;
}

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

static void cut(struct demon_expr *e)
{
    if (!e)
        return;
    cut(e->a);
    cut(e->b);
    free(e);
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
    const char *asked = getenv("CONTRACTS");
    const unsigned contracts = asked ? (unsigned)strtoul(asked, NULL, 10) : CONTRACTS;
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
        for (w.state = 0; w.state < STATES && !some; w.state++)
            some = demon_evaluate(e, &values) == 1;
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
        demon_state_read(&model, &point, &state);
        const struct demon_binding goal = { .proc = &spec->proc[2], .argument = { OBJECT } };
        const struct demon_query query = {
            .model = &model, .state = &state, .goal = &goal, .test = { .proc = &spec->proc[0], .argument = { OBJECT } }
        };
        const uint8_t start[LEAVES] = { (uint8_t)point.cells[0].value, (uint8_t)point.cells[1].value };
        const struct answers is = enumerate(spec, start);
        struct demon_call call = { .proc = 1 };
        uint64_t after[PCT_DEMON_CELLS];
        assert_int_equal(demon_query_unstable(&query), is.unstable);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_language),      cmocka_unit_test(test_messages), cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_contradiction), cmocka_unit_test(test_ghosts),   cmocka_unit_test(test_encoding),
        cmocka_unit_test(test_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
