/* Unit tests of what the command writes for other programs and reads from people: neighbours of schedules
 * (cli/analyze/neighbours.c, strategies/change_points.h), files of schedules (cli/analyze/schedules.c), text inside of
 * XML (cli/base/markup.c). */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/base/markup.h>
#include <cli/analyze/neighbours.h>
#include <cli/analyze/schedules.h>
#include "../../strategies/change_points.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strategies/depth_param.h>
#include <string.h>
#include <unistd.h>

/* --- Neighbours --------------------------------------------------------------------------------------------------- */

static const struct pct_strategy *configure(struct pct_config *config, const char *spec)
{
    char error[256];
    *config = (struct pct_config){ 0 };
    if (pct_config_parse_spec(config, spec, pct_cli_find_strategy, error, sizeof error))
        fail_msg("%s: %s", spec, error);
    return pct_cli_find_strategy(config->strategy, error, sizeof error);
}

static void assert_neighbour(const char *spec, uint64_t number, const char *expected)
{
    struct pct_config config;
    char what[96], token[PCT_TOKEN_MAX];
    const struct pct_strategy *strategy = configure(&config, spec);
    pct_neighbours_get(&config, strategy, number, what, sizeof what);
    pct_config_format_token(token, sizeof token, &config, strategy);
    char *end = strchr(token + sizeof "pct1:" - 1, ':');
    *end = 0;
    assert_string_equal(token + sizeof "pct1:" - 1, expected);
}

static uint64_t count(const char *spec, uint64_t near)
{
    struct pct_config config;
    const struct pct_strategy *strategy = configure(&config, spec);
    return pct_neighbours_count(&config, strategy, near);
}

static void test_neighbours_are_counted(void **unused)
{
    (void)unused;
    assert_int_equal(count("pct,depth=1,k=9", 2), 1); /* no change point */
    assert_int_equal(count("pct,depth=2,k=9", 2), 5); /* one */
    assert_int_equal(count("pct,depth=3,k=9", 2), 13);
    assert_int_equal(count("pct,depth=3,k=9", 0), 1);
    assert_int_equal(pct_depth_of_run(0, 0), 3); /* of seed 0 */
    assert_int_equal(count("pct,depth=auto,k=9", 1), 7);
    assert_int_equal(count("tapct,depth=3,k=9", 1), 7);
    assert_int_equal(count("pctcp,depth=3,k=9", 1), 7);
    assert_int_equal(count("delay-bound,bound=2,k=9", 1), 7);
    assert_int_equal(count("preemption-bound,bound=1,k=9", 1), 3);
    assert_int_equal(count("portfolio,depth=2,bound=3,k=9", 1), 9);
    assert_int_equal(count("schedule,switches=1.4.2", 2), 5);
    assert_int_equal(count("schedule,switches=1.4.2-2.9.w1-2.9.1", 1), 7); /* a wake is no switch */
    assert_int_equal(count("schedule,switches=2.9.w1", 1), 1);
    assert_int_equal(count("schedule", 1), 1);
    assert_int_equal(count("pos", 5), 1);
    assert_int_equal(count("random-walk", 5), 1);
    assert_int_equal(count("pct,depth=3,k=9,later=4,only=2", 2), 5); /* a neighbour moves on with the same point */
}

static void test_neighbours_in_order(void **unused)
{
    (void)unused;
    assert_neighbour("pct,depth=3,k=9", 0, "pct,depth=3,k=9");
    assert_neighbour("pct,depth=3,k=9", 1, "pct,depth=3,k=9,earlier=1");
    assert_neighbour("pct,depth=3,k=9", 2, "pct,depth=3,k=9,later=1");
    assert_neighbour("pct,depth=3,k=9", 3, "pct,depth=3,k=9,earlier=1,only=1");
    assert_neighbour("pct,depth=3,k=9", 6, "pct,depth=3,k=9,later=1,only=2");
    assert_neighbour("pct,depth=3,k=9", 7, "pct,depth=3,k=9,earlier=2");
    assert_neighbour("pct,depth=3,k=9", 12, "pct,depth=3,k=9,later=2,only=2");
    assert_neighbour("pct,depth=2,k=9", 3, "pct,depth=2,k=9,earlier=2");
    assert_neighbour("pct,depth=3,k=9,later=4,only=2", 1, "pct,depth=3,k=9,later=3,only=2");
    assert_neighbour("pct,depth=3,k=9,later=1,only=2", 3, "pct,depth=3,k=9,earlier=1,only=2");
}

static void test_switches_move(void **unused)
{
    (void)unused;
    assert_neighbour("schedule,switches=1.4.2-2.10.w1-2.9.1", 0, "schedule,switches=1.4.2-2.10.w1-2.9.1");
    assert_neighbour("schedule,switches=1.4.2-2.10.w1-2.9.1", 1, "schedule,switches=1.3.2-2.10.w1-2.8.1");
    assert_neighbour("schedule,switches=1.4.2-2.10.w1-2.9.1", 2, "schedule,switches=1.5.2-2.10.w1-2.10.1");
    assert_neighbour("schedule,switches=1.4.2-2.10.w1-2.9.1", 3, "schedule,switches=1.3.2-2.10.w1-2.9.1");
    assert_neighbour("schedule,switches=1.4.2-2.10.w1-2.9.1", 6, "schedule,switches=1.4.2-2.10.w1-2.10.1");
    assert_neighbour("schedule,switches=1.4.2-2.10.w1-2.9.1", 12, "schedule,switches=1.4.2-2.10.w1-2.11.1");
    /* Two at one place, or one before the first operation: the list stays. */
    assert_neighbour("schedule,switches=1.4.2-1.5.0", 4, "schedule,switches=1.4.2-1.5.0");
    assert_neighbour("schedule,switches=1.4.2-1.5.0", 5, "schedule,switches=1.4.2-1.5.0");
    assert_neighbour("schedule,switches=1.4.2-1.5.0", 2, "schedule,switches=1.5.2-1.6.0");
    assert_neighbour("schedule,switches=1.1.2", 1, "schedule,switches=1.1.2");
    assert_neighbour("schedule,switches=1.4294967295.2", 2, "schedule,switches=1.4294967295.2");
}

/* later and earlier move the points that the seed draws, and nothing else. */
static void test_points_move(void **unused)
{
    (void)unused;
    enum { POINTS = 3, K = 1000, SEEDS = 200 };
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct pct_changes plain = { 0 }, moved = { 0 }, one = { 0 };
        uint64_t drawn[POINTS + 1];
        pct_changes_draw(&plain, seed, 0, POINTS, K);
        for (int i = 0; i < POINTS; i++)
            drawn[plain.change[i].i] = plain.change[i].at;
        pct_changes_shift(&moved, (const uint64_t[]){ 0, 500, 0 });
        pct_changes_draw(&moved, seed, 0, POINTS, K);
        pct_changes_shift(&one, (const uint64_t[]){ 700, 0, 2 });
        pct_changes_draw(&one, seed, 0, POINTS, K);
        for (int i = 0; i < POINTS; i++) {
            uint64_t at = drawn[moved.change[i].i], same = drawn[one.change[i].i];
            assert_int_equal(moved.change[i].at, at > 500 ? at - 500 : 1);
            assert_int_equal(one.change[i].at, one.change[i].i == 2 ? same + 700 : same);
            assert_true(!i || one.change[i - 1].at <= one.change[i].at);
        }
    }
}

/* --- Files of schedules ------------------------------------------------------------------------------------------- */

static char path[64], error[512];
static struct pct_schedules schedules;

static int make_file(void **unused)
{
    (void)unused;
    strcpy(path, "/tmp/pct-test-XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **unused)
{
    (void)unused;
    pct_schedules_free(&schedules);
    return unlink(path);
}

static int read_text(const char *text, size_t length)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fwrite(text, 1, length, out);
    fclose(out);
    pct_schedules_free(&schedules);
    return pct_schedules_read(&schedules, path, error, sizeof error);
}

static void test_entries(void **unused)
{
    (void)unused;
    static const char text[] = "# what people write\n"
                               "\n"
                               "Schedule: one\r\n"
                               "command:  ./a\t\n"
                               "# a comment inside\n"
                               "  and more\n"
                               "\n\n"
                               "Note: a: b\n"
                               "Command: ./b 'c  d'\n"
                               "Schedule: two";
    assert_int_equal(read_text(text, sizeof text - 1), 0);
    assert_int_equal(schedules.count, 2);
    assert_int_equal(schedules.entries[0].line, 3);
    assert_string_equal(schedules.entries[0].schedule, "one");
    assert_string_equal(schedules.entries[0].command, "./a and more");
    assert_null(schedules.entries[0].note);
    assert_int_equal(schedules.entries[1].line, 9);
    assert_string_equal(schedules.entries[1].note, "a: b");
    assert_string_equal(schedules.entries[1].command, "./b 'c  d'");
    assert_string_equal(schedules.entries[1].schedule, "two");
    assert_int_equal(read_text("", 0), 0);
    assert_int_equal(schedules.count, 0);
}

static void assert_refused(const char *text, const char *says)
{
    assert_int_equal(read_text(text, strlen(text)), -EINVAL);
    if (!strstr(error, says))
        fail_msg("'%s' is not in '%s'", says, error);
}

static void test_damage_is_named(void **unused)
{
    (void)unused;
    assert_refused("Schedule: one\n\nCommand: ./a\n", ":1: this entry has no line `Command");
    assert_refused("\nCommand: ./a\n", ":2: this entry has no line `Schedule");
    assert_refused("Schedule: one\nSchedule: two\n", ":2: Schedule is given twice");
    assert_refused("Schedule: one\nComand: ./a\n", ":2: there is no field Comand; did you mean Command?");
    assert_refused("<<<<<<< HEAD\n", ":1: expected NAME: VALUE");
    assert_refused(" blank\n", ":1: a line that begins with a blank");
    assert_int_equal(read_text("Note: a\0b\n", 10), -EINVAL);
    assert_non_null(strstr(error, "not a text file"));
}

static void test_append_and_read(void **unused)
{
    (void)unused;
    struct pct_entry entry = { .schedule = "token", .command = "./a 'b c'", .note = "why" }, other = entry;
    other.schedule = "token2";
    other.options = "--timeout 3";
    assert_int_equal(read_text("Schedule: x\nCommand: y", 22), 0); /* no line end: a person's file */
    assert_int_equal(pct_schedules_append(path, &entry), 0);
    assert_int_equal(pct_schedules_append(path, &other), 0);
    pct_schedules_free(&schedules);
    assert_int_equal(pct_schedules_read(&schedules, path, error, sizeof error), 0);
    assert_int_equal(schedules.count, 3);
    assert_string_equal(schedules.entries[0].command, "y");
    assert_string_equal(schedules.entries[1].command, "./a 'b c'");
    assert_string_equal(schedules.entries[1].note, "why");
    assert_null(schedules.entries[1].options);
    assert_string_equal(schedules.entries[2].schedule, "token2");
    assert_string_equal(schedules.entries[2].options, "--timeout 3");
}

/* --- Text inside of XML ------------------------------------------------------------------------------------------- */

static void assert_clean(const char *text, const char *expected)
{
    char *clean = pct_markup_clean(text);
    assert_non_null(clean);
    assert_string_equal(clean, expected);
    free(clean);
}

#define R "\xef\xbf\xbd"

static void test_markup(void **unused)
{
    (void)unused;
    assert_clean("a\tb\nc\r\n \xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82", "a\tb\nc\n \xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82");
    assert_clean("\x01\x1b[m\x7f", R R "[m" R);
    assert_clean("\xc0\x80|\xe0\x80\x80|\xed\xa0\x80", R R "|" R R R "|" R R R); /* overlong, a surrogate */
    assert_clean("\xef\xbf\xbe\xf4\x90\x80\x80\xff", R R R R R R R R);
    assert_clean("\xc2\x85\xe2\x82", R R R R); /* a control, cut short */
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    pct_markup_print(out, "<a href=\"x\">&\x02");
    fclose(out);
    assert_string_equal(text, "&lt;a href=&quot;x&quot;&gt;&amp;" R);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_neighbours_are_counted),
        cmocka_unit_test(test_neighbours_in_order),
        cmocka_unit_test(test_switches_move),
        cmocka_unit_test(test_points_move),
        cmocka_unit_test_setup_teardown(test_entries, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_damage_is_named, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_append_and_read, make_file, remove_file),
        cmocka_unit_test(test_markup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
