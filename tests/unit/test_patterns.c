/* Patterns of --focus and of files of suppressions (cli/binary/patterns.c), and the ranges that the shim gets
 * (cli/binary/scope.c); what runs teach about places in the code (cli/process/learned_sites.c). */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/process/learned_sites.h>
#include <cli/binary/scope.h>
#include <pct/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As ThreadSanitizer has them. */
static void test_is_in(void **unused)
{
    (void)unused;
    assert_true(pct_pattern_is_in("foo", "a foo b"));
    assert_true(pct_pattern_is_in("foo*bar", "a foo and bar b"));
    assert_true(pct_pattern_is_in("*foo*", "foo"));
    assert_true(pct_pattern_is_in("^foo", "foobar"));
    assert_true(pct_pattern_is_in("bar$", "foobar"));
    assert_true(pct_pattern_is_in("^foo$", "foo"));
    assert_true(pct_pattern_is_in("^f*o$", "flow to"));
    assert_true(pct_pattern_is_in("a*b*c", "xaabbcc"));
    assert_false(pct_pattern_is_in("^foo", "a foo"));
    assert_false(pct_pattern_is_in("foo$", "foobar"));
    assert_false(pct_pattern_is_in("^foo$", "foo1"));
    assert_false(pct_pattern_is_in("bar*foo", "foo bar"));
    assert_false(pct_pattern_is_in("", "foo"));
    assert_false(pct_pattern_is_in("^", "foo"));
}

static void test_focus(void **unused)
{
    (void)unused;
    struct pct_patterns patterns = { 0 };
    assert_int_equal(pct_patterns_add_focus(&patterns, "push,Queue::*,src/q*.c,+0x40,libz.so.1+0x10-0x30"), 0);
    assert_int_equal(patterns.count, 5);
    const struct pct_pattern *p = patterns.item;
    assert_true(pct_pattern_means(&p[0], "push", NULL));
    assert_false(pct_pattern_means(&p[0], "push2", NULL));
    assert_true(pct_pattern_means(&p[0], "_Z4pushi", "push(int)"));
    assert_true(pct_pattern_means(&p[1], "_ZN5Queue3popEv", "Queue::pop()"));
    assert_false(pct_pattern_means(&p[1], "_ZN6MyQueue3popEv", "MyQueue::pop()"));
    assert_true(pct_pattern_means_file(&p[2], "/home/user/src/queue.c"));
    assert_true(pct_pattern_means_file(&p[2], "src/q.c"));
    assert_false(pct_pattern_means_file(&p[2], "/home/user/lib/queue.c"));
    assert_string_equal(p[3].text, "");
    assert_int_equal(p[3].from, 0x40);
    assert_int_equal(p[3].to, 0x48);
    assert_string_equal(p[4].text, "libz.so.1");
    assert_int_equal(p[4].from, 0x10);
    assert_int_equal(p[4].to, 0x30);
    pct_patterns_free(&patterns);
    assert_int_equal(pct_patterns_add_focus(&patterns, "a,,b"), PCT_EXIT_USAGE);
    pct_patterns_free(&patterns);
    assert_int_equal(pct_patterns_add_focus(&patterns, "+0x30-0x10"), PCT_EXIT_USAGE);
    pct_patterns_free(&patterns);
}

/* Parts of variables, and addresses without a name. */
static void test_watch(void **unused)
{
    (void)unused;
    struct pct_patterns patterns = { 0 };
    assert_int_equal(pct_patterns_add_watch(&patterns, "head,Queue::head+8:4,libz.so.1+0x10,+0x44,+0x40:2"), 0);
    assert_int_equal(patterns.count, 5);
    const struct pct_pattern *p = patterns.item;
    assert_string_equal(p[0].text, "head");
    assert_true(pct_pattern_means(&p[0], "head", NULL));
    assert_false(pct_pattern_means(&p[0], "head2", NULL));
    assert_string_equal(p[1].text, "Queue::head");
    assert_int_equal(p[1].offset, 8);
    assert_int_equal(p[1].size, 4);
    assert_int_equal(p[2].offset, 0x10);
    assert_int_equal(p[2].to, 0);
    assert_int_equal(p[3].from, 0x44);
    assert_int_equal(p[3].to, 0x48); /* up to the end of what one watchpoint can have */
    assert_int_equal(p[4].to, 0x42);
    pct_patterns_free(&patterns);
    static const char *const wrong[] = { "a,,b", "a:0", "a:4x", "a+8x", ":4", "a:99999999999" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(pct_patterns_add_watch(&patterns, wrong[i]), PCT_EXIT_USAGE);
        pct_patterns_free(&patterns);
    }
}

/* What compilers call a function's own variables, and parts of structures. */
static void test_made(void **unused)
{
    (void)unused;
    struct pct_pattern count = { .text = (char *)(uintptr_t) "count", .whole = true };
    struct pct_pattern pair = { .text = (char *)(uintptr_t) "(anonymous namespace)::pair", .whole = true };
    static const char *const made[] = { "count.0", "main.count", "main.count.12", "count.llvm.123", "count.1.llvm.9" };
    static const char *const other[] = { "count", "count2.0", "count.x", "count.", "recount.0", "count.0x", ".0", "" };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        assert_true(pct_pattern_means_made(&count, made[i]));
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_false(pct_pattern_means_made(&count, other[i]));
    assert_true(pct_pattern_means_made(&pair, "_ZN12_GLOBAL__N_14pairE.1"));
    assert_false(pct_pattern_means_made(&pair, "_ZN12_GLOBAL__N_14pairE"));
}

/* Watchpoints are aligned: what starts or ends elsewhere takes several. */
static void test_watchpoints(void **unused)
{
    (void)unused;
    assert_int_equal(pct_scope_watchpoint(0x10, 0x18), 8);
    assert_int_equal(pct_scope_watchpoint(0x10, 0x13), 2);
    assert_int_equal(pct_scope_watchpoint(0x12, 0x20), 2);
    assert_int_equal(pct_scope_watchpoint(0x14, 0x20), 4);
    assert_int_equal(pct_scope_watchpoint(0x11, 0x20), 1);
}

static int read_text(struct pct_patterns *patterns, const char *text)
{
    char path[] = "/tmp/pct-patterns-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    int failed = pct_patterns_add_suppressions(patterns, path);
    unlink(path);
    return failed;
}

static void test_suppressions(void **unused)
{
    (void)unused;
    struct pct_patterns patterns = { 0 };
    assert_int_equal(read_text(&patterns,
                               "# a comment\n\n  race:foo \r\nrace_top:^bar$\nmutex:m\nthread:t\ndeadlock:d\n"
                               "signal:s\ncalled_from_lib:libz.so"),
                     0);
    assert_int_equal(patterns.count, 3);
    assert_string_equal(patterns.item[0].text, "foo");
    assert_int_equal(patterns.item[0].kind, PCT_SCOPE_RACE);
    assert_int_equal(patterns.item[0].line, 3);
    assert_int_equal(patterns.item[1].kind, PCT_SCOPE_RACE_TOP);
    assert_int_equal(patterns.item[2].names, PCT_NAMES_MODULE);
    pct_patterns_free(&patterns);
    assert_int_equal(read_text(&patterns, "rac:foo\n"), PCT_EXIT_USAGE);
    assert_int_equal(read_text(&patterns, "race\n"), PCT_EXIT_USAGE);
    assert_int_equal(read_text(&patterns, "race:\n"), PCT_EXIT_USAGE);
    pct_patterns_free(&patterns);
    assert_int_equal(pct_patterns_add_suppressions(&patterns, "/nowhere/at/all"), PCT_EXIT_USAGE);
}

/* Ranges of a kind are sorted, and joined where they meet; each module has its own. */
static void test_format(void **unused)
{
    (void)unused;
    char program[] = "/bin/no-such-program", library[] = "/lib/libx.so.1", what[] = "";
    char *modules[] = { program, library };
    struct pct_pattern patterns[] = { { .kind = PCT_SCOPE_FOCUS }, { .kind = PCT_SCOPE_RACE } };
    struct pct_scope_match matches[] = {
        { .module = 0, .pattern = 1, .from = 50, .to = 60, .what = what },
        { .module = 0, .pattern = 0, .from = 30, .to = 40, .what = what },
        { .module = 1, .pattern = 0, .from = 10, .to = 20, .what = what },
        { .module = 0, .pattern = 0, .from = 10, .to = 25, .what = what },
        { .module = 0, .pattern = 0, .from = 20, .to = 30, .what = what },
    };
    const struct pct_scope scope = { .patterns = { patterns, 2 },
                                     .modules = modules,
                                     .module_count = 2,
                                     .item = matches,
                                     .count = sizeof matches / sizeof *matches };
    size_t size;
    struct pct_scope_head *head = pct_scope_format(&scope, &size);
    assert_non_null(head);
    const struct pct_scope_module *module = (const void *)(head + 1);
    const struct pct_scope_range *range = (const void *)(module + 2);
    assert_int_equal(head->modules, 2);
    assert_int_equal(head->ranges, 3);
    assert_int_equal(head->has, 1 << PCT_SCOPE_FOCUS | 1 << PCT_SCOPE_RACE);
    assert_int_equal(size, sizeof *head + 2 * sizeof *module + 3 * sizeof *range);
    assert_string_equal(module[0].name, "no-such-program");
    assert_string_equal(module[1].name, "libx.so.1");
    assert_int_equal(module[0].count, 2);
    assert_int_equal(module[1].first, 2);
    assert_int_equal(range[0].from, 10);
    assert_int_equal(range[0].to, 40);
    assert_int_equal(range[1].kind, PCT_SCOPE_RACE);
    assert_int_equal(range[2].from, 10);
    free(head);
}

static void make_trace(struct pct_trace *trace, uint64_t *bytes, const struct pct_snap_place *places, size_t count)
{
    const struct pct_snap_section section = { .type = PCT_SNAP_PLACES, .size = count * sizeof *places };
    memcpy(bytes, &section, sizeof section);
    memcpy((char *)bytes + sizeof section, places, section.size);
    *trace = (struct pct_trace){ .snapshot = (void *)bytes, .snapshot_size = sizeof section + section.size };
}

/* Once raced, always raced; the file holds what it was made from, or is none. */
static void test_ordered(void **unused)
{
    (void)unused;
    uint64_t bytes[32];
    struct pct_trace trace;
    struct pct_ordered ordered = { 0 }, again;
    char directory[] = "/tmp/pct-ordered-XXXXXX", path[64];
    const struct pct_snap_place first[] = { { 9, PCT_PLACE_POINT }, { 3, PCT_PLACE_POINT | PCT_PLACE_RACED } };
    const struct pct_snap_place second[] = { { 3, PCT_PLACE_POINT }, { 5, PCT_PLACE_POINT }, { 9, PCT_PLACE_POINT } };
    make_trace(&trace, bytes, first, 2);
    assert_int_equal(pct_ordered_add(&ordered, &trace), 0);
    make_trace(&trace, bytes, second, 3);
    assert_int_equal(pct_ordered_add(&ordered, &trace), 0);
    assert_int_equal(ordered.count, 3);
    assert_int_equal(ordered.item[0].name, 3);
    assert_true(ordered.item[0].flags & PCT_PLACE_RACED);
    assert_int_equal(ordered.item[2].name, 9);
    assert_int_equal(pct_ordered_skipped(&ordered), 2);

    assert_non_null(mkdtemp(directory));
    setenv("PCT_ORDERED", directory, 1);
    uint64_t digest = pct_ordered_save(&ordered);
    assert_true(digest != 0);
    assert_int_equal(pct_ordered_save(&ordered), digest);
    assert_true(pct_ordered_load(&again, digest));
    assert_int_equal(again.count, 3);
    assert_memory_equal(again.item, ordered.item, 3 * sizeof *again.item);
    pct_ordered_free(&again);
    assert_false(pct_ordered_load(&again, digest + 1));
    snprintf(path, sizeof path, "%s/%016llx", directory, (unsigned long long)digest);
    assert_int_equal(truncate(path, 40), 0);
    assert_false(pct_ordered_load(&again, digest));
    unlink(path);
    rmdir(directory);
    pct_ordered_free(&ordered);
    assert_int_equal(pct_ordered_save(&ordered), 0); /* nothing is skipped: no file */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_in),       cmocka_unit_test(test_focus),        cmocka_unit_test(test_watch),
        cmocka_unit_test(test_watchpoints), cmocka_unit_test(test_suppressions), cmocka_unit_test(test_format),
        cmocka_unit_test(test_ordered),     cmocka_unit_test(test_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
