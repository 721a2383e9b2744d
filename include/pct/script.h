/* What a program or a test may tell pct, and ask it for. Header only, C and C++; natively each of these does next to
 * nothing, and the program needs no library for it. pct-script(3) has an example.
 *
 *     pct_point("name")      a place that a script can name: run(t, point "name"). Under pct an ordinary scheduling
 *                            point, natively nothing. The name is a text in quotes.
 *     pct_choose(n)          a number from 0 to n - 1 (n up to 65,535): `pct campaign` draws it from the seed, `pct
 *                            explore` and `pct script --all` go every way, and each token has it. Natively 0.
 *     pct_assert(expression) ends the program as assert() does, also where NDEBUG is defined.
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
#define PCT_FOUND_(symbol)                                                                                             \
    __extension__({                                                                                                    \
        void *pct_found_;                                                                                              \
        __asm__(".weak " #symbol "\n\tmovq " #symbol "@GOTPCREL(%%rip), %0" : "=r"(pct_found_));                       \
        pct_found_;                                                                                                    \
    })
#else
#define PCT_FOUND_(symbol) ((void *)&symbol)
#endif

static inline void pct_point_(const char *name)
{
    if (PCT_FOUND_(pct_program_point))
        (*(void (*)(const char *))PCT_FOUND_(pct_program_point))(name);
}

static inline unsigned pct_choose(unsigned n)
{
    return PCT_FOUND_(pct_program_choose) ? (*(unsigned (*)(unsigned))PCT_FOUND_(pct_program_choose))(n) : 0;
}

#ifdef __cplusplus
}
#endif

#define pct_point(name) pct_point_("" name "")
#define pct_assert(expression)                                                                                         \
    ((expression) ? (void)0 : __assert_fail(#expression, __FILE__, __LINE__, __extension__ __PRETTY_FUNCTION__))

#endif
