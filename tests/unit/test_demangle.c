/* Names of C++ without what no programmer writes: cli/base/demangle.c. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/base/demangle.h>
#include <stdio.h>
#include <stdlib.h>

static void expect(const char *symbol, const char *name)
{
    char *plain = pct_demangle(symbol);
    assert_non_null(plain);
    pct_demangle_shorten(plain);
    assert_string_equal(plain, name);
    free(plain);
}

static void expect_text(const char *text, const char *name)
{
    char *copy = NULL;
    assert_true(asprintf(&copy, "%s", text) >= 0);
    pct_demangle_shorten(copy);
    assert_string_equal(copy, name);
    free(copy);
}

static void test_defaults(void **unused)
{
    (void)unused;
    expect("_Z6browseR5CacheRKSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS6_EE",
           "browse(Cache&, std::vector<std::string> const&)");
    expect("_ZN4Pool7discardESt10unique_ptrI10ConnectionSt14default_deleteIS1_EE",
           "Pool::discard(std::unique_ptr<Connection>)");
    expect_text("f(std::map<int, std::vector<std::set<int, std::less<int>, std::allocator<int> >, "
                "std::allocator<std::set<int, std::less<int>, std::allocator<int> > > >, std::less<int>, "
                "std::allocator<std::pair<int const, std::vector<int, std::allocator<int> > > > >&)",
                "f(std::map<int, std::vector<std::set<int> > >&)");
    expect("_ZN3app4workEv", "app::work()");
}

static void test_others(void **unused)
{
    (void)unused;
    /* One that the programmer has chosen, and one that is an argument by itself. */
    expect_text("f(std::vector<int, arena<int> >)", "f(std::vector<int, arena<int> >)");
    expect_text("f(std::allocator<int>)", "f(std::allocator<int>)");
    /* Cut off. */
    expect_text("f(std::vector<int, std::allocator<in", "f(std::vector<int, std::allocator<in");
    expect_text("g[abi:cxx11](std::__1::basic_string_view<char, std::__1::char_traits<char> >)", "g(std::string_view)");
    expect_text("", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_defaults), cmocka_unit_test(test_others) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
