/* Packed lists and long tokens: what is packed is unpacked as it was, whatever it is; what is damaged is refused, and
 * neither reads nor writes out of bounds. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/base/cli.h>
#include <cli/base/list.h>
#include <pct/random.h>
#include <stdlib.h>
#include <strategies/strategies.h>
#include <string.h>

enum { ROOM = 1 << 17 };

static struct pct_list_model model;
static char packed[ROOM], text[ROOM], list[ROOM];

static uint64_t counter;
static uint32_t draw(uint32_t below)
{
    return (uint32_t)pct_random_below(7, 1, counter++, below);
}

/* Returns the length of what it is packed into. */
static size_t keeps(const char *what)
{
    size_t length = pct_list_pack(&model, what, packed, sizeof packed);
    assert_true(length && length == strlen(packed) && *packed == PCT_LIST_PACKED);
    assert_int_equal(pct_list_unpack(&model, packed, NULL, sizeof text), strlen(what));
    assert_int_equal(pct_list_unpack(&model, packed, text, strlen(what) + 1), strlen(what));
    assert_string_equal(text, what);
    assert_int_equal(pct_list_unpack(&model, packed, text, strlen(what)), 0);
    assert_int_equal(pct_list_pack(&model, what, packed, length), 0);
    return length;
}

/* Switches between threads, from each after `each` operations of its own, or as many as are drawn. */
static void make_switches(uint32_t count, uint32_t threads, uint32_t each)
{
    uint32_t made[1000] = { 0 }, thread = 0;
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t next = each ? (thread ? thread - 1 : threads - 1) : draw(threads);
        made[thread] += each ? each : 1 + draw(9);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%u.%u.%s%u", i ? "-" : "", thread, made[thread],
                                 !each && !draw(20) ? "a" : "", next);
        thread = next;
    }
}

static void test_lists(void **state)
{
    static const char *const lists[] = { "0.1.2",
                                         "",
                                         "-",
                                         "..",
                                         "p1.2e1-17.a3-19.r1-p2-3.s4-5.c0-9.h65535",
                                         "4294967295.0.4294967295-0.4294967295.0",
                                         "1.1x1.2.10x1-2.1x1.1.10x1",
                                         "zz-z" };
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        keeps(lists[i]);
    for (unsigned i = 0; i < 300; i++) {
        static const char characters[] = "0123456789--..abwxz";
        size_t length = draw(40);
        for (size_t j = 0; j < length; j++)
            list[j] = characters[draw(sizeof characters - 1)];
        list[length] = 0;
        bool zeros = false; /* numbers with zeros in front, which no list has */
        for (size_t j = 0; j < length; j++)
            zeros |= list[j] == '0' && (!j || list[j - 1] < '0' || list[j - 1] > '9') && list[j + 1] >= '0' &&
                     list[j + 1] <= '9';
        if (zeros || !pct_list_pack(&model, list, packed, sizeof packed))
            assert_int_equal(zeros ? pct_list_pack(&model, list, packed, sizeof packed) : 0, 0);
        else
            keeps(list);
    }
}

static void test_sizes(void **state)
{
    (void)state;
    make_switches(500, 500, 2);
    assert_true(keeps(list) < PCT_LIST_MAX);
    make_switches(300, 3, 0);
    assert_true(keeps(list) * 5 < strlen(list));
    make_switches(5000, 900, 0);
    assert_true(keeps(list) * 4 < strlen(list));
}

static void test_refused(void **state)
{
    static const char *const lists[] = { "01.2.3", "1.4294967296.2", "A", "1.2_3", "1 2" };
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        assert_int_equal(pct_list_pack(&model, lists[i], packed, sizeof packed), 0);
    assert_int_equal(pct_list_unpack(&model, "1.2.3", text, sizeof text), 0);
    assert_int_equal(pct_list_unpack(&model, "", text, sizeof text), 0);
    for (unsigned i = 0; i < 20000; i++) {
        char noise[64];
        size_t length = 1 + draw(sizeof noise - 2), room = 1 + draw(400);
        noise[0] = PCT_LIST_PACKED;
        for (size_t j = 1; j < length; j++)
            noise[j] = draw(50) ? PCT_LIST_PACKED_CHARACTERS[draw(64)] : (char)(1 + draw(255));
        noise[length] = 0;
        char *exact = malloc(room);
        assert_non_null(exact);
        size_t got = pct_list_unpack(&model, noise, exact, room);
        assert_true(got < room && (!got || strlen(exact) == got));
        free(exact);
    }
}

static void test_tokens(void **state)
{
    char error[512], parted[PCT_TOKEN_MAX], token[PCT_TOKEN_MAX], *got;
    struct pct_config config = { 0 }, again = { 0 };
    (void)state;
    assert_int_equal(
        pct_config_parse_spec(&config, "schedule,switches=none,end=free", pct_cli_find_strategy, error, sizeof error),
        0);
    config.has_hash = true;
    config.hash = 0x123456789abcdef0;

    /* one that fits as it is, one that does packed, one that does not */
    make_switches(20, 4, 0);
    assert_true(pct_list_take(&config, &pct_strategy_schedule, list));
    assert_string_equal(config.list, list);
    make_switches(150, 150, 3);
    assert_true(pct_list_take(&config, &pct_strategy_schedule, list));
    assert_int_equal(*config.list, PCT_LIST_PACKED);
    pct_config_format_token(token, sizeof token, &config, &pct_strategy_schedule);
    assert_int_equal(pct_config_parse_token(&again, token, pct_cli_find_strategy, error, sizeof error), 0);
    got = pct_list_text(again.list);
    assert_string_equal(got, list);
    free(got);
    assert_int_equal(pct_long_token_part(token, parted, &got, error, sizeof error), 0);
    assert_null(got);
    assert_string_equal(parted, token);
    for (uint32_t count = 150; count < 5000; count += 97) {
        make_switches(count, 500, 0);
        if (pct_list_take(&config, &pct_strategy_schedule, list))
            continue;
        assert_string_equal(config.list, "");
        pct_config_format_token(token, sizeof token, &config, &pct_strategy_schedule);
        char *whole = pct_long_token_of(token, list);
        assert_non_null(whole);
        assert_int_equal(pct_long_token_part(whole, parted, &got, error, sizeof error), 0);
        assert_string_equal(parted, token);
        assert_string_equal(got, list);
        free(got);
        assert_int_equal(pct_long_token_parse(&again, whole, &got, error, sizeof error), 0);
        assert_string_equal(again.strategy, config.strategy);
        assert_string_equal(got, list);
        free(got);

        /* nothing that is damaged is taken */
        size_t length = strlen(whole), at = draw((uint32_t)length);
        char was = whole[at];
        whole[at] = was == 'q' ? 'r' : 'q';
        if (strlen(whole) >= PCT_TOKEN_MAX)
            assert_int_equal(pct_long_token_part(whole, parted, &got, error, sizeof error), -22);
        whole[at] = was;
        if (length > PCT_TOKEN_MAX) {
            whole[PCT_TOKEN_MAX + draw((uint32_t)(length - PCT_TOKEN_MAX))] = 0;
            assert_int_equal(pct_long_token_part(whole, parted, &got, error, sizeof error), -22);
        }
        free(whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_lists), cmocka_unit_test(test_sizes),
                                        cmocka_unit_test(test_refused), cmocka_unit_test(test_tokens) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
