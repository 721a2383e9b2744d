/* What a program or a test may tell pct, and ask it for. Header only, C and C++; natively each of these does next to
 * nothing, and the program needs no library for it. pct-script(3) has an example.
 *
 *     pct_point("name")      a place that a script can name: run(t, point "name"). Under pct an ordinary scheduling
 *                            point, natively nothing. The name is a text in quotes.
 *     pct_choose(n)          a number from 0 to n - 1 (n up to 65,535): `pct campaign` draws it from the seed, `pct
 *                            explore` and `pct script --all` go every way, and each token has it. Natively 0.
 *     pct_assert(expression) ends the program as assert() does, also where NDEBUG is defined.
 *     pct_script("...");     outside of functions: a script that `pct script --test -- ./program` runs.
 *     PCT_TEST(suite, name, "...") { }   a test of GoogleTest, or
 *     PCT_TEST("name", "...") { }        of Catch2, and the script that `pct script --each-test -- ./tests` runs it
 *                            with. Natively it is a test like others. Include the framework, too.
 *
 * Any thread may call them, anywhere that it may call pthread_mutex_lock(). */
#ifndef PCT_SCRIPT_H
#define PCT_SCRIPT_H

#include <assert.h>

#ifdef __cplusplus
extern "C" {
#endif

/* libpct.so has these; without it their addresses are null. */
__attribute__((weak)) void pct_program_point(const char *name);
__attribute__((weak)) unsigned pct_program_choose(unsigned ways);
extern void __assert_fail(const char *, const char *, unsigned, const char *) __THROW __attribute__((noreturn));

/* The address that the dynamic linker has found. Code that is not position-independent would have the static linker's
 * answer, which is null. */
#ifdef __x86_64__
#define PCT_FIND_(pointer, symbol) __asm__(".weak " #symbol "\n\tmovq " #symbol "@GOTPCREL(%%rip), %0" : "=r"(pointer))
#else
#define PCT_FIND_(pointer, symbol) ((pointer) = &(symbol))
#endif

static __inline__ void pct_point_(const char *name)
{
    void (*found)(const char *);
    PCT_FIND_(found, pct_program_point);
    if (found)
        found(name);
}

static __inline__ unsigned pct_choose(unsigned n)
{
    unsigned (*found)(unsigned);
    PCT_FIND_(found, pct_program_choose);
    return found ? found(n) : 0;
}

#ifdef __cplusplus
}
#endif

/* The command reads scripts from the program's file (cli/script/own.c). */
#ifdef __has_attribute
#if __has_attribute(retain)
#define PCT_RETAIN_ , retain
#endif
#endif
#ifndef PCT_RETAIN_
#define PCT_RETAIN_
#endif
#define PCT_SCRIPT_AT_(test, text, number)                                                                             \
    static const char pct_script_##number[] __attribute__((section("pct_scripts"), used PCT_RETAIN_)) =                \
        "\1" test "\0" text
#define PCT_SCRIPT_(test, text, number) PCT_SCRIPT_AT_(test, text, number)
#define pct_script(text) PCT_SCRIPT_("", text, __COUNTER__)

/* Of variable arguments: not in C89 and C++98. */
#if (defined(__cplusplus) && __cplusplus >= 201103L) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#define PCT_TEST_CATCH2_(name, text)                                                                                   \
    PCT_SCRIPT_(name, text, __COUNTER__);                                                                              \
    TEST_CASE(name)
#define PCT_TEST_GTEST_(suite, name, text)                                                                             \
    PCT_SCRIPT_(#suite "." #name, text, __COUNTER__);                                                                  \
    TEST(suite, name)
#define PCT_TEST_KIND_(a, b, c, kind, ...) kind
#define PCT_TEST(...) PCT_TEST_KIND_(__VA_ARGS__, PCT_TEST_GTEST_, PCT_TEST_CATCH2_, 0)(__VA_ARGS__)
#endif

#define pct_point(name) pct_point_("" name "")
#define pct_assert(expression)                                                                                         \
    ((expression) ? (void)0 : __assert_fail(#expression, __FILE__, __LINE__, __extension__ __PRETTY_FUNCTION__))

#endif
