/* Which events of a run another one may depend on (cli/explore/users.h): against a look at each of them. */

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/explore/clocks.h>
#include <cli/explore/users.h>
#include <pct/random.h>

enum { EVENTS = 300, THREADS = 5, RUNS = 200 };

static struct pct_event event[EVENTS];
static uint64_t uses[EVENTS];
static uint32_t counter;

static uint32_t draw(uint32_t below)
{
    return (uint32_t)(pct_random(1, 0, counter++) % below);
}

/* Of few bits, so that many meet; some of all bits but the highest, or with that. */
static uint64_t draw_uses(void)
{
    switch (draw(40)) {
    case 0:
        return UINT64_MAX >> 1;
    case 1:
        return UINT64_C(1) << 63;
    case 2:
        return 0;
    default:
        return UINT64_C(1) << draw(63) | UINT64_C(1) << draw(8);
    }
}

static bool is_left(uint32_t i, uint32_t thread, uint64_t bits, const uint32_t *clock)
{
    return event[i].thread != thread && may_depend(uses[i], bits) && !knows(clock, &event[i]);
}

static void look_at(const struct pct_users *users, uint32_t end, uint32_t thread, uint64_t bits, uint32_t *clock)
{
    struct pct_users_left left = pct_users_before(users, end, thread, bits, clock);
    for (uint32_t i = end; i--;) {
        if (!is_left(i, thread, bits, clock))
            continue;
        uint32_t next = pct_users_next(&left);
        while (next && knows(clock, &event[next - 1]))
            next = pct_users_next(&left);
        assert_int_equal(next, i + 1);
        if (draw(4)) /* else the clock goes on */
            continue;
        clock[event[i].thread] = event[i].number;
        clock[draw(THREADS)] += draw(3);
        pct_users_pass(&left, clock);
    }
    for (uint32_t next; (next = pct_users_next(&left));)
        assert_true(knows(clock, &event[next - 1]));
}

static void test_users(void **state)
{
    (void)state;
    for (unsigned run = 0; run < RUNS; run++) {
        uint32_t count = draw(EVENTS), made[THREADS] = { 0 };
        struct pct_users users;
        struct pct_execution x = { .event = event, .count = count, .threads = THREADS };
        for (uint32_t i = 0; i < count; i++) {
            uint16_t thread = (uint16_t)draw(THREADS - run % 2);
            event[i] = (struct pct_event){ .thread = thread, .number = ++made[thread] };
            uses[i] = draw_uses();
        }
        assert_int_equal(pct_users_open(&users, &x), 0);
        for (uint32_t i = 0; i <= count; i++) {
            uint32_t clock[THREADS];
            for (uint32_t t = 0; t < THREADS; t++)
                clock[t] = draw(made[t] + 1);
            look_at(&users, i, draw(THREADS), draw_uses(), clock);
            if (i < count)
                pct_users_add(&users, i, event[i].thread, uses[i]);
        }
        pct_users_close(&users);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_users) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
