/* What Lua's library would take from libc, and shall not: the linker puts these in their places (--wrap, Makefile).
 * Nothing of stdio is ever called; the rest would depend on the time, or on the locale that the target has set, and
 * might allocate. */
#include <stdio.h>
#include <string.h>
#include <time.h>

FILE *__wrap_stdin, *__wrap_stdout, *__wrap_stderr;

time_t __wrap_time(time_t *unused);
clock_t __wrap_clock(void);
int __wrap_strcoll(const char *a, const char *b);

time_t __wrap_time(time_t *unused)
{
    (void)unused;
    return 0;
}

clock_t __wrap_clock(void)
{
    return 0;
}

int __wrap_strcoll(const char *a, const char *b)
{
    return strcmp(a, b);
}
