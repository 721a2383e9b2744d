/* Contracts of `pct demon`: the language and its messages, C's conversions, ghosts, contradictions. */
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
    /* The lock; more, some, fits, not, put; the place of `modifies`. */
    struct demon_annotations said = demon_count_annotations(spec);
    assert_int_equal(said.lock, 1);
    assert_int_equal(said.simple, 5);
    assert_int_equal(said.complex, 1);
    demon_spec_free(spec);
    spec = parse("test t(q) require area: q.a * q.b < 3 * q.c either: q.a = 1 or q.b = 1 rely same: unchanged(q.c)");
    said = demon_count_annotations(spec);
    assert_int_equal(said.simple, 0);
    assert_int_equal(said.complex, 3);
    demon_spec_free(spec);
    /* As C has them; and names of the program's that are words of the language. */
    spec = parse("test test(q) rely a: q.old == 1 && q.wait[12].shared != 2 || q.n = 3");
    assert_non_null(spec);
    assert_string_equal(spec->proc[0].name, "test");
    e = spec->proc[0].clause[0].expr;
    assert_int_equal(e->op, DEMON_OR);
    assert_int_equal(e->a->op, DEMON_AND);
    assert_int_equal(e->a->a->op, DEMON_EQUAL);
    assert_string_equal(e->a->b->a->leaf.path, "q.wait[12].shared");
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
         "wait, assert, array, object) is expected, not rather long");
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
    assert_int_equal(value_of("q.n = 0xffffffff", 4, true, 0xffffffff), 1);      /* unsigned: -1 is, too */
    assert_int_equal(value_of("q.n = 4294967295", 4, true, 0xffffffff), 0);      /* long */
    assert_int_equal(value_of("q.n + 0x80000000 = 0", 4, false, 0x80000000), 1); /* wraps */
    assert_int_equal(value_of("q.n = 0x7fffffff + 1", 4, true, 0x80000000), 1);  /* int */
    assert_int_equal(value_of("q.n < 0x100000000", 4, true, 0xffffffff), 1);     /* long */
    assert_int_equal(value_of("q.n = 037777777777", 4, true, 0xffffffff), 1);
    assert_int_equal(value_of("q.n < -1", 4, false, 5), 1);         /* -1 becomes 4294967295 */
    assert_int_equal(value_of("q.n < 4294967296", 4, false, 5), 1); /* long */
    assert_int_equal(value_of("q.n * 65536 = 0", 4, true, 65536), 1);
    struct demon_spec *spec = parse("test f(q) require x: q.n and q.n = 1");
    shape(spec->proc[0].clause[0].expr, 4, true);
    assert_false(demon_type_check(spec, error, sizeof error));
    assert_string_equal(error, "t.demon:1: a condition is expected, not a number");
    demon_spec_free(spec);
}

/* Of a null pointer, and a member behind it. */
static bool leaf_behind_null(void *context, const struct demon_leaf *leaf, bool old, uint64_t *value)
{
    (void)context;
    (void)old;
    *value = 0;
    return strcmp(leaf->path, "q.p") == 0;
}

/* What is not there decides nothing that is decided without it. */
static void test_missing(void **unused)
{
    (void)unused;
    static const struct {
        const char *condition;
        int is;
    } cases[] = { { "q.p != null and q.p.n = 1", 0 },
                  { "q.p = null and q.p.n = 1", -1 },
                  { "q.p.n = 1 and q.p != null", 0 },
                  { "q.p = null or q.p.n = 1", 1 },
                  { "q.p != null or q.p.n = 1", -1 },
                  { "q.p != null implies q.p.n = 1", 1 },
                  { "q.p = null implies q.p.n = 1", -1 },
                  { "q.p.n = 1 implies q.p = null", 1 },
                  { "q.p.n = 1 implies q.p != null", -1 },
                  { "not (q.p != null and q.p.n = 1)", 1 },
                  { "not q.p.n = 1", -1 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "test f(q) require x: %s", cases[i].condition);
        struct demon_spec *spec = parse(text);
        assert_non_null(spec);
        shape(spec->proc[0].clause[0].expr, 8, false);
        assert_true(demon_type_check(spec, error, sizeof error));
        const struct demon_values values = { .leaf = leaf_behind_null };
        assert_int_equal(demon_evaluate(spec->proc[0].clause[0].expr, &values), cases[i].is);
        demon_spec_free(spec);
    }
}

/* Who enters what gives ghosts their values, behind each entry. */
static void test_ghosts(void **unused)
{
    (void)unused;
    struct pct_demon_plan *plan = test_calloc(1, sizeof *plan + 4 * sizeof plan->point[0]);
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
    struct demon_model model = { .spec = spec, .plan = plan };
    for (uint32_t i = 0; i < 2; i++)
        plan->cell[i] = (struct pct_demon_cell){
            .place = { .root = PCT_DEMON_GHOST, .address = spec->shared[i].address }, .size = 8, .function = UINT32_MAX
        };
    plan->cells = 2;
    plan->points = plan->room = 4;
    for (uint32_t i = 0; i < 4; i++)
        plan->point[i] = (struct pct_demon_point){ .function = i > 0, .arguments = { numbers[i] } };
    demon_state_fill_ghosts(&model, plan);
    static const int64_t sums[] = { 0, 0, 6, 14 }, lasts[] = { 0, 0, -1, 5 };
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(plan->point[i].cells[0].value, sums[i]);
        assert_int_equal(plan->point[i].cells[1].value, lasts[i]);
        assert_true(plan->point[i].cells[1].known);
    }
    test_free(plan);
    demon_spec_free(spec);
}

static void test_contradiction(void **unused)
{
    (void)unused;
    struct demon_spec *spec = parse("test f(q) require a: q.n > 5 b: q.n < 3");
    for (int i = 0; i < 2; i++)
        shape(spec->proc[0].clause[i].expr, 4, true);
    assert_true(demon_type_check(spec, error, sizeof error));
    assert_ptr_equal(demon_query_vacuous(&spec->proc[0]), &spec->proc[0].clause[1]);
    demon_spec_free(spec);
    spec = parse("test f(q) require a: q.n > 5 b: q.n < 7");
    for (int i = 0; i < 2; i++)
        shape(spec->proc[0].clause[i].expr, 4, true);
    assert_true(demon_type_check(spec, error, sizeof error));
    assert_null(demon_query_vacuous(&spec->proc[0]));
    demon_spec_free(spec);
    spec = parse("test f(q) require x: q.end - q.at > 0");
    shape(spec->proc[0].clause[0].expr, 8, false);
    spec->proc[0].clause[0].expr->a->b->leaf.pointer = true;
    assert_false(demon_type_check(spec, error, sizeof error));
    assert_string_equal(error,
                        "t.demon:1: q.at is a pointer: contracts compare pointers, but do not calculate with them");
    demon_spec_free(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_language),      cmocka_unit_test(test_messages), cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_contradiction), cmocka_unit_test(test_ghosts),   cmocka_unit_test(test_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
