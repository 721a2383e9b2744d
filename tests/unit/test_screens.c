/* What screens are made of: names as programmers wrote them, text of others without its control characters, frames that
 * say little, numbers that read well. */

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/base/cli.h>
#include <cli/base/demangle.h>
#include <cli/base/wilson.h>
#include <cli/diagnose/print.h>
#include <cli/trace/frames.h>
#include <stdlib.h>
#include <string.h>

static void assert_plain(const char *symbol, const char *expected)
{
    char *plain = pct_demangle(symbol);
    if (expected)
        assert_string_equal(plain ? plain : "NULL", expected);
    else
        assert_null(plain);
    free(plain);
}

static void names_of_functions(void **state)
{
    (void)state;
    assert_plain("main", NULL);
    assert_plain("_start", NULL);
    assert_plain("_ZN2ns5queue4pushEi", "ns::queue::push(int)");
    /* Both kinds of Rust's, without their hashes. */
    assert_plain("_ZN4abba4take17h0123456789abcdefE", "abba::take");
    assert_plain("_RNvCs15kBYyAo9fc_4abba4take", "abba::take");
}

/* What print() prints of this. */
static char *printed(void (*print)(FILE *out, const char *text), const char *text)
{
    char *said = NULL;
    size_t size;
    FILE *out = open_memstream(&said, &size);
    assert_non_null(out);
    print(out, text);
    fclose(out);
    return said;
}

static void clean(FILE *out, const char *text)
{
    pct_cli_print_clean(out, text, SIZE_MAX);
}

static void assert_printed(void (*print)(FILE *out, const char *text), const char *text, const char *expected)
{
    char *said = printed(print, text);
    assert_string_equal(said, expected);
    free(said);
}

static void lines(FILE *out, const char *text)
{
    pct_cli_print_lines(out, text, 2);
}

static void text_of_others(void **state)
{
    (void)state;
    assert_printed(clean, "a\tb\x1b[2Jc\x07\r\n", "a\tb?[2Jc???");
    assert_printed(clean,
                   "Gr\xc3\xb6\xc3\x9f"
                   "e",
                   "Gr\xc3\xb6\xc3\x9f"
                   "e");
    assert_printed(clean,
                   "\xc2\x9b"
                   "2J",
                   "??2J"); /* a C1 control */
    /* U+202E, which turns the direction of writing, and U+2069. */
    assert_printed(clean,
                   "a\xe2\x80\xae"
                   "b\xe2\x81\xa9"
                   "c",
                   "a???b???c");
    /* What the logs of CIs obey: these anywhere, `::` at the beginning of a line. */
    assert_printed(clean, "a ##[group]b ##vso[task.x]c", "a ?#[group]b ?#vso[task.x]c");
    assert_printed(clean, "## a [b] #", "## a [b] #");
    assert_printed(lines, "::error::x\n \t::set-env\n:: a::b", "  ?:error::x\n   \t?:set-env\n  ?: a::b\n");
    assert_printed(lines, "a::b\n:", "  a::b\n  :\n");
    assert_printed(pct_cli_print_quoted, "it's", "'it'\\''s'");
    assert_printed(pct_cli_print_quoted, "two\nlines", "'two\nlines'");
    assert_printed(pct_cli_print_quoted, "a\x1b[2J'\\", "$'a\\033[2J\\'\\\\'");
    assert_printed(pct_cli_print_quoted, "Gr\xc3\xb6", "'Gr\xc3\xb6'");
    assert_printed(pct_cli_print_quoted, "\xc2\x9b\x9b \xe2\x80\xae", "$'\\302\\233\\233 \\342\\200\\256'");
    assert_printed(pct_cli_print_quoted, "a\n ::b", "$'a\\012 ::b'");
    assert_printed(pct_cli_print_quoted, "##[group]\t", "$'\\043#[group]\\011'");
}

static void wrap(FILE *out, const char *text)
{
    pct_cli_wrap(out, text, 20, 5, 2);
}

static void unwrapped(FILE *out, const char *text)
{
    pct_cli_wrap(out, text, 0, 5, 2);
}

static void narrow_terminals(void **state)
{
    (void)state;
    assert_printed(wrap, "one two three four five", "one two three\n  four five");
    assert_printed(unwrapped, "one two three four five", "one two three four five");
    assert_printed(wrap, "it says `one two three four` to all", "it says\n  `one two three four`\n  to all");
    assert_printed(wrap, "a ` alone does nothing to me", "a ` alone does\n  nothing to me");
    assert_printed(wrap, "lines\n  that are there", "lines\n  that are there");
    assert_printed(wrap, "what-is-longer-than-any-line is", "what-is-longer-than-any-line\n  is");
    assert_printed(wrap, "", "");
}

static void frames_of_libraries(void **state)
{
    (void)state;
    assert_true(pct_frame_is_library("std::__invoke<f()>", "/usr/include/c++/12/bits/invoke.h", "app"));
    assert_true(pct_frame_is_library("execute_native_thread_routine", "", "libstdc++.so.6"));
    assert_true(pct_frame_is_library("core::ops::function::FnOnce::call_once", "", "app"));
    assert_true(pct_frame_is_library("std::thread::spawn", "/rustc/9fc6/library/std/src/thread/mod.rs", "app"));
    assert_true(pct_frame_is_library("lock", "/usr/src/rustc-1.63.0/library/std/src/sys/unix/locks/futex.rs", "app"));
    assert_false(pct_frame_is_library("lock", "/usr/src/app/lock.rs", "app"));
    assert_true(pct_frame_is_library("raise", "../sysdeps/posix/raise.c", "libc.so.6"));
    assert_false(pct_frame_is_library("work", "src/app.c", "app"));
    assert_false(pct_frame_is_library("work", "./app.c", "app"));
    assert_false(pct_frame_is_library("work", "", "app"));
    assert_false(pct_frame_is_library("standard", "", "libmine.so"));
    static struct pct_stack stack = { .count = 3 };
    strcpy(stack.frames[0].file, "/usr/include/c++/12/mutex");
    strcpy(stack.frames[1].file, "src/lock.h");
    strcpy(stack.frames[2].file, "src/app.cc");
    assert_ptr_equal(pct_frame_best(&stack), &stack.frames[2]);
    stack.count = 2;
    assert_ptr_equal(pct_frame_best(&stack), &stack.frames[1]);
    stack.count = 0;
    assert_null(pct_frame_best(&stack));
}

static void assert_percent(double rate, const char *expected)
{
    char text[24];
    assert_string_equal(pct_wilson_percent(text, sizeof text, rate), expected);
}

static void numbers(void **state)
{
    (void)state;
    assert_percent(1, "100 %");
    assert_percent(0.123, "12 %");
    assert_percent(0.0123, "1.2 %");
    assert_percent(0.00123, "0.12 %");
    assert_percent(0, "0 %");
    for (unsigned kind = 0; kind < PCT_UNCONTROLLED_COUNT; kind++) {
        char *one = pct_name_uncontrolled_count(kind, 1), *two = pct_name_uncontrolled_count(kind, 2);
        assert_true(!strncmp(one, "1 ", 2) && !strncmp(two, "2 ", 2));
        assert_string_not_equal(one + 2, "(null)");
        assert_string_not_equal(one + 2, two + 2);
        free(one);
        free(two);
    }
}

static void causes_in_reports(void **state)
{
    (void)state;
    size_t title = 0;
    assert_int_equal(pct_diagnosis_in_report("deadlock: no thread\n", &title), 0);
    static const char report[] = "likely cause: x: y.\n  step 1\n      f a.c:1\ndeadlock\n  no more\n";
    assert_int_equal(pct_diagnosis_in_report(report, &title), strlen(report) - strlen("deadlock\n  no more\n"));
    assert_int_equal(title, strlen("likely cause: x: y."));
    assert_int_equal(pct_diagnosis_in_report("cause: ", &title), strlen("cause: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_functions),  cmocka_unit_test(text_of_others),
        cmocka_unit_test(frames_of_libraries), cmocka_unit_test(numbers),
        cmocka_unit_test(causes_in_reports),   cmocka_unit_test(narrow_terminals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
