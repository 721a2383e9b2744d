/* Each row of the table of what commutes, made wrong on purpose: random programs must notice, by a behaviour that brute
 * force meets and the search does not, or by redundant runs. What cannot be noticed stands here, with the reason. */
#include "compared.h"
#include <cli/explore/rows.h>
#include <string.h>

#define pct_uses_commute right_uses
#include <cli/explore/commute.c>
#undef pct_uses_commute
#define pct_row_of right_row
#include <cli/explore/rows.c>
#undef pct_row_of

/* The tables under test: right, but for this. */
enum what { USES, IGNORED, WAITS };
struct mutant {
    enum what what;
    int a, b; /* two uses; or an operation */
    bool noticed;
};
static const struct mutant *wrong;

bool pct_uses_commute(enum pct_use a, enum pct_use b)
{
    if (wrong && wrong->what == USES &&
        (((int)a == wrong->a && (int)b == wrong->b) || ((int)a == wrong->b && (int)b == wrong->a)))
        return true;
    return right_uses(a, b);
}

struct pct_row pct_row_of(enum pct_op op)
{
    struct pct_row row = right_row(op);
    if (wrong && wrong->what == IGNORED && wrong->a == (int)op)
        row.use = row.failed = PCT_ROW_NOTHING;
    if (wrong && wrong->what == WAITS && wrong->a == (int)op)
        row.waits = false;
    return row;
}

enum { MUTANTS = 400 };
static struct mutant mutants[MUTANTS];
static size_t count;

static void add(enum what what, int a, int b)
{
    assert_true(count < MUTANTS);
    mutants[count++] = (struct mutant){ .what = what, .a = a, .b = b };
}

static const char *const op_names[] = {
#define NAME(id, name, class) [PCT_OP_##id] = name,
    PCT_OPS(NAME)
#undef NAME
};

static const char *const use_names[] = { "any", "reads", "takes",  "gives",   "busy", "shares",   "parts", "down",
                                         "up",  "empty", "nobody", "arrives", "ends", "detaches", "frees", "passes" };

/* What can be done to one object. */
static void add_pairs(const enum pct_use *uses)
{
    for (size_t i = 0; uses[i] || !i; i++)
        for (size_t j = 0; j <= i; j++)
            if (!right_uses(uses[i], uses[j]) && (i || uses[1] == PCT_USE_READS))
                add(USES, (int)uses[i], (int)uses[j]);
}

static void add_uses(void)
{
    static const enum pct_use
        memory[] = { PCT_USE_ANY, PCT_USE_READS, 0 },
        lock[] = { PCT_USE_ANY, PCT_USE_TAKES, PCT_USE_GIVES, PCT_USE_BUSY, PCT_USE_SHARES, PCT_USE_PARTS, 0 },
        sem[] = { PCT_USE_ANY, PCT_USE_DOWN, PCT_USE_UP, PCT_USE_EMPTY, 0 },
        cond[] = { PCT_USE_ANY, PCT_USE_NOBODY, 0 }, barrier[] = { PCT_USE_ANY, PCT_USE_ARRIVES, 0 },
        thread[] = { PCT_USE_ANY, PCT_USE_ENDS, PCT_USE_DETACHES, 0 };
    for (size_t i = 0; lock[i] || !i; i++)
        if (!right_uses(PCT_USE_PASSES, lock[i]))
            add(USES, PCT_USE_PASSES, (int)lock[i]);
    add_pairs(memory);
    add_pairs(lock);
    add_pairs(sem);
    add_pairs(cond);
    add_pairs(barrier);
    add_pairs(thread);
}

/* Whether a behaviour is missed, or a run is redundant. */
static bool notices(const struct sim_program *program, const struct hashes *all)
{
    search_all(program, PCT_UNBOUNDED, 4 * classes.count + 100);
    bool seen = !explored_slack && !waits_in_kernel && (facts.redundant || facts.unplanned);
    for (size_t i = 0; i < all->count && !seen; i++)
        seen = hashes_add(&found_behaviours, all->at[i]);
    return seen || twice;
}

/* Rows that hardly any random program depends on. */
static const struct sim_program directed[] = {
    { .thread = { THREAD(CREATE(1), CREATE(2)), THREAD(LOCK(0), WAIT(0, 0), UNLOCK(0)), THREAD(SIGNAL(0)) } },
    { .thread = { THREAD(CREATE(1), CREATE(2)), THREAD(LOCK(0), WAIT(0, 0), UNLOCK(0)), THREAD(BROADCAST(0)) } },
    { .thread = { THREAD(CREATE(1), CREATE(2)), THREAD(WRITE(0, 1), RDLOCK(0), RWUNLOCK(0)),
                  THREAD(TRYWRLOCK(0), UNLESS(1, 1), RWUNLOCK(0), READ(0)) } },
    { .thread = { THREAD(CREATE(1), CREATE(2)), THREAD(RDLOCK(0), WRITE(0, 1), RDLOCK(1)),
                  THREAD(WRLOCK(0), READ(0)) } },
    { .thread = { THREAD(CREATE(1), EXITING, KERNEL(1), EXIT_NOW), THREAD(EXITING, KERNEL(0), EXIT_NOW) } },
    { .thread = { THREAD(CREATE(1), CREATE(2), JOIN(1), DETACH(2)), THREAD(WRITE(0, 1)), THREAD(DETACH(1)) } },
    { .thread = { THREAD(CREATE(1), CREATE(2)), THREAD(LOCK(0), WAIT(0, 0), UNLOCK(0)),
                  THREAD(LOCK(0), SIGNAL(0), UNLOCK(0)) } },
    { .thread = { THREAD(CREATE(1), CREATE(2)), THREAD(SPINLOCK(0), WRITE(0, 1), WRITE(0, 2), SPINUNLOCK(0)),
                  THREAD(PASS(0), READ(0)) } },
    { .thread = { THREAD(CREATE(1), CREATE(2)), THREAD(LOCK(2)),
                  THREAD(LOCK(2), UNLESS(2, 1), CONSISTENT(2), TRYLOCK(3)) },
      .robust = 12 },
};

/* What cannot be noticed, and why. */
#define ONE_HOLDER "only who has the lock gives it back, or repairs it"
#define NO_SHARE "nobody shares the lock of a stream"
#define NO_OBJECT "an event without an object is in no race"
#define UNDEFINED                                                                                                      \
    "to use what is being initialised or destroyed is undefined; the row says that it commutes with nothing"
#define TRIED "where what it waits for is not there, the run shows that"
static const struct {
    enum what what;
    int a, b;
    const char *why;
} equal[] = {
    { USES, PCT_USE_GIVES, PCT_USE_GIVES, ONE_HOLDER },
    { USES, PCT_USE_PARTS, PCT_USE_GIVES, ONE_HOLDER },
    { USES, PCT_USE_PARTS, PCT_USE_TAKES, "who takes the lock behind the last share is in a race with who took that" },
    { USES, PCT_USE_BUSY, PCT_USE_ANY, "a failed try and a failed destroy change nothing" },
    { USES, PCT_USE_SHARES, PCT_USE_ANY, UNDEFINED },
    { USES, PCT_USE_PARTS, PCT_USE_ANY, UNDEFINED },
    { USES, PCT_USE_PASSES, PCT_USE_ANY, UNDEFINED },
    { USES, PCT_USE_PASSES, PCT_USE_SHARES, NO_SHARE },
    { USES, PCT_USE_PASSES, PCT_USE_PARTS, NO_SHARE },
    { USES, PCT_USE_ENDS, PCT_USE_ENDS, "a thread ends once" },
    { USES, PCT_USE_DETACHES, PCT_USE_ANY, "no thread may be joined and detached" },
    { USES, PCT_USE_DETACHES, PCT_USE_DETACHES, "no thread may be detached twice" },
    { IGNORED, PCT_OP_THREAD_DETACH, 0, "nothing but a join or another detach could tell, and may not" },
    { WAITS, PCT_OP_THREAD_START, 0, NO_OBJECT },
    { WAITS, PCT_OP_BARRIER_LEAVE, 0, NO_OBJECT },
    { WAITS, PCT_OP_FUTEX_WOKEN, 0, NO_OBJECT },
    { WAITS, PCT_OP_AWAKE, 0, NO_OBJECT },
    { WAITS, PCT_OP_FUTEX_WAIT, 0, "the look at the word does not wait, and the wait has no object" },
    { WAITS, PCT_OP_THREAD_JOIN, 0, "that it waits for the end stands in order.c" },
    { WAITS, PCT_OP_READ, 0, TRIED },
    { WAITS, PCT_OP_WRITE, 0, TRIED },
    { IGNORED, PCT_OP_MUTEX_INIT, 0, UNDEFINED },
    { IGNORED, PCT_OP_MUTEX_CONSISTENT, 0, ONE_HOLDER },
    { IGNORED, PCT_OP_COND_INIT, 0, UNDEFINED },
    { IGNORED, PCT_OP_COND_DESTROY, 0, UNDEFINED },
    { WAITS, PCT_OP_COND_DESTROY, 0, UNDEFINED },
    { IGNORED, PCT_OP_RWLOCK_INIT, 0, UNDEFINED },
    { IGNORED, PCT_OP_RWLOCK_DESTROY, 0, UNDEFINED },
    { IGNORED, PCT_OP_BARRIER_INIT, 0, UNDEFINED },
    { IGNORED, PCT_OP_BARRIER_DESTROY, 0, UNDEFINED },
    { WAITS, PCT_OP_BARRIER_DESTROY, 0, UNDEFINED },
    { IGNORED, PCT_OP_SPIN_INIT, 0, UNDEFINED },
    { IGNORED, PCT_OP_SPIN_DESTROY, 0, UNDEFINED },
    { IGNORED, PCT_OP_SEM_DESTROY, 0, UNDEFINED },
    { WAITS, PCT_OP_POLL, 0, TRIED },
    { WAITS, PCT_OP_CLOSE, 0, TRIED },
    { WAITS, PCT_OP_ACCEPT, 0, TRIED },
    { WAITS, PCT_OP_CONNECT, 0, TRIED },
    { WAITS, PCT_OP_SHUTDOWN, 0, TRIED },
    { WAITS, PCT_OP_FILE_LOCK, 0, TRIED },
    { WAITS, PCT_OP_FILE_UNLOCK, 0, TRIED },
    { WAITS, PCT_OP_MESSAGE, 0, TRIED },
    { WAITS, PCT_OP_OPEN, 0, TRIED },
};

static const char *why_equal(const struct mutant *m)
{
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++)
        if (equal[i].what == m->what && equal[i].a == m->a && equal[i].b == m->b)
            return equal[i].why;
    return NULL;
}

static void add_operations(void)
{
    for (int op = 1; op < PCT_OP_COUNT; op++) {
        struct pct_row row = right_row((enum pct_op)op);
        if (row.use == PCT_ROW_UNKNOWN)
            continue;
        if (row.use != PCT_ROW_NOTHING)
            add(IGNORED, op, 0);
        if (row.waits)
            add(WAITS, op, 0);
    }
}

/* Every wrong table that was not noticed yet, on this program. */
static void try_all(const struct sim_program *program)
{
    if (!brute_force(program))
        return;
    for (size_t i = 0; i < count; i++) {
        if (mutants[i].noticed)
            continue;
        wrong = &mutants[i];
        mutants[i].noticed = notices(program, &behaviours);
        wrong = NULL;
    }
}

static void print_mutant(const char *before, const struct mutant *m)
{
    if (m->what == USES)
        print_message("# %s: %s and %s commute\n", before, use_names[m->a], use_names[m->b]);
    else
        print_message("# %s: %s %s\n", before, op_names[m->a], m->what == IGNORED ? "uses nothing" : "never waits");
}

static void test_rows(void **unused)
{
    (void)unused;
    size_t wrongly = 0, noticed = 0;
    const char *text = getenv("ROWS");
    if (text && !strcmp(text, "none"))
        skip();
    uint64_t programs = text ? strtoull(text, NULL, 10) : 500;
    add_uses();
    add_operations();
    for (size_t i = 0; i < sizeof directed / sizeof *directed; i++) {
        explored_slack = 0;
        explored_to_the_full = false;
        try_all(&directed[i]);
    }
    for (uint64_t number = 0; number < programs; number++) {
        struct sim_program program = make_program(number);
        try_all(&program);
    }
    for (uint64_t number = 0; number < programs; number++) {
        struct sim_program program = make_own(number);
        try_all(&program);
    }
    for (size_t i = 0; i < count; i++) {
        bool equals = why_equal(&mutants[i]);
        noticed += mutants[i].noticed;
        wrongly += mutants[i].noticed == equals;
        if (mutants[i].noticed == equals)
            print_mutant(equals ? "noticed, though it should make no difference" : "not noticed", &mutants[i]);
    }
    print_message("# %zu wrong rows, %zu of them noticed\n", count, noticed);
    assert_int_equal(wrongly, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
